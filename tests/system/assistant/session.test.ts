import { describe, expect, it } from "vitest";
import { estimateTokens } from "../../../src/engine/lib/tokens.js";
import { never, opened, said } from "../../assistant/opened-session.js";

describe("a session", () => {
  it.each([6000, 8192, 32_000])(
    "of a window of %i tokens never asks for more than fits, however long it grows",
    async (window) => {
      const { session, bodies } = await opened(window, ({ messages }) => {
        const isResult = messages.at(-1)?.role === "tool";
        const call = {
          index: 0,
          id: "c1",
          type: "function",
          function: { name: "file_list", arguments: '{"directory_path":"."}' },
        };
        return !isResult && bodies.length % 3 === 0
          ? said({ tool_calls: [call] }, "tool_calls")
          : said({ content: `answer ${"a b ".repeat(500)}` });
      });
      for (let turn = 0; turn < 40; turn += 1)
        expect(await session.answer(`question ${turn} ${"q ".repeat(300)}`, never, () => undefined)).toHaveProperty(
          "message",
        );
      for (const { messages, tools, max_tokens: answer = 0 } of bodies) {
        const prompt = estimateTokens(
          JSON.stringify([messages.map(({ content }) => content), tools.map((tool) => tool.function)]),
        );
        expect(prompt + answer).toBeLessThanOrEqual(window);
        expect(answer).toBeGreaterThan(500);
        const calls = messages.flatMap((message) => ("tool_calls" in message ? [message] : []));
        expect(calls).toHaveLength(messages.filter(({ role }) => role === "tool").length);
      }
      expect(bodies.at(-1)?.messages.length).toBeLessThan(40);
      await session.close();
    },
  );
});
