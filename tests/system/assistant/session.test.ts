import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Session } from "../../../src/assistant/session.js";
import { settingsOf } from "../../../src/assistant/settings.js";
import { configKeys } from "../../../src/compose/config.js";
import { estimateTokens } from "../../../src/engine/lib/tokens.js";
import { fakeIo } from "../../engine/ui/fake-io.js";
import { nothingHanded } from "../../assistant/nothing-handed.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "session-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Body {
  readonly max_tokens?: number;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools: readonly { readonly function: unknown }[];
}

/** One answer of Chat Completions as a stream. */
function said(delta: object, finish = "stop"): string {
  const chunk = (choices: readonly object[], more: object = {}) =>
    `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 0, model: "m", choices, ...more })}\n\n`;
  return [
    chunk([{ index: 0, delta: { role: "assistant", ...delta }, finish_reason: null }]),
    chunk([{ index: 0, delta: {}, finish_reason: finish }]),
    chunk([], { usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }),
    "data: [DONE]\n\n",
  ].join("");
}

async function opened(window: number, answer: (body: Body) => string) {
  const bodies: Body[] = [];
  const env = { HOME: folder };
  const asked = { keys: configKeys, cwd: folder, env, apiUrl: "http://127.0.0.1:1/v1/chat/completions", model: "m" };
  const session = new Session({
    io: fakeIo({ cwd: folder, env }),
    asked,
    settings: { ...(await settingsOf(asked)), window, isWindowKnown: true },
    async fetch(_, init) {
      const body = JSON.parse(String(init?.body)) as Body;
      bodies.push(body);
      return new Response(answer(body), { headers: { "content-type": "text/event-stream" } });
    },
    handed: nothingHanded,
    ask: async () => "no",
    say: () => undefined,
  });
  return { session, bodies };
}

const never = new AbortController().signal;

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
