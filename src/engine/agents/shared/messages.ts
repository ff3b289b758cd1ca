import type { AgentEvent, Usage } from "../../loop/types.js";
import { detailOf, type Json, keyOf, object, objects, text, tokens } from "./json-line.js";

/** The events of an assistant message of the Messages API: its texts and its tool calls. */
export function eventsOf(message: Json): AgentEvent[] {
  return objects(message["content"]).flatMap((block): AgentEvent[] => {
    if (block["type"] === "text") return [{ type: "text", text: text(block["text"]) ?? "" }];
    if (block["type"] !== "tool_use") return [];
    const { input } = block;
    return [{ type: "tool", name: text(block["name"]) ?? "tool", detail: detailOf(input), key: keyOf(input) }];
  });
}

/** Usage as the Messages API counts it: `input_tokens` does not include tokens from the cache. */
export function usageIn(usage: Json, requests: number): Usage {
  const tokensOf = (key: string): number => tokens(usage[key]);
  const cached = tokensOf("cache_read_input_tokens");
  return {
    input: tokensOf("input_tokens") + tokensOf("cache_creation_input_tokens") + cached,
    cached,
    output: tokensOf("output_tokens"),
    requests,
  };
}

/** The sum of several usages, without the largest request. */
export const totalUsage = (usages: readonly Usage[]): Usage =>
  usages.reduce(
    (a, b) => ({
      input: a.input + b.input,
      cached: a.cached + b.cached,
      output: a.output + b.output,
      requests: a.requests + b.requests,
    }),
    { input: 0, cached: 0, output: 0, requests: 0 },
  );

/**
 * Totals over all answers. An answer may come as several events, one for each content block, each with the usage of the
 * whole answer: the last event of an id counts. `largest` is the input and output of the largest single answer.
 */
export function createAnswerCounter(): { add(message: Json): void; total(): Usage & { readonly largest: number } } {
  const answers = new Map<string, Usage>();
  return {
    add(message) {
      answers.set(text(message["id"]) ?? `${answers.size}`, usageIn(object(message["usage"]) ?? {}, 1));
    },
    total: () => {
      const usages = [...answers.values()];
      return {
        ...totalUsage(usages),
        largest: usages.reduce((largest, { input, output }) => Math.max(largest, input + output), 0),
      };
    },
  };
}
