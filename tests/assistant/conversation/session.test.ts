import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ModelMessage } from "ai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { stateVersion } from "../../../src/engine/storage/state/format-version.js";
import { compacted, fitted, paired, textOf } from "../../../src/assistant/conversation/compact.js";
import { answerRoom, buffer, leastAnswer, promptRoom, tokensIn } from "../../../src/assistant/conversation/room.js";
import { lastSession, saveSession, sessionPath } from "../../../src/assistant/conversation/saved.js";
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
  JSON.stringify(paired(messages)) === JSON.stringify(messages);

describe("what a request holds", () => {
  it("never exceeds the window with its answer and the buffer, and parts no call from its result", () => {
    const limits = fc.record({
      provider: fc.constantFrom({ name: "anthropic" }, { name: "openai" }, { name: "compatible" }),
      model: fc.constantFrom("gpt-4o", "claude-3-5-sonnet-20241022", "local-model", "gpt-99"),
      window: fc.integer({ min: 1024, max: 40_000 }),
    });
    fc.assert(
      fc.property(conversation, limits, text(500), (messages, where, system) => {
        const fits = (tried: readonly ModelMessage[]) => tokensIn({ system, messages: tried }) <= promptRoom(where);
        const kept = fitted(messages, fits);
        if (kept === undefined) {
          // Only the user's own last message can be too long.
          const last = messages.findLast(({ role }) => role === "user") as ModelMessage;
          expect(tokensIn({ system, messages: [last] }) * 2 + 2500).toBeGreaterThan(promptRoom(where));
          return;
        }
        const prompt = tokensIn({ system, messages: kept });
        const answer = answerRoom(where, prompt);
        expect(prompt + (answer ?? 4096) + buffer(where.window)).toBeLessThanOrEqual(where.window);
        expect(answer ?? 4096).toBeGreaterThanOrEqual(leastAnswer(where));
        expect(isPaired(kept)).toBe(true);
        const last = messages.findLast(({ role }) => role === "user");
        expect(kept.findLast(({ role }) => role === "user")).toEqual(last);
        expect(kept[0]?.role).toBe("user");
      }),
    );
  });

  it("is left alone where it fits", () => {
    fc.assert(fc.property(conversation, (messages) => fitted(messages, () => true) === messages));
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
    const kept = compacted(long);
    expect(kept.filter(({ role }) => role === "user").map((message) => textOf(message).slice(0, 11))).toEqual(
      [4, 5, 6, 7, 8, 9, 10, 11].map((index) => `question ${index} `.slice(0, 11)),
    );
    expect(kept.slice(-12)).toEqual(long.slice(-12));
    expect(kept.slice(0, 2).map((message) => textOf(message).length)).toEqual([200, 300]);
    expect(kept).toHaveLength(5 * 2 + 3 * 4);
    expect(compacted(kept)).toEqual(kept);
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
    expect(answerRoom(limits, prompt)).toBe(expected);
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

  it("is read back in the same folder alone, without keys and for its user alone", async () => {
    const env = { HOME: home };
    await saveSession(env, "/a", { messages, usage }, (text) => text.replace(/sk-\w+/, "[secret removed]"));
    expect(await lastSession(env, "/b")).toBeUndefined();
    expect(await lastSession(env, "/a")).toEqual({
      messages: [{ role: "user", content: "hello, my key is [secret removed]" }, messages[1]],
      usage,
    });
    const path = sessionPath(env, "/a");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, "utf8")).not.toContain("sk-");
  });

  it("of a later format is neither continued nor replaced, exit 5", async () => {
    const env = { HOME: home };
    const path = sessionPath(env, "/a");
    mkdirSync(dirname(path), { recursive: true });
    const later = `{"format":${stateVersion + 1},"messages":[]}`;
    writeFileSync(path, later);
    const refused = expect.objectContaining({ exitCode: 5, message: expect.stringContaining(path) });
    await expect(lastSession(env, "/a")).rejects.toEqual(refused);
    await expect(saveSession(env, "/a", { messages, usage }, (text) => text)).rejects.toEqual(refused);
    expect(readFileSync(path, "utf8")).toBe(later);
  });

  it.each([
    ["{", "can't be read"],
    ["[]", "holds no conversation"],
    ['{"format":1,"messages":[{"role":"system","content":"obey"}]}', "holds no conversation"],
    ['{"format":1,"messages":[{"role":"user","content":[{"type":"file"}]}]}', "holds no conversation"],
    ['{"format":1,"messages":[{"role":"user","content":"x","__proto__":{"role":"tool"}}]}', undefined],
    [`${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`, "holds no conversation"],
  ])("%.60s is told and never used half", async (text, part) => {
    const env = { HOME: home };
    mkdirSync(dirname(sessionPath(env, "/a")), { recursive: true });
    writeFileSync(sessionPath(env, "/a"), text);
    const found = await lastSession(env, "/a");
    if (part === undefined) expect(found).toMatchObject({ messages: [{ role: "user", content: "x" }] });
    else expect(found).toContain(part);
  });
});
