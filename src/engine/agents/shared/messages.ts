import type { AgentEvent, Usage } from "../../loop/types.js";
import { detailOf, type Json, keyOf, object, objects, text, tokens } from "./json-line.js";

/** What an assistant message of the Messages API says: its text and the tools it calls. */
export function eventsOf(message: Json): AgentEvent[] {
  return objects(message["content"]).flatMap((block): AgentEvent[] => {
    if (block["type"] === "text") return [{ type: "text", text: text(block["text"]) ?? "" }];
    if (block["type"] !== "tool_use") return [];
    const { input } = block;
    return [{ type: "tool", name: text(block["name"]) ?? "tool", detail: detailOf(input), key: keyOf(input) }];
  });
}

/** Usage as the Messages API counts it: `input_tokens` are those that the cache did not serve. */
export function usageIn(usage: Json, requests: number): Usage {
  const count = (key: string): number => tokens(usage[key]);
  const cached = count("cache_read_input_tokens");
  return {
    input: count("input_tokens") + count("cache_creation_input_tokens") + cached,
    cached,
    output: count("output_tokens"),
    requests,
  };
}

/** What several runs or requests used together; which request was the largest is not among it. */
export const totalUsage = (all: readonly Usage[]): Usage =>
  all.reduce(
    (a, b) => ({
      input: a.input + b.input,
      cached: a.cached + b.cached,
      output: a.output + b.output,
      requests: a.requests + b.requests,
    }),
    { input: 0, cached: 0, output: 0, requests: 0 },
  );

/**
 * Totals over the answers seen. An answer may come as several events, one a content block, each with the usage of the
 * whole: the last one of an id counts. The largest is that of a single answer, with what was sent for it.
 */
export function countAnswers(): { add(message: Json): void; total(): Usage & { readonly largest: number } } {
  const answers = new Map<string, Usage>();
  return {
    add(message) {
      answers.set(text(message["id"]) ?? `${answers.size}`, usageIn(object(message["usage"]) ?? {}, 1));
    },
    total: () => {
      const all = [...answers.values()];
      return {
        ...totalUsage(all),
        largest: all.reduce((most, { input, output }) => Math.max(most, input + output), 0),
      };
    },
  };
}
