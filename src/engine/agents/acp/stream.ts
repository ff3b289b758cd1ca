import { withoutUndefined } from "../../lib/without-undefined.js";
import type { AgentEvent, Failure } from "../../loop/types.js";
import type { Answer, Reader } from "../definition.js";
import { quote, recogniseFailure } from "../failures.js";
import {
  amount,
  detailOf,
  type Json,
  inputDigest,
  number,
  object,
  objectIn,
  objects,
  text,
  tokens,
} from "../shared/json-line.js";

/** The error code by which the protocol asks for a login. https://agentclientprotocol.com/protocol/v1/schema */
const authRequiredCode = -32_000;

/** Reads the output of `acp-client`: the events of an agent that speaks the Agent Client Protocol. */
export function readAcp(): Reader {
  let [model, version]: (string | undefined)[] = [];
  let window: number | undefined;
  let cost_usd: number | undefined;
  let requests = 1;
  let isAfterTool = false;
  /** Text of the agent since its last tool call. */
  let message = "";
  /** Length of the part of `message` that was already reported. */
  let reportedLength = 0;
  let answer: Answer | undefined;
  const reportedCalls = new Set<string>();

  function newText(): AgentEvent[] {
    const unreported = message.slice(reportedLength).trim();
    reportedLength = message.length;
    return unreported === "" ? [] : [{ type: "text", text: unreported }];
  }

  function toolEvents(update: Json): AgentEvent[] {
    const textEvents = newText();
    if (!isAfterTool) requests += 1;
    [message, reportedLength, isAfterTool] = ["", 0, true];
    const id = text(update["toolCallId"]) ?? "";
    const input = object(update["rawInput"]) ?? {};
    const path = text(objects(update["locations"])[0]?.["path"]);
    const hasInput = Object.keys(input).length > 0 || path !== undefined;
    const isFinished = update["status"] === "completed" || update["status"] === "failed";
    // Some agents report a tool call first without its input and then with it.
    if (reportedCalls.has(id) || (!hasInput && !isFinished)) return textEvents;
    reportedCalls.add(id);
    const toolInput = Object.keys(input).length > 0 ? input : { path: path ?? "" };
    const toolName = text(update["name"]) ?? text(update["title"]) ?? text(update["kind"]) ?? "tool";
    return [...textEvents, { type: "tool", name: toolName, detail: detailOf(toolInput), key: inputDigest(toolInput) }];
  }

  function updateEvents(event: Json): AgentEvent[] {
    switch (event["sessionUpdate"]) {
      case "agent_message_chunk":
        isAfterTool = false;
        message += text(object(event["content"])?.["text"]) ?? "";
        return [];
      case "tool_call":
      case "tool_call_update":
        return toolEvents(event);
      case "usage_update": {
        window = number(event["size"]) ?? window;
        const cost = object(event["cost"]);
        if (cost?.["currency"] === "USD") cost_usd = amount(cost["amount"]) ?? cost_usd;
        return [];
      }
      default:
        return [];
    }
  }

  function endEvents(end: Json): AgentEvent[] {
    answer = answerFor(text(end["stopReason"]) ?? "", message.trim());
    const { usage, model: usedModel } = usageIn(end);
    model = usedModel ?? model;
    const details = withoutUndefined({ model, version, window, cost_usd });
    return [...newText(), { type: "usage", usage: { ...usage, requests }, ...details }];
  }

  return {
    line(line) {
      const event = objectIn(line);
      switch (event?.["type"]) {
        case "start":
          [model, version] = [text(event["model"]), text(event["version"])];
          return [];
        case "update":
          return updateEvents(object(event["update"]) ?? {});
        case "refused":
          return [...newText(), { type: "notice", message: `Refused: ${text(event["tool"]) ?? "a tool"}` }];
        case "end":
          return endEvents(event);
        case "error":
          answer = { failure: failureOf(event) };
          return [];
        default:
          return [];
      }
    },
    isFinished: () => answer !== undefined,
    answer: () => answer ?? {},
  };
}

/** The answer for a stop reason. The message counts only if the agent finished its turn. */
function answerFor(stopReason: string, message: string): Answer {
  const failure = (kind: Failure["kind"], clause: string): Answer => ({
    failure: { kind, message: `the agent ${clause}.` },
  });
  switch (stopReason) {
    case "max_tokens":
      return failure("context", "ended because the answer became too long for its model");
    case "max_turn_requests":
      return failure("no-answer", "ended because it reached its maximum number of requests in one turn");
    case "refusal":
      return failure("unusable", "refused: its model does not answer this brief");
    case "cancelled":
      return failure("aborted", "was cancelled");
    default:
      return { message };
  }
}

/** The tokens that the agent used, from the field of the protocol or from the field of Gemini CLI. */
function usageIn(end: Json): { usage: { input: number; cached: number; output: number }; model?: string } {
  const usage = object(end["usage"]);
  if (usage !== undefined) {
    const cached = tokens(usage["cachedReadTokens"]);
    const output = tokens(usage["outputTokens"]) + tokens(usage["thoughtTokens"]);
    return { usage: { input: tokens(usage["inputTokens"]) + cached, cached, output } };
  }
  const quota = object(object(end["_meta"])?.["quota"]);
  const tokenCount = object(quota?.["token_count"]);
  const model = text(objects(quota?.["model_usage"]).at(-1)?.["model"]);
  const geminiUsage = {
    input: tokens(tokenCount?.["input_tokens"]),
    cached: 0,
    output: tokens(tokenCount?.["output_tokens"]),
  };
  return { usage: geminiUsage, ...withoutUndefined({ model }) };
}

function failureOf(event: Json): Failure {
  const reason = text(event["message"]) ?? "it does not say why";
  const kind = text(event["kind"]);
  if (kind === "missing" || kind === "unusable") return { kind, message: `the agent: ${reason}` };
  const knownFailure = recogniseFailure(
    number(event["code"]) === authRequiredCode ? `not logged in: ${reason}` : reason,
    "the agent",
    Date.now(),
  );
  return knownFailure ?? { kind: "crashed", message: `the agent ended with an error: ${quote(reason)}.` };
}
