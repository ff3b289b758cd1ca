import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readClaude } from "../../../../src/engine/agents/claude/stream.js";
import { readCodex } from "../../../../src/engine/agents/codex/stream.js";
import { digestOf, digestText, emptyDigest, mostDigest } from "../../../../src/engine/loop/record/digest.js";
import { signsOf } from "../../../../src/engine/loop/guards/loop-detection.js";
import type { AgentEvent } from "../../../../src/engine/loop/types.js";

const fold = (events: readonly AgentEvent[]) => events.reduce(digestOf, emptyDigest);
const tool = (name: string, detail: string): AgentEvent => ({ type: "tool", name, detail });
const says = (text: string): AgentEvent => ({ type: "text", text });

describe("the digest of a run", () => {
  test("tells what was said first and last, and what was done, with repetitions counted", () => {
    const digest = fold([
      says("Reading."),
      tool("Read", "paper/01.txt"),
      tool("Read", "paper/01.txt"),
      tool("Write", "result.json"),
      says("Done."),
    ]);
    expect(digestText(digest)).toBe(
      "Said first: Reading.\nSaid last: Done.\nDid: Read paper/01.txt (2 times); Write result.json",
    );
    expect(digest.counts).toEqual({ read: 2, write: 1, command: 0, plan: 0 });
    expect(digest.repeated).toMatchObject({ read: 2, write: 1 });
  });

  test("stays within 1,500 characters, and so does what it is folded in, however much an agent does and says", () => {
    let digest = emptyDigest;
    for (let n = 0; n < 5_000; n += 1)
      digest = digestOf(digestOf(digest, tool("Read", `paper/${n}.txt ${"x".repeat(500)}`)), says("y".repeat(2_000)));
    expect(digestText(digest).length).toBeLessThanOrEqual(mostDigest);
    expect(JSON.stringify(digest).length).toBeLessThan(10_000);
    expect(digest.counts.read).toBe(5_000);
  });

  test.each([
    ["exec", "bash -lc 'sed -n 1,40p paper/01.txt'", "read"],
    ["exec_command", "cat paper/01.txt", "read"],
    ["Bash", "npm test", "command"],
    ["Bash", "cat > result.json <<'END'", "write"],
    ["file_change", "/w/result.json", "write"],
    ["create_file", "/w/result.json", "write"],
    ["web_search", "robots", "read"],
    ["TodoWrite", "1. read", "plan"],
  ])("%s %s is a %s", (name, detail, kind) => {
    expect(fold([tool(name, detail)]).counts).toMatchObject({ [kind]: 1 });
  });

  test.each([
    ["claude-success.jsonl", readClaude],
    ["codex-success.jsonl", readCodex],
  ])("the recorded run %s shows no sign of a loop", (file, reader) => {
    const lines = readFileSync(new URL(`../../../fixtures/agents/${file}`, import.meta.url), "utf8").split("\n");
    const { line } = reader();
    const digest = fold(lines.flatMap((each) => line(each)));
    expect(digest.counts.write).toBe(1);
    expect(signsOf(digest, true)).toEqual([]);
  });
});
