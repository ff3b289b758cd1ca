import type { AgentEvent, Failure, Usage } from "../../loop/types.js";
import type { Answer, Reader } from "../definition.js";
import { quote, recogniseFailure } from "../failures.js";
import { detailOf, type Json, inputDigest, object, objectIn, text, tokens } from "../shared/json-line.js";

/** Types of items that are work with tools. A message before such an item was not the final message. */
const workItemTypes: ReadonlySet<string> = new Set([
  "command_execution",
  "file_change",
  "mcp_tool_call",
  "web_search",
  "collab_tool_call",
]);

/**
 * Reads `codex exec --json`. An `error` event is not the end ("Reconnecting…"); `turn.completed` and `turn.failed` are.
 * Codex reports no cost and no number of requests; each round of tool calls counts as one more request.
 */
export function readCodex(): Reader {
  let message = "";
  let isCompleted = false;
  let fatalError: string | undefined;
  let lastError: string | undefined;
  let usage: Usage = { input: 0, cached: 0, output: 0, requests: 0 };
  let requests = 1;
  let isWorking = false;

  function itemEvents(item: Json, isDone: boolean): AgentEvent[] {
    const type = text(item["type"]) ?? "";
    if (workItemTypes.has(type)) {
      message = "";
      // Tool calls of one answer run in parallel. The next answer begins when all of them are done and another item
      // follows.
      if (!isWorking) requests++;
      isWorking = true;
      return isDone ? [] : [{ type: "tool", name: type, detail: toolDetail(item), ...keyOfItem(item) }];
    }
    if (type === "reasoning" || type === "agent_message") isWorking = false;
    if (!isDone) return [];
    if (type === "error") return [{ type: "notice", message: quote(text(item["message"]) ?? "") }];
    if (type !== "agent_message") return [];
    message = text(item["text"]) ?? "";
    return [{ type: "text", text: message }];
  }

  function turnEndEvents(usageFields: Json): AgentEvent[] {
    isCompleted = true;
    const tokensOf = (key: string): number => tokens(usageFields[key]);
    usage = {
      input: usage.input + tokensOf("input_tokens"),
      cached: usage.cached + tokensOf("cached_input_tokens"),
      output: usage.output + tokensOf("output_tokens"),
      requests,
    };
    // The size of the largest request is known only if there was a single request.
    return [{ type: "usage", usage: requests === 1 ? { ...usage, largest: usage.input + usage.output } : usage }];
  }

  return {
    line(line) {
      const event = objectIn(line);
      switch (event?.["type"]) {
        case "item.started":
        case "item.completed":
          return itemEvents(object(event["item"]) ?? {}, event["type"] === "item.completed");
        case "error":
          lastError = text(event["message"]) ?? lastError;
          return [{ type: "notice", message: quote(lastError ?? "") }];
        case "turn.completed":
          return turnEndEvents(object(event["usage"]) ?? {});
        case "turn.failed":
          fatalError = text(object(event["error"])?.["message"]) ?? "the turn failed";
          return [];
        default:
          return [];
      }
    },
    isFinished: () => isCompleted || fatalError !== undefined,
    answer(): Answer {
      if (isCompleted && fatalError === undefined) return { message };
      const reason = fatalError ?? lastError;
      if (reason === undefined) return {};
      const failure: Failure = { kind: "crashed", message: `codex ended with an error: ${quote(reason)}.` };
      return { failure: recogniseFailure(reason, "codex", Date.now()) ?? failure };
    },
  };
}

/** The key of a tool call. A change of files has none: only their names are known, so two changes can't be compared. */
function keyOfItem({ command, query, server, tool, arguments: input, changes }: Json): { key?: string } {
  return changes === undefined ? { key: inputDigest({ command, query, server, tool, input }) } : {};
}

function toolDetail(item: Json): string {
  const changes = Array.isArray(item["changes"])
    ? item["changes"].map((change) => text(object(change)?.["path"]) ?? "").join(", ")
    : undefined;
  return detailOf(changes ?? item);
}
