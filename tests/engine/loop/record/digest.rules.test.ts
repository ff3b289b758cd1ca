import { describe, expect, test } from "vitest";
import { digestOf, digestText, emptyDigest } from "../../../../src/engine/loop/record/digest.js";
import type { AgentEvent } from "../../../../src/engine/loop/types.js";

const fold = (...events: readonly AgentEvent[]) => events.reduce(digestOf, emptyDigest);
const tool = (name: string, detail = ""): AgentEvent => ({ type: "tool", name, detail });
const says = (text: string): AgentEvent => ({ type: "text", text });
const ends = (message: string): AgentEvent => ({ type: "end", message });
const kindOf = (name: string, detail = "") => {
  const { counts } = fold(tool(name, detail));
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

  test.each(["sed -i s/a/b/ a.txt", "make cat", "catalog build", "test 1 -lt 2", "teetotal", "x=1; cat a.txt"])(
    "a shell that runs %s does neither",
    (command) => {
      expect(kindOf("Bash", command)).toEqual(["command"]);
    },
  );

  test("is counted by its whole label, in the order of its last time, of many the last 24", () => {
    const digest = fold(tool("Read", "a"), tool("Read", "b"), tool("Read", "a"), tool("Grep", "a"));
    expect(digest.steps).toEqual([
      { kind: "read", label: "Read b", times: 1, row: 1 },
      { kind: "read", label: "Read a", times: 2, row: 2 },
      { kind: "read", label: "Grep a", times: 1, row: 1 },
    ]);
    expect(digest.counts).toEqual({ read: 4, write: 0, command: 0, plan: 0 });
    expect(digest.repeated).toEqual({ read: 2, write: 0, command: 0, plan: 0 });
    const many = fold(...Array.from({ length: 30 }, (_, n) => tool("Read", `${n}`)));
    expect(many.steps.map(({ label }) => label)).toEqual(Array.from({ length: 24 }, (_, n) => `Read ${n + 6}`));
  });

  test("of two kinds under one label is told apart", () => {
    const { steps } = fold(says("I will read it"), tool("I", "will read it"));
    expect(steps).toEqual([
      { kind: "plan", label: "I will read it", times: 1, row: 1 },
      { kind: "command", label: "I will read it", times: 1, row: 1 },
    ]);
  });

  test("is labelled on one line of 90 characters, an ellipsis where more was cut", () => {
    const label = (detail: string) => fold(tool("Read", detail)).steps[0]?.label;
    expect(label("a\n\t b ")).toBe("Read a b");
    expect(label("x".repeat(85))).toBe(`Read ${"x".repeat(85)}`);
    expect(label("x".repeat(86))).toBe(`Read ${"x".repeat(84)}…`);
    expect(label(`x${" ".repeat(1_000)}`)).toBe("Read x…");
    expect(label(`x${" ".repeat(354)}`)).toBe("Read x");
  });
});

describe("what an agent says", () => {
  test("first and last are kept, its final message among them; silence changes nothing", () => {
    const digest = fold(says("One."), says("  \n"), says("Two."), ends("Three."));
    expect([digest.first, digest.last]).toEqual(["One.", "Three."]);
    expect(fold(ends("Only."))).toMatchObject({ first: "Only.", last: "Only." });
    expect(fold(says(""), ends(""))).toBe(emptyDigest);
    expect(fold({ type: "usage", usage: { input: 1, cached: 0, output: 0, requests: 1 } })).toBe(emptyDigest);
    expect(fold(says("x".repeat(420)), says("y".repeat(421)))).toMatchObject({
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
    expect(fold(says(text)).counts.plan).toBe(1);
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
    expect(fold(says(text)).counts.plan).toBe(0);
  });

  test("announces work only on the way: the final message repeats what was said", () => {
    expect(fold(ends("I will read.")).counts.plan).toBe(0);
    expect(fold(says("I will read."), ends("I will read.")).counts.plan).toBe(1);
    expect(fold(says(`I will ${"x".repeat(200)}`)).steps[0]?.label).toHaveLength(90);
  });
});

describe("a digest in words", () => {
  test("tells once what was said first and last alike, and no plans", () => {
    expect(
      digestText(
        fold(says("I will read."), tool("Read", "a"), tool("Read", "a"), tool("Write", "b"), ends("I will read.")),
      ),
    ).toBe("Said last: I will read.\nDid: Read a (2 times); Write b");
    expect(digestText(fold(tool("Read", "a")))).toBe("Did: Read a");
    expect(digestText(emptyDigest)).toBe("");
    expect(digestText(fold(says("One."), says("Two.")))).toBe("Said first: One.\nSaid last: Two.");
  });

  test("ends with an ellipsis where it was cut at 1,500 characters", () => {
    const reads = (count: number, length: number) =>
      Array.from({ length: count }, (_, n) => tool("R", `${n}`.padEnd(length, "x")));
    const long = digestText(fold(says("a".repeat(400)), ...reads(20, 80), says("b".repeat(400))));
    expect(long).toHaveLength(1500);
    expect(long.endsWith("…")).toBe(true);
    // "Did: ", 75 characters, 17 times 80, and what the last one adds.
    const upTo = (last: number) =>
      digestText(fold(tool("R", "x".repeat(73)), ...reads(17, 76), tool("R", "y".repeat(last))));
    expect([upTo(56).length, upTo(56).endsWith("…")]).toEqual([1500, false]);
    expect([upTo(57).length, upTo(57).endsWith("…")]).toEqual([1500, true]);
  });
});
