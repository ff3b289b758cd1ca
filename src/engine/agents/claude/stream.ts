import type { AgentEvent, Billing, Failure, Usage } from "../../loop/types.js";
import type { Answer, Reader } from "../definition.js";
import { kindOfStatus, quote, recogniseFailure, type ServiceFailure, serviceFailure, timeIn } from "../failures.js";
import { amount, detailOf, type Json, number, object, objectIn, objects, text, tokens } from "../shared/json-line.js";
import { countAnswers, eventsOf, totalUsage, usageIn } from "../shared/messages.js";
import { withoutUndefined } from "../../lib/without-undefined.js";

/** What the `error` of an assistant event or a retry means; the HTTP status is not always told. */
const kindOfError: ReadonlyMap<string, ServiceFailure> = new Map(
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
 * `is_error: true`; there may be several results, of which the last counts and carries the cost of all.
 */
export function readClaude(): Reader {
  const answers = countAnswers();
  let model: string | undefined;
  let version: string | undefined;
  let billing: Billing | undefined;
  let lastRetry: Json | undefined;
  let errorKind: ServiceFailure | undefined;
  let reset_at: string | undefined;
  let result: Json | undefined;

  function assistant(message: Json, error: string | undefined): AgentEvent[] {
    errorKind = kindOfError.get(error ?? "");
    if (error !== undefined) return eventsOf(message);
    // What was tried again has come right.
    lastRetry = undefined;
    answers.add(message);
    return [
      ...eventsOf(message),
      { type: "usage", usage: answers.total(), ...withoutUndefined({ model, version, billing }) },
    ];
  }

  function system(event: Json): AgentEvent[] {
    // Work goes on, so what looked like the end was none.
    if (event["subtype"] === "init") {
      model = text(event["model"]) ?? model;
      version = text(event["claude_code_version"]) ?? version;
      billing = billingOf(text(event["apiKeySource"]));
      result = undefined;
    }
    if (event["subtype"] !== "api_retry") return [];
    lastRetry = event;
    const status = number(event["error_status"]);
    const reported = text(event["error"]);
    const reason = reported === undefined || reported === "unknown" ? "" : ` (${reported})`;
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
      { type: "usage", usage: total(event), ...withoutUndefined({ cost_usd, model, version, billing }) },
    ];
  }

  /** The result's own totals: those of the streamed events lack the last words of each answer. */
  function total(event: Json): Usage {
    const { requests, largest } = answers.total();
    const models = Object.values(object(event["modelUsage"]) ?? {}).map((one) => object(one) ?? {});
    if (models.length === 0) return { ...usageIn(object(event["usage"]) ?? {}, requests), largest };
    return { ...totalUsage(models.map(usageOfModel)), requests, largest };
  }

  function failure(): Failure | undefined {
    if (result !== undefined && result["is_error"] !== true && result["subtype"] === "success") return undefined;
    if (result?.["subtype"] === "error_max_budget_usd")
      return { kind: "budget", message: "claude stopped at its budget for this iteration." };
    const errors = Array.isArray(result?.["errors"])
      ? result["errors"].filter((one) => typeof one === "string").join("\n")
      : "";
    const reported =
      [text(result?.["result"]) ?? "", errors, text(lastRetry?.["error"]) ?? ""].find((one) => one.trim() !== "") ?? "";
    const status = number(result?.["api_error_status"]) ?? number(lastRetry?.["error_status"]);
    const ofStatus = status === undefined ? undefined : kindOfStatus(status);
    const now = Date.now();
    const kind = errorKind ?? ofStatus ?? kindOfError.get(text(lastRetry?.["error"]) ?? "");
    // What is wrong with a request only its words tell: too long a prompt is a 400 too, and so is an account without
    // credit.
    const known =
      kind === undefined || kind === "unusable"
        ? (recogniseFailure(reported, "claude", now) ?? (kind && serviceFailure(kind, reported, "claude", now)))
        : serviceFailure(kind, reported || `${status}`, "claude", now);
    if (known !== undefined)
      return reset_at === undefined || known.kind !== "rate-limit" ? known : { ...known, reset_at };
    // Without a result and without a retry that tells why, the exit code and stderr have to.
    return result === undefined
      ? undefined
      : { kind: "crashed", message: `claude ended with an error: ${quote(reported) || text(result["subtype"])}.` };
  }

  return {
    line(line) {
      const event = objectIn(line);
      switch (event?.["type"]) {
        case "assistant":
          return assistant(object(event["message"]) ?? {}, text(event["error"]));
        case "system":
          return system(event);
        case "rate_limit_event":
          reset_at = resetOf(object(event["rate_limit_info"]) ?? {}) ?? reset_at;
          return [];
        case "result":
          return resultEvents(event);
        default:
          return [];
      }
    },
    finished: () => result !== undefined,
    answer(): Answer {
      const wrong = failure();
      if (wrong !== undefined) return { failure: wrong };
      return result === undefined ? {} : { message: text(result["result"]) ?? "" };
    },
  };
}

/** Where the login is a subscription's, no source of a key is named. */
function billingOf(source: string | undefined): Billing | undefined {
  if (source === undefined) return undefined;
  return source === "none" || source === "oauth" ? "subscription" : "api";
}

function resetOf(info: Json): string | undefined {
  const seconds = number(info["resetsAt"]);
  return info["status"] === "rejected" && seconds !== undefined ? timeIn(seconds * 1000) : undefined;
}

function usageOfModel(usage: Json): Usage {
  const count = (key: string): number => tokens(usage[key]);
  const cached = count("cacheReadInputTokens");
  return {
    input: count("inputTokens") + count("cacheCreationInputTokens") + cached,
    cached,
    output: count("outputTokens"),
    requests: 0,
  };
}
