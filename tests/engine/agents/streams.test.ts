import { describe, expect, it } from "vitest";
import { readAmp } from "../../../src/engine/agents/amp.js";
import { readClaude } from "../../../src/engine/agents/claude/stream.js";
import { readCodex } from "../../../src/engine/agents/codex/stream.js";
import type { Reader } from "../../../src/engine/agents/definition.js";
import { ralph } from "../../../src/engine/agents/ralph.js";
import { readPlainText } from "../../../src/engine/agents/shared/plain-text.js";
import type { AgentEvent } from "../../../src/engine/loop/types.js";
import { fixtureLines } from "./support.js";

function feed(reader: Reader, lines: readonly (string | object)[]): AgentEvent[] {
  return lines.flatMap((line) => reader.line(typeof line === "string" ? line : JSON.stringify(line)));
}
const usageOf = (events: readonly AgentEvent[]) => events.findLast((event) => event.type === "usage");

describe("the stream of ralph", () => {
  it("says that a free model costs nothing before its first answer, and nothing of the cost of another", () => {
    const started = { type: "start", provider: "compatible", model: "qwen3", window: 8192 };
    expect(usageOf(feed(ralph.reader(), [{ ...started, cost_usd: 0 }]))).toMatchObject({ cost_usd: 0, model: "qwen3" });
    expect(feed(ralph.reader(), [started])).toEqual([]);
  });
});

describe("the stream of claude", () => {
  it("is read to text, tools, usage with the cache counted in, cost and model", () => {
    const reader = readClaude();
    const events = feed(reader, fixtureLines("claude-success"));
    expect(events).toContainEqual({
      type: "tool",
      name: "Write",
      detail: "/tmp/agents/workspace/result.json",
      key: expect.any(String),
    });
    expect(usageOf(events)).toEqual({
      type: "usage",
      usage: { input: 2000, cached: 400, output: 100, requests: 2, largest: 1001 },
      billing: "api",
      cost_usd: expect.closeTo(0.00848),
      model: "claude-opus-5-5",
      version: "2.1.330",
    });
    expect(reader.isFinished()).toBe(true);
    expect(reader.answer()).toEqual({ message: "Done.\n\n<promise>COMPLETE</promise>" });
  });

  it("tells an API error from an answer although both are of subtype success", () => {
    for (const [name, kind] of [
      ["claude-429", "rate-limit"],
      ["claude-401", "auth"],
    ] as const) {
      const reader = readClaude();
      feed(reader, fixtureLines(name));
      expect(reader.answer()).toMatchObject({ failure: { kind } });
      expect(reader.answer().message).toBeUndefined();
    }
  });

  it("takes the reset of a limit from the event that tells it", () => {
    const reader = readClaude();
    feed(reader, [
      { type: "rate_limit_event", rate_limit_info: { status: "rejected", resetsAt: 1_800_000_000 } },
      ...fixtureLines("claude-429"),
    ]);
    expect(reader.answer().failure?.reset_at).toBe("2027-01-15T08:00:00.000Z");
  });

  it("leaves a reset out that is no time", () => {
    const reader = readClaude();
    feed(reader, [
      { type: "rate_limit_event", rate_limit_info: { status: "rejected", resetsAt: 1e300 } },
      ...fixtureLines("claude-429"),
    ]);
    expect(reader.answer()).toMatchObject({ failure: { kind: "rate-limit" } });
    expect(reader.answer().failure?.reset_at).toBeUndefined();
  });

  it("counts nothing for tokens and money that can't be: the ledger takes whole numbers from 0", () => {
    const reader = readClaude();
    const usage = {
      input_tokens: 10.4,
      output_tokens: -5,
      cache_read_input_tokens: 1e300,
      cache_creation_input_tokens: "7",
    };
    const events = feed(reader, [
      { type: "assistant", message: { id: "1", usage } },
      { type: "result", subtype: "success", usage, total_cost_usd: -1 },
    ]);
    expect(usageOf(events)).toEqual({
      type: "usage",
      usage: { input: 10, cached: 0, output: 0, requests: 1, largest: 10 },
      cost_usd: undefined,
      model: undefined,
    });
  });

  it("takes the last of several results, and none when work has begun again", () => {
    const result = (text: string) => ({
      type: "result",
      subtype: "success",
      is_error: false,
      result: text,
      total_cost_usd: 1,
    });
    const init = { type: "system", subtype: "init", model: "m" };
    const reader = readClaude();
    feed(reader, [init, result("first"), init]);
    expect(reader.isFinished()).toBe(false);
    expect(reader.answer()).toEqual({});
    feed(reader, [result("second")]);
    expect(reader.answer()).toEqual({ message: "second" });
  });

  it("takes a retry for the reason of an end without a result, and forgets it once an answer came", () => {
    const retry = {
      type: "system",
      subtype: "api_retry",
      attempt: 1,
      max_retries: 3,
      error_status: 529,
      error: "overloaded",
    };
    const waiting = readClaude();
    expect(feed(waiting, [retry])).toEqual([{ type: "notice", message: expect.stringContaining("529") }]);
    expect(waiting.answer()).toMatchObject({ failure: { kind: "rate-limit" } });
    const recovered = readClaude();
    feed(recovered, [
      retry,
      { type: "assistant", message: { id: "1", content: [] } },
      { type: "result", subtype: "error_max_turns", is_error: true, errors: ["Reached maximum number of turns"] },
    ]);
    expect(recovered.answer()).toMatchObject({
      failure: { kind: "crashed", message: expect.stringContaining("maximum number of turns") },
    });
  });

  it("shows what was denied, because that fails silently otherwise", () => {
    const denied = {
      type: "result",
      subtype: "success",
      is_error: false,
      result: "",
      permission_denials: [{ tool_name: "Read", tool_input: { file_path: "/etc/passwd" } }],
    };
    expect(feed(readClaude(), [denied])).toContainEqual({ type: "notice", message: "Refused: Read /etc/passwd" });
  });
});

describe("the stream of codex", () => {
  it("is read to text, tools, usage and the final message", () => {
    const reader = readCodex();
    const events = feed(reader, fixtureLines("codex-success"));
    expect(events).toContainEqual({ type: "tool", name: "file_change", detail: "/tmp/agents/workspace/result.json" });
    expect(usageOf(events)).toEqual({ type: "usage", usage: { input: 2000, cached: 400, output: 100, requests: 2 } });
    expect(reader.answer()).toEqual({ message: "Done.\n\n<promise>COMPLETE</promise>" });
  });

  it("takes no message for the final one when work came after it", () => {
    const reader = readCodex();
    feed(reader, [
      { type: "item.completed", item: { type: "agent_message", text: "<promise>COMPLETE</promise>" } },
      { type: "item.completed", item: { type: "command_execution", command: "true" } },
      { type: "turn.completed", usage: {} },
    ]);
    expect(reader.answer()).toEqual({ message: "" });
  });

  it("is not ended by an error event, only by turn.failed", () => {
    const reader = readCodex();
    feed(reader, [{ type: "error", message: "Reconnecting... 1/5 (unexpected status 503)" }]);
    expect(reader.isFinished()).toBe(false);
    feed(reader, [
      { type: "item.completed", item: { type: "agent_message", text: "Done." } },
      { type: "turn.completed", usage: {} },
    ]);
    expect(reader.answer()).toEqual({ message: "Done." });
    for (const [name, kind] of [
      ["codex-429", "rate-limit"],
      ["codex-401", "auth"],
    ] as const) {
      const failed = readCodex();
      feed(failed, fixtureLines(name));
      expect(failed.answer()).toMatchObject({ failure: { kind } });
    }
  });

  it("takes the last error for the reason of an end without a turn's end", () => {
    const reader = readCodex();
    feed(reader, [{ type: "error", message: "stream disconnected before completion: error sending request" }]);
    expect(reader.answer()).toMatchObject({ failure: { kind: "network" } });
  });
});

describe("the stream of amp", () => {
  it("is read to text, tools, usage and the result, without the echo of the brief", () => {
    const reader = readAmp();
    const events = feed(reader, fixtureLines("amp-success"));
    expect(events).toEqual([
      { type: "text", text: "Writing." },
      { type: "tool", name: "create_file", detail: "/tmp/agents/workspace/result.json", key: expect.any(String) },
      {
        type: "usage",
        usage: { input: 1000, cached: 900, output: 20, requests: 1, largest: 1020 },
        model: "amp-model",
      },
      { type: "text", text: "Done." },
      {
        type: "usage",
        usage: { input: 2000, cached: 1890, output: 25, requests: 2, largest: 1020 },
        model: "amp-model",
      },
    ]);
    expect(reader.answer()).toEqual({ message: "Done." });
  });

  it("takes an error and a cancellation for failures although amp exits with 0", () => {
    const limited = readAmp();
    feed(limited, fixtureLines("amp-error"));
    expect(limited.answer()).toMatchObject({ failure: { kind: "rate-limit", reset_at: expect.any(String) } });
    const cancelled = readAmp();
    feed(cancelled, fixtureLines("amp-cancelled"));
    expect(cancelled.answer()).toMatchObject({ failure: { kind: "aborted" } });
  });
});

describe("a plain text", () => {
  it("has its last block for the final message", () => {
    const reader = readPlainText();
    feed(reader, [
      "I will print <promise>COMPLETE</promise> later.",
      "",
      "Done.",
      "<promise>COMPLETE</promise>",
      "",
      " ",
    ]);
    expect(reader.answer()).toEqual({ message: "Done.\n<promise>COMPLETE</promise>" });
  });

  it("keeps the end of an endless block", () => {
    const reader = readPlainText();
    for (let i = 0; i < 100_000; i++) reader.line(`line ${i}`);
    const { message = "" } = reader.answer();
    expect(message.length).toBeLessThan(25_000);
    expect(message.endsWith("line 99999")).toBe(true);
  });

  it("keeps the last 20,000 characters of a block, whatever stood before them", () => {
    const long = "a".repeat(15_000);
    const lines = [`${"x".repeat(60_000)}`, "b", long, "c", "<promise>COMPLETE</promise>"];
    const reader = readPlainText();
    expect(reader.line(lines[0] ?? "")).toEqual([{ type: "text", text: "x".repeat(20_000) }]);
    feed(reader, lines.slice(1));
    expect(reader.answer()).toEqual({ message: lines.slice(1).join("\n") });
    // One line alone is kept in part, at its end.
    const one = readPlainText();
    one.line(`${"x".repeat(60_000)}end `);
    expect(one.answer()).toEqual({ message: `${"x".repeat(19_997)}end` });
  });
});

describe("any stream", () => {
  it("may carry lines that nobody knows", () => {
    const lines = [
      "",
      "not json",
      "{",
      "{}",
      "[]",
      "null",
      '{"type":"new"}',
      '{"type":"assistant"}',
      '{"type":"result"}',
      '{"type":"item.completed"}',
      '{"type":"turn.completed"}',
    ];
    for (const reader of [readClaude(), readCodex(), readAmp()]) expect(() => feed(reader, lines)).not.toThrow();
  });
});
