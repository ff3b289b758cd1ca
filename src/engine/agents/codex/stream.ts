import type { AgentEvent, Failure, Usage } from "../../loop/types.js";
import type { Answer, Reader } from "../definition.js";
import { quote, recogniseFailure } from "../failures.js";
import { detailOf, type Json, keyOf, object, objectIn, text, tokens } from "../shared/json-line.js";

/** Items that are work: a message before one of them was not the final one. */
const work: ReadonlySet<string> = new Set([
  "command_execution",
  "file_change",
  "mcp_tool_call",
  "web_search",
  "collab_tool_call",
]);

/**
 * Reads `codex exec --json`. `error` events are not the end ("Reconnecting…"); `turn.completed` and `turn.failed` are.
 * It reports no cost, and no number of requests: each round of tool use is one more.
 */
export function readCodex(): Reader {
  let message = "";
  let completed = false;
  let fatal: string | undefined;
  let lastError: string | undefined;
  let usage: Usage = { input: 0, cached: 0, output: 0, requests: 0 };
  let requests = 1;
  let working = false;

  function item(item: Json, done: boolean): AgentEvent[] {
    const type = text(item["type"]) ?? "";
    if (work.has(type)) {
      message = "";
      // Calls of one answer run side by side; the next answer begins when all are done and something else is said.
      if (!working) requests++;
      working = true;
      return done ? [] : [{ type: "tool", name: type, detail: toolDetail(item), ...keyed(item) }];
    }
    if (type === "reasoning" || type === "agent_message") working = false;
    if (!done) return [];
    if (type === "error") return [{ type: "notice", message: quote(text(item["message"]) ?? "") }];
    if (type !== "agent_message") return [];
    message = text(item["text"]) ?? "";
    return [{ type: "text", text: message }];
  }

  function turnEnded(said: Json): AgentEvent[] {
    completed = true;
    const count = (key: string): number => tokens(said[key]);
    usage = {
      input: usage.input + count("input_tokens"),
      cached: usage.cached + count("cached_input_tokens"),
      output: usage.output + count("output_tokens"),
      requests,
    };
    // Only of a single request is it known how large the largest was.
    return [{ type: "usage", usage: requests === 1 ? { ...usage, largest: usage.input + usage.output } : usage }];
  }

  return {
    line(line) {
      const event = objectIn(line);
      switch (event?.["type"]) {
        case "item.started":
        case "item.completed":
          return item(object(event["item"]) ?? {}, event["type"] === "item.completed");
        case "error":
          lastError = text(event["message"]) ?? lastError;
          return [{ type: "notice", message: quote(lastError ?? "") }];
        case "turn.completed":
          return turnEnded(object(event["usage"]) ?? {});
        case "turn.failed":
          fatal = text(object(event["error"])?.["message"]) ?? "the turn failed";
          return [];
        default:
          return [];
      }
    },
    finished: () => completed || fatal !== undefined,
    answer(): Answer {
      if (completed && fatal === undefined) return { message };
      const said = fatal ?? lastError;
      if (said === undefined) return {};
      const failure: Failure = { kind: "crashed", message: `codex ended with an error: ${quote(said)}.` };
      return { failure: recogniseFailure(said, "codex", Date.now()) ?? failure };
    },
  };
}

/** Of a changed file it tells the name alone: whether two changes are the same is not known. */
function keyed({ command, query, server, tool, arguments: input, changes }: Json): { key?: string } {
  return changes === undefined ? { key: keyOf({ command, query, server, tool, input }) } : {};
}

function toolDetail(item: Json): string {
  const changes = Array.isArray(item["changes"])
    ? item["changes"].map((change) => text(object(change)?.["path"]) ?? "").join(", ")
    : undefined;
  return detailOf(changes ?? item);
}
