import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readAmp } from "../../../src/engine/agents/amp.js";
import { problemsOf } from "../../../src/engine/storage/schema-check.js";
import fc from "../../support/runner/fast-check.js";
import { fixture } from "./support.js";
import { readClaude } from "../../../src/engine/agents/claude/stream.js";
import { readCodex } from "../../../src/engine/agents/codex/stream.js";
import type { Reader } from "../../../src/engine/agents/definition.js";
import { readPlainText } from "../../../src/engine/agents/shared/plain-text.js";

/** What a reader says of these events, one by one. */
const feed = (reader: Reader, ...events: object[]) => events.map((event) => [...reader.line(JSON.stringify(event))]);
const done = (item: object) => ({ type: "item.completed", item });
const begun = (item: object) => ({ type: "item.started", item });
const command = { type: "command_execution", command: "ls" };
const said = (text: string) => done({ type: "agent_message", text });
const turn = { type: "turn.completed", usage: { input_tokens: 100, cached_input_tokens: 40, output_tokens: 7 } };

it("an event nested thousands deep is skipped, as a line that is no JSON is", () => {
  const deep = "[".repeat(50_000) + "]".repeat(50_000);
  const item = `{"type":"item.started","item":{"type":"mcp_tool_call","tool":"search","arguments":{"query":${deep}}}}`;
  const message = `{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"query":${deep}}}]}}`;
  expect([...readCodex().line(item)]).toEqual([]);
  expect([...readClaude().line(message)]).toEqual([]);
});

/** Every value in a JSON value, by the names that lead to it. */
function pathsIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, inner]) => pathsIn(inner, [...path, name]))];
}

function withValue(value: unknown, [name, ...rest]: readonly string[], odd: unknown): unknown {
  if (name === undefined) return odd;
  const copy = structuredClone(value) as Record<string, unknown>;
  copy[name] = withValue(copy[name], rest, odd);
  return copy;
}

describe("a field of an odd type", () => {
  const readers = { claude: readClaude, codex: readCodex, amp: readAmp, plain: readPlainText };
  const recorded = readdirSync(fixture("x").replace(/x\.jsonl$/, ""))
    .flatMap((name) =>
      readFileSync(fixture(name.replace(/\.jsonl$/, "")), "utf8")
        .trimEnd()
        .split("\n"),
    )
    .map((line) => JSON.parse(line) as object);
  // Events that the recorded streams lack.
  const more = [
    { type: "system", subtype: "api_retry", attempt: 1, max_retries: 3, error_status: 529, error: "overloaded" },
    { type: "rate_limit_event", rate_limit_info: { status: "rejected", resetsAt: 1_790_000_000 } },
    { type: "assistant", error: "rate_limit", message: { content: [{ type: "tool_use", name: "x", input: {} }] } },
    {
      type: "result",
      subtype: "success",
      is_error: true,
      errors: ["x"],
      result: "",
      permission_denials: [{ tool_name: "x" }],
    },
    { type: "item.completed", item: { type: "file_change", changes: [{ path: "a" }] } },
    { type: "turn.failed", error: { message: "x" } },
    { type: "error", message: "x" },
  ];
  const unprintable = { toString: 1, valueOf: [], toJSON: "x" };
  const odd = fc.oneof(
    fc.constantFrom<unknown>(
      null,
      true,
      -1,
      1e308,
      "",
      [],
      {},
      unprintable,
      [unprintable],
      "constructor",
      "__proto__",
      "toString",
    ),
    fc.jsonValue({ maxDepth: 2 }),
  );

  it.each(Object.entries(readers))("never throws, and tells only events of the schema: %s", (_, reader) => {
    const told = (event: unknown) =>
      expect(problemsOf("event", { type: "agent", at: "x", iteration: 1, event }), JSON.stringify(event)).toEqual([]);
    for (const event of [...recorded, ...more])
      for (const path of pathsIn(event))
        fc.assert(
          fc.property(odd, (value) => {
            const reading = reader();
            const lines = [withValue(event, path, value), { type: "turn.failed" }, { type: "result" }];
            for (const line of lines.slice(0, 2)) for (const said of reading.line(JSON.stringify(line))) told(said);
            const { message = "", failure } = reading.answer();
            told({ type: "end", message, ...(failure === undefined ? {} : { failure }) });
            [...reading.line(JSON.stringify(lines[2]))].forEach(told);
            expect(typeof reading.isFinished()).toBe("boolean");
            reading.answer();
          }),
          { numRuns: 7 },
        );
  });
});

describe("the stream of codex", () => {
  it("says each tool once, as it begins, and each whole message", () => {
    const told = feed(
      readCodex(),
      begun(command),
      done(command),
      begun({ type: "agent_message", text: "Hal" }),
      said("Half."),
      done({ type: "reasoning" }),
      { type: "thread.started" },
    );
    expect(told).toEqual([
      [{ type: "tool", name: "command_execution", detail: "ls", key: expect.any(String) }],
      [],
      [],
      [{ type: "text", text: "Half." }],
      [],
      [],
    ]);
  });

  it("has the last message for its answer only where no work came after it and the turn ended well", () => {
    const reader = readCodex();
    feed(reader, said("First."));
    expect([reader.isFinished(), reader.answer()]).toEqual([false, {}]);
    feed(reader, said("Second."), turn);
    expect([reader.isFinished(), reader.answer()]).toEqual([true, { message: "Second." }]);
    feed(reader, begun(command), turn);
    expect(reader.answer()).toEqual({ message: "" });
    feed(reader, { type: "turn.failed", error: {} });
    expect(reader.answer()).toMatchObject({
      failure: { kind: "crashed", message: "codex ended with an error: the turn failed." },
    });
  });

  it("counts a request for every answer that calls tools, however many it calls, and sums turns", () => {
    const one = readCodex();
    expect(feed(one, said("x"), turn).at(-1)).toEqual([
      { type: "usage", usage: { input: 100, cached: 40, output: 7, requests: 1, largest: 107 } },
    ]);
    for (const next of [done({ type: "reasoning" }), said("Then:")]) {
      const reader = readCodex();
      feed(reader, begun(command), begun(command), done(command), done(command), next, begun(command));
      expect(feed(reader, turn)).toEqual([
        [{ type: "usage", usage: { input: 100, cached: 40, output: 7, requests: 3 } }],
      ]);
      expect(feed(reader, turn)).toEqual([
        [{ type: "usage", usage: { input: 200, cached: 80, output: 14, requests: 3 } }],
      ]);
    }
    const silent = readCodex();
    feed(silent, begun(command), done({ type: "todo_list" }), begun(command));
    expect(feed(silent, turn)).toMatchObject([[{ usage: { requests: 2 } }]]);
  });

  it("takes an error for no end, but for the cause where nothing else is told", () => {
    const reader = readCodex();
    expect(
      feed(
        reader,
        { type: "error", message: "Something odd" },
        done({ type: "error", message: "A warning." }),
        done({ type: "error" }),
      ),
    ).toEqual([
      [{ type: "notice", message: "Something odd" }],
      [{ type: "notice", message: "A warning" }],
      [{ type: "notice", message: "" }],
    ]);
    expect(reader.isFinished()).toBe(false);
    expect(reader.answer()).toEqual({
      failure: { kind: "crashed", message: "codex ended with an error: Something odd." },
    });
    feed(reader, { type: "error" });
    expect(reader.answer()).toMatchObject({ failure: { message: expect.stringContaining("Something odd") } });
    feed(reader, { type: "turn.failed", error: { message: "You've hit your usage limit." } });
    expect([reader.isFinished(), reader.answer()]).toMatchObject([true, { failure: { kind: "rate-limit" } }]);
  });
});

describe("the stream of claude", () => {
  const ended = (over: object = {}) => ({
    type: "result",
    subtype: "success",
    is_error: false,
    result: "Done.",
    ...over,
  });
  const failureOf = (...events: object[]) => {
    const reader = readClaude();
    feed(reader, ...events);
    return reader.answer().failure;
  };

  it("ends well only with success and without an error; else the most telling words are the reason", () => {
    expect(failureOf(ended())).toBeUndefined();
    expect(failureOf(ended({ subtype: "error_max_budget_usd" }))).toEqual({
      kind: "budget",
      message: expect.stringContaining("at its budget"),
    });
    expect(
      failureOf(ended({ subtype: "error_max_turns", result: " ", errors: [1, "It took too many turns", {}] })),
    ).toEqual({ kind: "crashed", message: "claude ended with an error: It took too many turns." });
    expect(failureOf(ended({ subtype: "error_max_turns", result: undefined }))).toEqual({
      kind: "crashed",
      message: "claude ended with an error: error_max_turns.",
    });
    expect(failureOf()).toBeUndefined();
  });

  it("knows a failure of the service by its status, by the error it names, or by the words, in this order", () => {
    const wrong = (over: object) => ended({ is_error: true, result: "Something", ...over });
    expect(failureOf(wrong({ api_error_status: 401 }))).toMatchObject({ kind: "auth" });
    expect(failureOf(wrong({ api_error_status: 529 }))).toMatchObject({ kind: "rate-limit" });
    expect(failureOf(wrong({ result: "", api_error_status: 503 }))).toMatchObject({
      kind: "network",
      message: expect.stringContaining("503"),
    });
    expect(failureOf(wrong({ result: "connection refused" }))).toMatchObject({ kind: "network" });
    expect(failureOf(wrong({}))).toMatchObject({ kind: "crashed", message: "claude ended with an error: Something." });
    const retry = { type: "system", subtype: "api_retry", error: "overloaded", attempt: 1, max_retries: 10 };
    expect(failureOf(retry, wrong({}))).toMatchObject({ kind: "rate-limit" });
    expect(failureOf({ ...retry, error_status: 503 }, wrong({}))).toMatchObject({ kind: "network" });
    expect(failureOf({ ...retry, error_status: 503 }, wrong({ api_error_status: 401 }))).toMatchObject({
      kind: "auth",
    });
    expect(failureOf({ ...retry, subtype: "status" }, wrong({}))).toMatchObject({ kind: "crashed" });
    const answer = (error?: string) => ({ type: "assistant", message: { id: "m", content: [] }, error });
    expect(failureOf(answer("authentication_failed"), wrong({ api_error_status: 503 }))).toMatchObject({
      kind: "auth",
    });
    expect(failureOf(answer("authentication_failed"), answer(), wrong({ api_error_status: 503 }))).toMatchObject({
      kind: "network",
    });
    // What was tried again has come right.
    expect(failureOf(retry, answer(), wrong({}))).toMatchObject({ kind: "crashed" });
  });

  it("has the reset of a limit from the event that rejects, for a limit alone", () => {
    const limit = (status: string, resetsAt?: unknown) => ({
      type: "rate_limit_event",
      rate_limit_info: { status, resetsAt },
    });
    const limited = ended({ is_error: true, result: "usage limit", api_error_status: 429 });
    expect(failureOf(limit("rejected", 1_800_000_000), limited)).toMatchObject({
      reset_at: "2027-01-15T08:00:00.000Z",
    });
    for (const other of [limit("allowed", 1_800_000_000), limit("rejected"), limit("rejected", "soon")]) {
      expect(failureOf(other, limited)).not.toHaveProperty("reset_at");
    }
    expect(
      failureOf(limit("rejected", 1_800_000_000), ended({ is_error: true, api_error_status: 401 })),
    ).not.toHaveProperty("reset_at");
  });

  it("sums the models of the result, or takes its own usage where it names none", () => {
    const usage = { input_tokens: 5, cache_read_input_tokens: 3, cache_creation_input_tokens: 2, output_tokens: 4 };
    const model = (input: number) => ({
      inputTokens: input,
      cacheCreationInputTokens: 2,
      cacheReadInputTokens: 3,
      outputTokens: 4,
    });
    const usageOf = (over: object) => feed(readClaude(), ended(over)).flat().at(-1);
    expect(usageOf({ usage, modelUsage: { a: model(10), b: model(20) } })).toMatchObject({
      usage: { input: 40, cached: 6, output: 8 },
    });
    expect(usageOf({ usage, modelUsage: {} })).toMatchObject({ usage: { input: 10, cached: 3, output: 4 } });
  });
});

describe("a plain text", () => {
  it("has the block before it as its answer too, where the last block is the sentinel alone", () => {
    const reader = readPlainText();
    for (const line of ["Thinking.", "", "{", '"a": 1', "}", "", "<promise>COMPLETE</promise>"]) reader.line(line);
    expect(reader.answer().message).toBe('{\n"a": 1\n}\n<promise>COMPLETE</promise>');
  });

  it("has no end of its own, no blank line in its message, and up to 20,000 characters", () => {
    const reader = readPlainText();
    expect([reader.isFinished(), reader.answer()]).toEqual([false, { message: "" }]);
    for (const line of ["First.", " \t", "  Second.  "]) reader.line(line);
    expect(reader.line("")).toEqual([]);
    expect([reader.isFinished(), reader.answer()]).toEqual([false, { message: "  Second." }]);
    const full = readPlainText();
    for (const line of ["a".repeat(9_999), "b".repeat(9_999)]) full.line(line);
    expect(full.answer().message).toHaveLength(19_999);
    full.line("c");
    expect(full.answer().message).toBe(`${"b".repeat(9_999)}\nc`);
  });
});
