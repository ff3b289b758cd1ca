import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readAmp } from "../../../../src/engine/agents/amp.js";
import { readClaude } from "../../../../src/engine/agents/claude/stream.js";
import { readCodex } from "../../../../src/engine/agents/codex/stream.js";
import { likenessOf, sketchOf } from "../../../../src/engine/lib/minhash.js";
import { digestWithEvent, emptyDigest } from "../../../../src/engine/loop/run-record/digest.js";
import { defaultHistoryLimits } from "../../../../src/engine/lib/history-limits.js";
import { longestRepetition, loopSignsOf } from "../../../../src/engine/loop/stop-conditions/stuck.js";
import type { AgentEvent } from "../../../../src/engine/loop/types.js";
import type { Observation } from "../../../../src/engine/generated/memory.js";

const rowIn = (observations: readonly Observation[]) => longestRepetition(observations, defaultHistoryLimits);
const use = (name: string, input: object) => ({ type: "tool_use", name, input });
const say = (text: string) => ({ type: "text", text });
/** What Claude Code's stream of these blocks, one message each, shows without a result. */
function signs(blocks: readonly object[], { left = false, whole = true } = {}) {
  const { line } = readClaude();
  const events = blocks.flatMap((block, n) =>
    line(JSON.stringify({ type: "assistant", message: { id: `m${n}`, content: [block], usage: {} } })),
  );
  return loopSignsOf(events.reduce(digestWithEvent, emptyDigest), left, whole);
}
const times = <T>(count: number, ...blocks: T[]): T[] => Array.from({ length: count }, () => blocks).flat();

const edit = (from: string, to: string) =>
  use("Edit", { file_path: "/w/result.json", old_string: from, new_string: to });
const read = (offset: number) => use("Read", { file_path: "/w/paper.txt", offset, limit: 200 });
const run = (command: string) => use("Bash", { command });

describe("within one run", () => {
  test("the same file read in other parts is progress; the same parts over and over are a loop", () => {
    const parts = Array.from({ length: 12 }, (_, n) => read(n * 200));
    expect(signs([...parts, run("python3 check.py")])).toEqual([]);
    expect(signs([...times(4, ...parts.slice(0, 3)), run("python3 check.py")])).toEqual(["read-loop"]);
  });

  test("commands that begin alike are not the same", () => {
    const long = `cd /a/very/long/path/that/fills/the/whole/label/of/a/step/in/the/digest/of/a/run/and/more && `;
    expect(signs([1, 2, 3, 4].map((n) => run(`${long}./try ${n}`)))).toEqual([]);
    expect(signs(times(3, run(`${long}./try 1`)))).toEqual(["command-loop"]);
  });

  test("a test run again after each change is work, and without a change a loop", () => {
    const suite = run("npm test");
    const mended = ["a", "b", "c", "d", "e"].flatMap((letter) => [suite, edit(letter, `${letter}!`)]);
    expect(signs([...mended, suite])).toEqual([]);
    expect(signs([edit("a", "b"), ...times(3, suite)])).toEqual(["command-loop"]);
    expect(signs([...times(3, suite), edit("a", "b")], { left: true })).toEqual([]);
  });

  test("two edits that undo each other are a loop, with tests between them too; as many different ones are none", () => {
    expect(signs(times(3, edit("a", "b"), edit("b", "a")), { left: true })).toEqual(["redundant-writes"]);
    expect(signs(times(3, edit("a", "b"), run("npm test"), edit("b", "a"), run("npm test")), { left: true })).toEqual([
      "redundant-writes",
    ]);
    expect(signs(["a", "b", "c", "d", "e", "f", "g"].map((letter) => edit(letter, `${letter}!`)))).toEqual([]);
  });

  test("commands in a cycle of three are a loop", () => {
    expect(signs(times(3, run("make"), run("make check"), run("git status")))).toEqual(["command-loop"]);
  });

  test.each([
    "Certainly! Before anything else, an outline of how this will be approached: sections, then tables.",
    "Voici comment je vais procéder.",
    "我将首先阅读这篇论文。",
    "Could you tell me which journal you prefer?",
    "Everything is prepared; reading begins shortly.",
  ])("who only speaks does nothing, in whatever words: %s", (words) => {
    expect(signs([say(words)])).toEqual(["planning-loop"]);
    expect(signs([say(words)], { left: true })).toEqual([]);
    // Ended by a clock, it might have begun.
    expect(signs([say(words)], { whole: false })).toEqual([]);
  });

  test("an object that can't be read is an attempt, no plan", () => {
    expect(signs([say('{"unit": "p1", "summary": "It works."')])).toEqual([]);
    expect(signs([say('```json\n{"unit": }\n```')])).toEqual([]);
  });

  test("a run that was ended while it read shows nothing by that alone", () => {
    expect(signs([read(0), read(200)], { whole: false })).toEqual([]);
    expect(signs([read(0), read(200)])).toEqual(["read-loop"]);
  });
});

describe("over several runs", () => {
  const seen = (iteration: number, words: string, over: Partial<Observation> = {}): Observation => {
    const sketch = sketchOf(words);
    return {
      iteration,
      unit: `p${iteration}`,
      outcome: "refused",
      said: "it left no result",
      answer: words,
      ...(sketch === undefined ? {} : { sketch }),
      ...over,
    };
  };
  const excuses = [
    "I could not find the paper's text in the workspace, so no result was written.",
    "The text of the paper was not found in the workspace; I wrote no result.",
    "There is no paper text in the workspace that I could find, therefore I have written no result.",
    "In the workspace the text of the paper could not be found, and I wrote no result for it.",
    "As I found no text of the paper within the workspace, a result was not written.",
  ];

  test("the same answer in other words is the same answer, where it is refused for the same reasons", () => {
    expect(rowIn(excuses.map((words, n) => seen(n + 1, words)))).toEqual({ kind: "identical-answers", length: 5 });
    expect(
      rowIn(
        excuses.map((words, n) =>
          seen(n + 1, words, { said: ["no result", "bad scores", "no quotes", "wrong unit", "too long"][n] ?? "" }),
        ),
      ),
    ).toBeUndefined();
  });

  test("reasons that differ in numbers and names alone are the same", () => {
    expect(
      rowIn(excuses.map((words, n) => seen(n + 1, words, { said: `no result for "p${n}" (${n} of 9)` }))),
    ).toMatchObject({ length: 5 });
  });

  test("a result and last words are two answers, and so are two of which too few words were kept to compare them", () => {
    const [words = ""] = excuses;
    expect(rowIn([seen(1, words), seen(2, words, { answer: "other" })])).toMatchObject({ length: 2 });
    expect(rowIn([seen(1, words, { left: true }), seen(2, words, { answer: "other" })])).toBeUndefined();
    expect(rowIn([seen(1, words), seen(2, words, { answer: "other", left: true })])).toBeUndefined();
    expect(rowIn([seen(1, "ok"), seen(2, words)])).toBeUndefined();
    expect(rowIn([seen(1, words), seen(2, "ok")])).toBeUndefined();
  });

  test("results have to share more of their words than last words do, as those of one form share much", () => {
    const begin = `${"The method trains a policy with reinforcement learning in simulation and transfers it to a real hand. "}${"It reaches 87 percent on unseen objects."}`;
    const more = `${begin} The limits are rigid objects, a single gripper, few deployments, long sequences and missing ligands in all of it.`;
    const likeness = likenessOf(sketchOf(begin) ?? "", sketchOf(more) ?? "");
    expect(likeness).toBeGreaterThan(0.45);
    expect(likeness).toBeLessThan(0.7);
    expect(rowIn([seen(1, begin), seen(2, more)])).toMatchObject({ length: 2 });
    expect(rowIn([seen(1, begin, { left: true }), seen(2, more, { left: true })])).toBeUndefined();
  });

  const readings = [
    "The method trains a policy with reinforcement learning in simulation and transfers it to a real hand. It reaches 87 percent on unseen objects. The limits are tactile sensing and slow inference.",
    "The authors propose a transformer for protein structure that predicts contacts from sequences alone. It improves accuracy by five points. The limits are long sequences and missing ligands.",
    "This paper introduces a benchmark for robot grasping with 1,200 objects. Methods are compared by success rate. The limits are rigid objects and a single gripper.",
    "A survey of federated learning in hospitals: privacy, heterogeneity and communication are discussed over ninety studies. The limits are few deployments.",
    "A battery chemistry without cobalt is tested over a thousand cycles and keeps 92 percent of its capacity. The limits are temperature and cost.",
  ];

  test("honest readings of different papers are no loop, even where all are refused for the same reason", () => {
    const refused = readings.map((words, n) =>
      seen(n + 1, words, { left: true, said: `fewer than half of the quotes were found (${n} of 9)` }),
    );
    expect(rowIn(refused)).toBeUndefined();
    for (const a of refused)
      for (const b of refused) if (a !== b) expect(likenessOf(a.sketch ?? "", b.sketch ?? "")).toBeLessThan(0.45);
  });

  test("a result in other words is the same where its refusal is the same to the letter, and none where it names other numbers", () => {
    const results = (said: (n: number) => string) =>
      [1, 2, 3].map((n) => seen(n, `${readings[0]} Version ${n}.`, { left: true, said: said(n) }));
    expect(rowIn(results(() => "the scores are missing"))).toEqual({ kind: "identical-answers", length: 3 });
    expect(rowIn(results((n) => `quote ${n} is nowhere in the text`))).toBeUndefined();
  });

  test("an attempt that mends one thing and meets another reason is no repetition", () => {
    const mended = [1, 2, 3].map((n) =>
      seen(n, `${readings[0]} Mended ${n}.`, {
        unit: "p1",
        left: true,
        said: ["bad quote", "bad score", "bad date"][n - 1] ?? "",
      }),
    );
    expect(rowIn(mended)).toBeUndefined();
  });

  test("last words after failures of different kinds are no repetition, whatever the failures said", () => {
    const failed = (kinds: readonly string[]) =>
      kinds.map((failure, n) => seen(n + 1, excuses[n] ?? "", { outcome: "failed", failure, said: "it was ended" }));
    expect(rowIn(failed(["idle", "idle"]))).toEqual({ kind: "identical-answers", length: 2 });
    expect(rowIn(failed(["idle", "crashed"]))).toBeUndefined();
  });

  test("runs without an answer take turns by how they ended, and an answer is none of them", () => {
    const silent = (iteration: number, failure: string): Observation => ({
      iteration,
      unit: `p${iteration}`,
      outcome: "failed",
      failure,
      said: "it was ended",
    });
    const turns = (one: string, other: string) => [1, 2, 3, 4].map((n) => silent(n, n % 2 === 0 ? one : other));
    expect(rowIn(turns("idle", "crashed"))).toEqual({ kind: "oscillation", length: 2 });
    expect(rowIn(turns("idle", "idle"))).toBeUndefined();
    const spoke = (n: number) =>
      seen(n, excuses[0] ?? "", { outcome: "failed", failure: "idle", said: "it was ended" });
    for (const first of [0, 1])
      expect(rowIn([1, 2, 3, 4].map((n) => (n % 2 === first ? spoke(n) : silent(n, "idle"))))).toEqual({
        kind: "oscillation",
        length: 2,
      });
  });

  test("answers that take turns by three are a loop, and end the run after ten", () => {
    const turns = (count: number) =>
      Array.from({ length: count }, (_, n) =>
        seen(n + 1, readings[n % 3] ?? "", { left: true, said: `reason ${"abc"[n % 3]}` }),
      );
    expect(rowIn(turns(5))).toBeUndefined();
    expect(rowIn(turns(6))).toEqual({ kind: "oscillation", length: 3 });
    expect(rowIn(turns(10))).toEqual({ kind: "oscillation", length: 5 });
    expect(
      rowIn([...turns(9), seen(10, "Something else entirely was written here.", { said: "other" })]),
    ).toBeUndefined();
  });
});

const folder = new URL("../../../fixtures/agents/", import.meta.url);
const readers = { claude: readClaude, codex: readCodex, amp: readAmp };

test.each(readdirSync(folder).filter((name) => name.endsWith(".jsonl")))(
  "the recorded stream %s shows no loop",
  (name) => {
    const reader = readers[name.split("-")[0] as keyof typeof readers]();
    const events: AgentEvent[] = readFileSync(new URL(name, folder), "utf8")
      .split("\n")
      .flatMap((each) => reader.line(each));
    expect(
      loopSignsOf(events.reduce(digestWithEvent, emptyDigest), name.includes("success"), name.includes("success")),
    ).toEqual([]);
  },
);
