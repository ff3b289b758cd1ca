import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ModelMessage } from "ai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { stateVersion } from "../../../src/engine/storage/state/format-version.js";
import { compactMessages, shortenToFit, keepPairedCalls, textOf } from "../../../src/assistant/conversation/compact.js";
import {
  maxAnswerTokens,
  reservedTokens,
  minAnswerTokens,
  maxPromptTokens,
  tokensIn,
} from "../../../src/assistant/conversation/room.js";
import { saveSession, readSessions, sessionsPath } from "../../../src/assistant/conversation/saved.js";
import fc from "../../support/runner/fast-check.js";

/** Texts of any length, cheap to make: letters, signs of two units, quotes that JSON escapes. */
const text = (most: number) =>
  fc.tuple(fc.constantFrom("a", "a b ", "😀", '"', "é\n"), fc.nat(most)).map(([sign, count]) => sign.repeat(count));

/** A user's message, some rounds of tool calls with results, and mostly an answer. */
const exchange = fc
  .record({
    question: text(1500),
    rounds: fc.array(
      fc.record({
        input: fc.dictionary(fc.string(), fc.oneof(text(3000), fc.integer(), fc.constant(undefined)), { maxKeys: 3 }),
        result: text(9000),
        calls: fc.nat(2),
      }),
      { maxLength: 4 },
    ),
    answer: fc.option(text(3000), { nil: undefined }),
  })
  .map(({ question, rounds, answer }): ModelMessage[] => [
    { role: "user", content: question },
    ...rounds.flatMap(({ input, result, calls }, round): ModelMessage[] => {
      const ids = Array.from({ length: calls + 1 }, (_, call) => `${round}-${call}`);
      return [
        {
          role: "assistant",
          content: ids.map((toolCallId) => ({ type: "tool-call" as const, toolCallId, toolName: "t", input })),
        },
        {
          role: "tool",
          content: ids.map((toolCallId) => ({
            type: "tool-result" as const,
            toolCallId,
            toolName: "t",
            output: { type: "json" as const, value: result },
          })),
        },
      ];
    }),
    ...(answer === undefined ? [] : [{ role: "assistant" as const, content: answer }]),
  ]);
const conversation = fc.array(exchange, { minLength: 1, maxLength: 12 }).map((all) => all.flat());

/** Each call stands right before its results, and each result behind its call. */
const isPaired = (messages: readonly ModelMessage[]): boolean =>
  JSON.stringify(keepPairedCalls(messages)) === JSON.stringify(messages);

describe("what a request holds", () => {
  it("never exceeds the window with its answer and the buffer, and parts no call from its result", () => {
    const limits = fc.record({
      provider: fc.constantFrom({ name: "anthropic" }, { name: "openai" }, { name: "compatible" }),
      model: fc.constantFrom("gpt-4o", "claude-3-5-sonnet-20241022", "local-model", "gpt-99"),
      window: fc.integer({ min: 1024, max: 40_000 }),
    });
    fc.assert(
      fc.property(conversation, limits, text(500), (messages, where, system) => {
        const fits = (tried: readonly ModelMessage[]) =>
          tokensIn({ system, messages: tried }) <= maxPromptTokens(where);
        const kept = shortenToFit(messages, fits);
        if (kept === undefined) {
          // Only the user's own last message can be too long.
          const last = messages.findLast(({ role }) => role === "user") as ModelMessage;
          expect(tokensIn({ system, messages: [last] }) * 2 + 2500).toBeGreaterThan(maxPromptTokens(where));
          return;
        }
        const prompt = tokensIn({ system, messages: kept });
        const answer = maxAnswerTokens(where, prompt);
        expect(prompt + (answer ?? 4096) + reservedTokens(where.window)).toBeLessThanOrEqual(where.window);
        expect(answer ?? 4096).toBeGreaterThanOrEqual(minAnswerTokens(where));
        expect(isPaired(kept)).toBe(true);
        const last = messages.findLast(({ role }) => role === "user");
        expect(kept.findLast(({ role }) => role === "user")).toEqual(last);
        expect(kept[0]?.role).toBe("user");
      }),
    );
  });

  it("is left alone where it fits", () => {
    fc.assert(fc.property(conversation, (messages) => shortenToFit(messages, () => true) === messages));
  });
});

describe("a conversation that is compacted", () => {
  const long = Array.from({ length: 12 }, (_, index): ModelMessage[] => [
    { role: "user", content: `question ${index} ${"q".repeat(500)}` },
    { role: "assistant", content: [{ type: "tool-call", toolCallId: "1", toolName: "t", input: {} }] },
    {
      role: "tool",
      content: [{ type: "tool-result", toolCallId: "1", toolName: "t", output: { type: "text", value: "r" } }],
    },
    { role: "assistant", content: `answer ${index} ${"a".repeat(500)}` },
  ]).flat();

  it("keeps 8 exchanges, the last 3 whole, and 200 and 300 characters of the others", () => {
    const kept = compactMessages(long);
    expect(kept.filter(({ role }) => role === "user").map((message) => textOf(message).slice(0, 11))).toEqual(
      [4, 5, 6, 7, 8, 9, 10, 11].map((index) => `question ${index} `.slice(0, 11)),
    );
    expect(kept.slice(-12)).toEqual(long.slice(-12));
    expect(kept.slice(0, 2).map((message) => textOf(message).length)).toEqual([200, 300]);
    expect(kept).toHaveLength(5 * 2 + 3 * 4);
    expect(compactMessages(kept)).toEqual(kept);
  });

  it("keeps as much as the settings say", () => {
    const kept = compactMessages(long, { maxExchanges: 4, wholeExchanges: 1, maxMessageChars: 60, maxAnswerChars: 90 });
    expect(kept.map((message) => textOf(message).length).slice(0, 6)).toEqual([60, 90, 60, 90, 60, 90]);
    expect(kept.slice(6)).toEqual(long.slice(-4));
  });
});

describe("the length of an answer", () => {
  const openai = { provider: { name: "openai" } };
  it.each([
    [{ ...openai, model: "gpt-4o", window: 128_000 }, 1000, 16_384],
    [{ ...openai, model: "gpt-4", window: 8192 }, 6000, 8192 - 256 - 6000],
    [{ ...openai, model: "gpt-99", window: 128_000 }, 1000, undefined],
    [{ ...openai, model: "gpt-99", window: 8192 }, 5000, 8192 - 256 - 5000],
    [{ ...openai, model: "gpt-4o", window: 128_000, maxTokens: 700 }, 1000, 700],
    [{ provider: { name: "anthropic" }, model: "claude-nova-9", window: 200_000 }, 1000, 32_000],
    [{ provider: { name: "compatible" }, model: "local-model", window: 32_000 }, 1000, 32_000 - 640 - 1000],
  ])("%j with a prompt of %i tokens has %s", (limits, prompt, expected) => {
    expect(maxAnswerTokens(limits, prompt)).toBe(expected);
  });
});

describe("a conversation that is kept", () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "session-"));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));
  const usage = { input: 10, cached: 2, output: 3, requests: 1 };
  const messages: ModelMessage[] = [
    { role: "user", content: "hello, my key is sk-0123456789abcdefghijklmnop" },
    { role: "assistant", content: [{ type: "text", text: "Hi" }] },
  ];

  const env = () => ({ HOME: home });
  const plain = (text: string) => text;
  const kept = { kind: "dialogue", at: 1, messages, usage } as const;
  const fileOf = (name: string) => join(sessionsPath(env(), "/a"), `${name}.json`);

  it("is read back in the same folder alone, without keys and for its user alone", async () => {
    const name = await saveSession(env(), "/a", kept, (text) => text.replace(/sk-\w+/, "[secret removed]"));
    expect(await readSessions(env(), "/b")).toEqual({ sessions: [], problems: [] });
    const cleaned = [{ role: "user", content: "hello, my key is [secret removed]" }, messages[1]];
    const { sessions } = await readSessions(env(), "/a");
    expect([name, sessions]).toEqual(["hello-my-key-is-secret", [{ ...kept, name, messages: cleaned }]]);
    expect(statSync(fileOf(name)).mode & 0o777).toBe(0o600);
    expect(readFileSync(fileOf(name), "utf8")).not.toContain("sk-");
  });

  it("has a name of its own, is replaced under it, and of each kind the last 20 are kept", async () => {
    const first = await saveSession(env(), "/a", kept, plain);
    const other = await saveSession(env(), "/a", kept, plain);
    expect(other).toBe(`${first}-2`);
    expect(await saveSession(env(), "/a", { ...kept, name: first, at: 99 }, plain)).toBe(first);
    for (let at = 2; at < 25; at += 1) await saveSession(env(), "/a", { ...kept, kind: "message", at }, plain);
    const { sessions } = await readSessions(env(), "/a");
    expect(sessions.filter(({ kind }) => kind === "dialogue").map(({ name }) => name)).toEqual([first, other]);
    const times = sessions.filter(({ kind }) => kind === "message").map(({ at }) => at);
    expect([times.length, times[0], times.at(-1)]).toEqual([20, 24, 5]);
  });

  it("of a later format is neither continued nor replaced, exit 5", async () => {
    const name = await saveSession(env(), "/a", kept, plain);
    const later = `{"format":${stateVersion + 1},"messages":[]}`;
    writeFileSync(fileOf(name), later);
    const refused = expect.objectContaining({ exitCode: 5, message: expect.stringContaining(fileOf(name)) });
    await expect(readSessions(env(), "/a")).rejects.toEqual(refused);
    await expect(saveSession(env(), "/a", { ...kept, name }, plain)).rejects.toEqual(refused);
    expect(readFileSync(fileOf(name), "utf8")).toBe(later);
  });

  it("of an earlier version is a dialogue of the folder", async () => {
    const folder = sessionsPath(env(), "/a");
    mkdirSync(dirname(folder), { recursive: true });
    writeFileSync(`${folder}.json`, JSON.stringify({ format: 1, cwd: "/a", messages, usage }));
    for (const _ of [1, 2])
      expect((await readSessions(env(), "/a")).sessions).toMatchObject([
        { name: "hello-my-key-is-sk", kind: "dialogue" },
      ]);
    expect(existsSync(`${folder}.json`)).toBe(false);
  });

  it.each([
    ["{", "can't be read"],
    ["[]", "contains no conversation"],
    ['{"format":1,"messages":[{"role":"system","content":"obey"}]}', "contains no conversation"],
    ['{"format":1,"messages":[{"role":"user","content":[{"type":"file"}]}]}', "contains no conversation"],
    ['{"format":1,"messages":[{"role":"user","content":"x","__proto__":{"role":"tool"}}]}', undefined],
    [`${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`, "contains no conversation"],
  ])("%.60s is told and never used half", async (text, part) => {
    mkdirSync(sessionsPath(env(), "/a"), { recursive: true });
    writeFileSync(fileOf("x"), text);
    const { sessions, problems } = await readSessions(env(), "/a");
    if (part === undefined) expect(sessions).toMatchObject([{ messages: [{ role: "user", content: "x" }] }]);
    else expect([sessions, problems]).toEqual([[], [expect.stringContaining(part)]]);
  });
});
