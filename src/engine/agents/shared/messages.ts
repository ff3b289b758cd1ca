import type { AgentEvent, Usage } from "../../loop/types.js";
import { detailOf, inputDigest, type Json, object, objects, text, tokens } from "./json-line.js";

/** The events of an assistant message in the format of Anthropic's Messages API: its texts and its tool calls. */
export function eventsOf(message: Json): AgentEvent[] {
  return objects(message["content"]).flatMap((block): AgentEvent[] => {
    if (block["type"] === "text") return [{ type: "text", text: text(block["text"]) ?? "" }];
    if (block["type"] !== "tool_use") return [];
    const { input } = block;
    return [{ type: "tool", name: text(block["name"]) ?? "tool", detail: detailOf(input), key: inputDigest(input) }];
  });
}

/** The usage in a message. In the Messages API, `input_tokens` does not include tokens from the cache. */
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

/** The sum of several usages. It has no field `largest`. */
export const totalUsage = (usages: readonly Usage[]): Usage =>
  usages.reduce(
    (sum, usage) => ({
      input: sum.input + usage.input,
      cached: sum.cached + usage.cached,
      output: sum.output + usage.output,
      requests: sum.requests + usage.requests,
    }),
    { input: 0, cached: 0, output: 0, requests: 0 },
  );

/**
 * Adds up the usage of all answers. An answer may come as several messages with the same id, one for each content
 * block. Each of them reports the usage of the whole answer, so only the last message of an id counts. `largest` is the
 * number of input and output tokens of the largest answer.
 */
export function createAnswerCounter(): { add(message: Json): void; total(): Usage & { readonly largest: number } } {
  const usageOfAnswers = new Map<string, Usage>();
  return {
    add(message) {
      // A message without an id counts as an answer of its own.
      const id = text(message["id"]) ?? `${usageOfAnswers.size}`;
      usageOfAnswers.set(id, usageIn(object(message["usage"]) ?? {}, 1));
    },
    total: () => {
      const usages = [...usageOfAnswers.values()];
      return {
        ...totalUsage(usages),
        largest: usages.reduce((largest, { input, output }) => Math.max(largest, input + output), 0),
      };
    },
  };
}
