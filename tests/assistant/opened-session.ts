import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { Session } from "../../src/assistant/session.js";
import { settingsOf } from "../../src/assistant/settings.js";
import { configKeys } from "../../src/compose/config.js";
import { fakeIo } from "../engine/ui/fake-io.js";
import { nothingHanded } from "./nothing-handed.js";

interface Body {
  readonly max_tokens?: number;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools: readonly { readonly function: unknown }[];
}

/** One answer of Chat Completions as a stream. */
export function said(delta: object, finish = "stop"): string {
  const chunk = (choices: readonly object[], more: object = {}) =>
    `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 0, model: "m", choices, ...more })}\n\n`;
  return [
    chunk([{ index: 0, delta: { role: "assistant", ...delta }, finish_reason: null }]),
    chunk([{ index: 0, delta: {}, finish_reason: finish }]),
    chunk([], { usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }),
    "data: [DONE]\n\n",
  ].join("");
}

/** A session in a folder of its own, whose model answers each request by `answer`; and the requests. */
export async function opened(window: number, answer: (body: Body) => string) {
  const folder = mkdtempSync(join(tmpdir(), "session-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const bodies: Body[] = [];
  const env = { HOME: folder };
  const asked = { keys: configKeys, cwd: folder, env, apiUrl: "http://127.0.0.1:1/v1/chat/completions", model: "m" };
  const session = new Session({
    io: fakeIo({ cwd: folder, env }),
    request: asked,
    settings: { ...(await settingsOf(asked)), window, isWindowKnown: true },
    async fetch(_, init) {
      const body = JSON.parse(String(init?.body)) as Body;
      bodies.push(body);
      return new Response(answer(body), { headers: { "content-type": "text/event-stream" } });
    },
    services: nothingHanded,
    kind: "dialogue",
    ask: async () => "no",
    say: () => undefined,
  });
  return { session, bodies, folder };
}

/** Nobody stops it. */
export const never = new AbortController().signal;
