import type { AgentEvent, Billing, Failure, Usage } from "../../loop/types.js";
import type { Answer, Reader } from "../definition.js";
import { kindOfStatus, quote, recogniseFailure, type ServiceFailure, serviceFailure, isoTimeOf } from "../failures.js";
import { amount, detailOf, type Json, number, object, objectIn, objects, text, tokens } from "../shared/json-line.js";
import { createAnswerCounter, eventsOf, totalUsage, usageIn } from "../shared/messages.js";
import { withoutUndefined } from "../../lib/without-undefined.js";

/** Kinds of failure by the `error` of an assistant event or a retry. The HTTP status is not always reported. */
const kindByError: ReadonlyMap<string, ServiceFailure> = new Map(
  Object.entries({
    authentication_failed: "auth",
    oauth_org_not_allowed: "auth",
    billing_error: "auth",
    rate_limit: "rate-limit",
    usage_limit_reached: "rate-limit",
    overloaded: "rate-limit",
    server_error: "network",
  } as const),
);

/**
 * Reads `claude -p --output-format stream-json --verbose`. An API error is a result of subtype `success` with
 * `is_error: true`. If there are several results, the last one counts; its cost is the cost of all.
 */
export function readClaude(): Reader {
  const answers = createAnswerCounter();
  let model: string | undefined;
  let version: string | undefined;
  let billing: Billing | undefined;
  let lastRetry: Json | undefined;
  let errorKind: ServiceFailure | undefined;
  let reset_at: string | undefined;
  let result: Json | undefined;

  function assistantEvents(message: Json, error: string | undefined): AgentEvent[] {
    errorKind = kindByError.get(error ?? "");
    if (error !== undefined) return eventsOf(message);
    // The retry succeeded.
    lastRetry = undefined;
    answers.add(message);
    return [
      ...eventsOf(message),
      { type: "usage", usage: answers.total(), ...withoutUndefined({ model, version, billing }) },
    ];
  }

  function systemEvents(event: Json): AgentEvent[] {
    // The agent continues, so the earlier result was not the last one.
    if (event["subtype"] === "init") {
      model = text(event["model"]) ?? model;
      version = text(event["claude_code_version"]) ?? version;
      billing = billingOf(text(event["apiKeySource"]));
      result = undefined;
    }
    if (event["subtype"] !== "api_retry") return [];
    lastRetry = event;
    const status = number(event["error_status"]);
    const reportedError = text(event["error"]);
    const reason = reportedError === undefined || reportedError === "unknown" ? "" : ` (${reportedError})`;
    return [
      {
        type: "notice",
        message: `The model service ${status === undefined ? `gave no answer${reason}` : `answered ${status}`}; attempt ${number(event["attempt"]) ?? "?"} of ${number(event["max_retries"]) ?? "?"}.`,
      },
    ];
  }

  function resultEvents(event: Json): AgentEvent[] {
    result = event;
    const denials = objects(event["permission_denials"]).map((denial): AgentEvent => ({
      type: "notice",
      message: `Refused: ${text(denial["tool_name"]) ?? "a tool"} ${detailOf(denial["tool_input"])}`,
    }));
    const cost_usd = amount(event["total_cost_usd"]);
    return [
      ...denials,
      { type: "usage", usage: totalOf(event), ...withoutUndefined({ cost_usd, model, version, billing }) },
    ];
  }

  /** Uses the totals of the result: those of the streamed events lack the last tokens of each answer. */
  function totalOf(event: Json): Usage {
    const { requests, largest } = answers.total();
    const models = Object.values(object(event["modelUsage"]) ?? {}).map((usage) => object(usage) ?? {});
    if (models.length === 0) return { ...usageIn(object(event["usage"]) ?? {}, requests), largest };
    return { ...totalUsage(models.map(usageOfModel)), requests, largest };
  }

  function failureOfRun(): Failure | undefined {
    if (result !== undefined && result["is_error"] !== true && result["subtype"] === "success") return undefined;
    if (result?.["subtype"] === "error_max_budget_usd")
      return { kind: "budget", message: "claude stopped at its budget for this iteration." };
    const errors = Array.isArray(result?.["errors"])
      ? result["errors"].filter((error) => typeof error === "string").join("\n")
      : "";
    const errorText =
      [text(result?.["result"]) ?? "", errors, text(lastRetry?.["error"]) ?? ""].find((text) => text.trim() !== "") ??
      "";
    const status = number(result?.["api_error_status"]) ?? number(lastRetry?.["error_status"]);
    const kindByStatus = status === undefined ? undefined : kindOfStatus(status);
    const now = Date.now();
    const kind = errorKind ?? kindByStatus ?? kindByError.get(text(lastRetry?.["error"]) ?? "");
    // For a refused request, the text says more than the status: 400 means a prompt that is too long, but also an
    // account without credit.
    const knownFailure =
      kind === undefined || kind === "unusable"
        ? (recogniseFailure(errorText, "claude", now) ?? (kind && serviceFailure(kind, errorText, "claude", now)))
        : serviceFailure(kind, errorText || `${status}`, "claude", now);
    if (knownFailure !== undefined)
      return reset_at === undefined || knownFailure.kind !== "rate-limit"
        ? knownFailure
        : { ...knownFailure, reset_at };
    // If there is no result and no retry with a reason, the exit code and stderr decide.
    return result === undefined
      ? undefined
      : { kind: "crashed", message: `claude ended with an error: ${quote(errorText) || text(result["subtype"])}.` };
  }

  return {
    line(line) {
      const event = objectIn(line);
      switch (event?.["type"]) {
        case "assistant":
          return assistantEvents(object(event["message"]) ?? {}, text(event["error"]));
        case "system":
          return systemEvents(event);
        case "rate_limit_event":
          reset_at = resetTimeOf(object(event["rate_limit_info"]) ?? {}) ?? reset_at;
          return [];
        case "result":
          return resultEvents(event);
        default:
          return [];
      }
    },
    isFinished: () => result !== undefined,
    answer(): Answer {
      const failure = failureOfRun();
      if (failure !== undefined) return { failure: failure };
      return result === undefined ? {} : { message: text(result["result"]) ?? "" };
    },
  };
}

/** The billing for an `apiKeySource`. For a login with a subscription, it is "none" or "oauth". */
function billingOf(source: string | undefined): Billing | undefined {
  if (source === undefined) return undefined;
  return source === "none" || source === "oauth" ? "subscription" : "api";
}

function resetTimeOf(info: Json): string | undefined {
  const seconds = number(info["resetsAt"]);
  return info["status"] === "rejected" && seconds !== undefined ? isoTimeOf(seconds * 1000) : undefined;
}

function usageOfModel(usage: Json): Usage {
  const tokensOf = (key: string): number => tokens(usage[key]);
  const cached = tokensOf("cacheReadInputTokens");
  return {
    input: tokensOf("inputTokens") + tokensOf("cacheCreationInputTokens") + cached,
    cached,
    output: tokensOf("outputTokens"),
    requests: 0,
  };
}
