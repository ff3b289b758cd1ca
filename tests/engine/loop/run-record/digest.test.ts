import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readClaude } from "../../../../src/engine/agents/claude/stream.js";
import { readCodex } from "../../../../src/engine/agents/codex/stream.js";
import {
  digestWithEvent,
  digestText as textWithin,
  emptyDigest,
  withoutNames,
} from "../../../../src/engine/loop/run-record/digest.js";
import { loopSignsOf } from "../../../../src/engine/loop/stop-conditions/stuck.js";
import type { AgentEvent } from "../../../../src/engine/loop/types.js";

const maxDigest = 1_500;
const digestText = (digest: Parameters<typeof textWithin>[0]) => textWithin(digest, maxDigest);

const fold = (events: readonly AgentEvent[]) => events.reduce(digestWithEvent, emptyDigest);
const tool = (name: string, detail = ""): AgentEvent => ({ type: "tool", name, detail });
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
      digest = digestWithEvent(
        digestWithEvent(digest, tool("Read", `paper/${n}.txt ${"x".repeat(500)}`)),
        says("y".repeat(2_000)),
      );
    expect(digestText(digest).length).toBeLessThanOrEqual(maxDigest);
    expect(JSON.stringify(digest).length).toBeLessThan(10_000);
    expect(digest.counts.read).toBe(5_000);
  });

  test.each([
    ["exec", "bash -lc 'sed -n 1,40p paper/01.txt'", "read"],
    ["exec_command", "cat paper/01.txt", "read"],
    ["exec", "/usr/bin/bash -c cat paper/01.txt", "read"],
    ["exec", 'zsh -lc "  head -n 5 paper/01.txt"', "read"],
    ["exec", "node -e '1'; cat paper/01.txt", "command"],
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
    expect(loopSignsOf(digest, true, true)).toEqual([]);
  });
});
const foldOf = (...events: readonly AgentEvent[]) => events.reduce(digestWithEvent, emptyDigest);
const ends = (message: string): AgentEvent => ({ type: "end", message });
const kindOf = (name: string, detail = "") => {
  const { counts } = foldOf(tool(name, detail));
  return Object.entries(counts).flatMap(([kind, count]) => (count === 1 ? [kind] : []));
};

describe("what an agent does", () => {
  test.each([
    "Write",
    "Edit",
    "MultiEdit",
    "create",
    "apply_patch",
    "changes",
    "insert_text",
    "str_replace",
    "save_file",
  ])("%s writes", (name) => {
    expect(kindOf(name, "a.txt")).toEqual(["write"]);
  });

  test.each(["Read", "view", "open_file", "WebFetch", "WebSearch", "Grep", "Glob", "list_dir", "find", "get_page"])(
    "%s reads",
    (name) => {
      expect(kindOf(name, "a.txt")).toEqual(["read"]);
    },
  );

  test.each(["TodoWrite", "update_plan", "Think"])("%s plans, whatever else its name says", (name) => {
    expect(kindOf(name, "cat a.txt > b.txt")).toEqual(["plan"]);
  });

  test("a tool of any other name is a command", () => {
    expect(kindOf("Task", "do it")).toEqual(["command"]);
  });

  test.each(["Bash", "shell", "exec_command", "run_terminal_cmd", "local_shell_call", "terminal"])(
    "%s is known by what it runs",
    (name) => {
      expect(kindOf(name, "npm test")).toEqual(["command"]);
      expect(kindOf(name, "rg -n hands .")).toEqual(["read"]);
      expect(kindOf(name, "echo x > a.txt")).toEqual(["write"]);
    },
  );

  test.each([
    "echo x >> a.txt",
    "echo x >a.txt",
    "cat a > 'b c.txt'",
    'cat a >"$OUT"',
    "cat a >$OUT",
    "cat a > ../b",
    "sort a | tee b.txt",
    "apply_patch <<'EOF'",
  ])("a shell that runs %s writes", (command) => {
    expect(kindOf("Bash", command)).toEqual(["write"]);
  });

  test.each(["cat a.txt", " head -5 a.txt", "bash -lc 'sed -n 1,20p a.txt'", '/bin/zsh -c "ls -la"', "sh -lc wc a"])(
    "a shell that runs %s reads",
    (command) => {
      expect(kindOf("Bash", command)).toEqual(["read"]);
    },
  );

  test.each([
    "npm test 2>&1",
    "sed -i s/a/b/ a.txt",
    "make cat",
    "catalog build",
    "test 1 -lt 2",
    "teetotal",
    "x=1; cat a.txt",
  ])("a shell that runs %s does neither", (command) => {
    expect(kindOf("Bash", command)).toEqual(["command"]);
  });

  test("is counted by its whole label, in the order of its last time, of many the last 24", () => {
    const digest = foldOf(tool("Read", "a"), tool("Read", "b"), tool("Read", "a"), tool("Grep", "a"));
    expect(digest.steps).toEqual([
      { kind: "read", label: "Read b", times: 1, row: 1 },
      { kind: "read", label: "Read a", times: 2, row: 2 },
      { kind: "read", label: "Grep a", times: 1, row: 1 },
    ]);
    expect(digest.counts).toEqual({ read: 4, write: 0, command: 0, plan: 0 });
    expect(digest.repeated).toEqual({ read: 2, write: 0, command: 0, plan: 0 });
    const many = foldOf(...Array.from({ length: 30 }, (_, n) => tool("Read", `${n}`)));
    expect(many.steps.map(({ label }) => label)).toEqual(Array.from({ length: 24 }, (_, n) => `Read ${n + 6}`));
  });

  test("is repeated only where nothing new was written in between: the same content once more is nothing new", () => {
    const read = tool("Read", "a.txt");
    const write = (key?: string): AgentEvent => ({ ...tool("Write", "out.md"), ...(key === undefined ? {} : { key }) });
    const reads = (...events: AgentEvent[]) => foldOf(...events).repeated.read;
    expect(reads(read, read, tool("Bash", "npm test"), read, read)).toBe(4);
    expect(reads(read, read, write("1"), read, read)).toBe(2);
    expect(reads(write("1"), read, read, write("1"), read, read)).toBe(4);
    expect(reads(write("1"), read, read, write("2"), read, read)).toBe(2);
    // What an agent does not tell may be new.
    expect(reads(write(), read, read, write(), read, read)).toBe(2);
  });

  test("is written again where the file is, whatever is in it and whatever other file is written in between", () => {
    const writes = (...details: readonly string[]) =>
      foldOf(...details.map((detail, n): AgentEvent => ({ type: "tool", name: "Write", detail, key: `content ${n}` })));
    expect(writes("a", "a", "a")).toMatchObject({ repeated: { write: 3 }, remade: 0 });
    expect(writes("a", "b", "a", "b", "a")).toMatchObject({ repeated: { write: 3 }, remade: 0 });
  });

  test("is an edit made again where it is told to be the same; where nothing is told of it, the file written again", () => {
    const event = { type: "tool", name: "Edit", detail: "a" } as const;
    const edit = (key?: string): AgentEvent => (key === undefined ? event : { ...event, key });
    expect(foldOf(edit("1"), edit("2"), edit("1"))).toMatchObject({ repeated: { write: 0 }, remade: 2 });
    expect(foldOf(edit(), edit(), edit())).toMatchObject({ repeated: { write: 3 }, remade: 0 });
    const plan: AgentEvent = { ...event, name: "edit_plan", key: "1" };
    expect(foldOf(plan, plan)).toMatchObject({ repeated: { plan: 2 }, remade: 0 });
  });

  test("of two kinds under one label is told apart", () => {
    const { steps } = foldOf(says("I will read it"), tool("I", "will read it"));
    expect(steps).toEqual([
      { kind: "plan", label: "I will read it", times: 1, row: 1 },
      { kind: "command", label: "I will read it", times: 1, row: 1 },
    ]);
  });

  test("is labelled on one line of 90 characters, an ellipsis where more was cut", () => {
    const label = (detail: string) => foldOf(tool("Read", detail)).steps[0]?.label;
    expect(label("a\n\t b ")).toBe("Read a b");
    expect(label("x".repeat(85))).toBe(`Read ${"x".repeat(85)}`);
    expect(label("x".repeat(86))).toBe(`Read ${"x".repeat(84)}…`);
    expect(label(`x${" ".repeat(1_000)}`)).toBe("Read x…");
    expect(label(`x${" ".repeat(354)}`)).toBe("Read x");
  });
});

describe("what an agent says", () => {
  test("first and last are kept, its final message among them; silence changes nothing", () => {
    const digest = foldOf(says("One."), says("  \n"), says("Two."), ends("Three."));
    expect([digest.first, digest.last]).toEqual(["One.", "Three."]);
    expect(foldOf(ends("Only."))).toMatchObject({ first: "Only.", last: "Only." });
    expect(foldOf(says(""), ends(""))).toBe(emptyDigest);
    expect(foldOf({ type: "usage", usage: { input: 1, cached: 0, output: 0, requests: 1 } })).toBe(emptyDigest);
    expect(foldOf(says("x".repeat(420)), says("y".repeat(421)))).toMatchObject({
      first: "x".repeat(420),
      last: `${"y".repeat(419)}…`,
    });
  });

  test.each([
    "My plan is simple.",
    "The plan: read.",
    "Plan: read, write.",
    "Step 1 is reading.",
    "To do: read.",
    "Todo: read.",
    "Let me read.",
    "Let's read.",
    "Next, I read.",
    "Next I read.",
    "First, I read.",
    "First I read.",
    "Now I read.",
    "I'll read.",
    "I’ll read.",
    "I will read.",
    "I need to read.",
    "I should read.",
    "I am going to read.",
    "I'm going to read.",
    "I’m going to read.",
    "## Step 2",
    "1. Let me read.",
    "- **I will read.**",
    "> I need to read.",
    "2) to do",
  ])("%s announces work", (text) => {
    expect(foldOf(says(text)).counts.plan).toBe(1);
  });

  test.each([
    "The plans failed.",
    "The planar gripper holds.",
    "My planet.",
    "It says let me in.",
    "I read it.",
    "I willed it.",
    "Stepping in.",
    "Nextly I read.",
    "Planning is done.",
    "Todos are done.",
    "I'm done.",
    "Letters were read.",
    "The paper says: I will read.",
  ])("%s announces nothing", (text) => {
    expect(foldOf(says(text)).counts.plan).toBe(0);
  });

  test("announces work only on the way: the final message repeats what was said", () => {
    expect(foldOf(ends("I will read.")).counts.plan).toBe(0);
    expect(foldOf(says("I will read."), ends("I will read.")).counts.plan).toBe(1);
    expect(foldOf(says(`I will ${"x".repeat(200)}`)).steps[0]?.label).toHaveLength(90);
  });
});

describe("a digest in words", () => {
  test("tells once what was said first and last alike, and no plans", () => {
    expect(
      digestText(
        foldOf(says("I will read."), tool("Read", "a"), tool("Read", "a"), tool("Write", "b"), ends("I will read.")),
      ),
    ).toBe("Said last: I will read.\nDid: Read a (2 times); Write b");
    expect(digestText(foldOf(tool("Read", "a")))).toBe("Did: Read a");
    expect(digestText(emptyDigest)).toBe("");
    expect(digestText(foldOf(says("One."), says("Two.")))).toBe("Said first: One.\nSaid last: Two.");
  });

  test("ends with an ellipsis where it was cut at 1,500 characters", () => {
    const reads = (count: number, length: number) =>
      Array.from({ length: count }, (_, n) => tool("R", `${n}`.padEnd(length, "x")));
    const long = digestText(foldOf(says("a".repeat(400)), ...reads(20, 80), says("b".repeat(400))));
    expect(long).toHaveLength(1500);
    expect(long.endsWith("…")).toBe(true);
    // "Did: ", 75 characters, 17 times 80, and what the last one adds.
    const upTo = (last: number) =>
      digestText(foldOf(tool("R", "x".repeat(73)), ...reads(17, 76), tool("R", "y".repeat(last))));
    expect([upTo(56).length, upTo(56).endsWith("…")]).toEqual([1500, false]);
    expect([upTo(57).length, upTo(57).endsWith("…")]).toEqual([1500, true]);
  });
});

test("a text without names keeps neither what is in quotes, nor paths, nor numbers", () => {
  expect(withoutNames(`"a" 'b' \`c\` /tmp/x-1.txt took 2.5 s`)).toBe("… … … /… took 0 s");
});
