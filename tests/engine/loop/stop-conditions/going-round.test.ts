import { describe, expect, test } from "vitest";
import { emptyDigest } from "../../../../src/engine/loop/run-record/digest.js";
import { defaultHistoryLimits } from "../../../../src/engine/lib/history-limits.js";
import {
  boundedObservations,
  type LoopMemory,
  observationsSinceSummary,
} from "../../../../src/engine/loop/run-record/loop-memory.js";
import { memoryNotes, remediationFor, firstObjection, notesFor } from "../../../../src/engine/loop/notes.js";
import {
  loopKinds,
  longestRepetition,
  loopSignsOf,
  stopWhenStuck,
  stopWithoutResult,
} from "../../../../src/engine/loop/stop-conditions/stuck.js";
import type { Outcome, PastIteration, RunSoFar } from "../../../../src/engine/loop/types.js";
import { remembered, seen } from "../remembered.js";
import { accepted, failed, past, refused, soFar, unit } from "../runs.js";
import type { Observation } from "../../../../src/engine/generated/memory.js";
import { researchWords } from "../../../../src/research/project-files/words.js";

const memory = (observations: readonly Observation[], over: Partial<LoopMemory> = {}): LoopMemory =>
  remembered({ observations, ...over });
const rowIn = (observations: readonly Observation[]) => longestRepetition(observations, defaultHistoryLimits);
const kept = (observations: readonly Observation[]) => boundedObservations(observations, defaultHistoryLimits);
const did = (counts: object, repeated: object = {}) =>
  ({
    ...emptyDigest,
    counts: { ...emptyDigest.counts, ...counts },
    repeated: { ...emptyDigest.repeated, ...repeated },
  }) as typeof emptyDigest;

describe("what one run shows by itself", () => {
  test.each([
    ["nothing was done", did({}), []],
    ["it only read, however little", did({ read: 1 }), ["read-loop"]],
    ["it read and ran something", did({ read: 2, command: 1 }), []],
    ["it read, wrote and ran something", did({ read: 2, write: 1, command: 1 }), []],
    ["it read and wrote something", did({ read: 2, write: 1 }), []],
    ["it read one thing three times", did({ read: 4, command: 1 }, { read: 3 }), []],
    ["it read one thing four times", did({ read: 5, command: 1 }, { read: 4 }), ["read-loop"]],
    ["it planned and did nothing", did({ plan: 1 }), ["planning-loop"]],
    ["it planned and read", did({ plan: 3, read: 1, command: 1 }), []],
    ["it ran one thing twice", did({ command: 2 }, { command: 2 }), []],
    ["it ran one thing three times", did({ command: 3 }, { command: 3 }), ["command-loop"]],
    ["it wrote one thing five times", did({ write: 5 }, { write: 5 }), ["redundant-writes"]],
  ])("without a result: %s", (_what, digest, signs) => {
    expect(loopSignsOf(digest, false, true)).toEqual(signs);
  });

  test("counts nothing against it where it left a result, but writing over and over", () => {
    expect(loopSignsOf(did({ read: 9, command: 9, plan: 9 }, { read: 9, command: 9 }), true, true)).toEqual([]);
    expect(loopSignsOf(did({ plan: 9 }), true, true)).toEqual([]);
    expect(loopSignsOf(did({ read: 9 }), true, true)).toEqual([]);
    expect(loopSignsOf(did({ write: 5 }, { write: 5 }), true, true)).toEqual(["redundant-writes"]);
  });
});

describe("a row", () => {
  const alternating = (...answers: string[]) => answers.map((answer, n) => seen(n + 1, { answer }));

  test("is as long as its end is alike, and two at least", () => {
    const same = (count: number) => Array.from({ length: count }, (_, n) => seen(n + 2, { answer: "x" }));
    expect(rowIn([seen(1), ...same(1)])).toBeUndefined();
    expect(rowIn([seen(1), ...same(3)])).toEqual({ kind: "identical-answers", length: 3 });
    expect(rowIn(alternating("a", "a", "b", "b"))).toEqual({ kind: "identical-answers", length: 2 });
    expect(rowIn([])).toBeUndefined();
  });

  test("of no answers is none: nothing was left that could be the same", () => {
    expect(rowIn([1, 2, 3].map((n) => seen(n, { answer: undefined } as object)))).toBeUndefined();
  });

  test("of failures that left no answer is none, whatever was before them", () => {
    const failures = [4, 5, 6, 7].map((n) => {
      const { answer: _, ...failed } = seen(n, { outcome: "failed", failure: "idle" });
      return failed;
    });
    expect(rowIn([seen(1), seen(2), seen(3), ...failures])).toBeUndefined();
  });

  test("of two answers in turn counts whole pairs from the end", () => {
    expect(rowIn(alternating("a", "b", "a"))).toBeUndefined();
    expect(rowIn(alternating("a", "b", "a", "b"))).toEqual({ kind: "oscillation", length: 2 });
    expect(rowIn(alternating("a", "b", "a", "b", "a"))).toEqual({ kind: "oscillation", length: 2 });
    expect(rowIn(alternating("c", "b", "a", "b", "a", "b", "a"))).toEqual({ kind: "oscillation", length: 3 });
    // An answer in turn with a failure that left none.
    const { answer: _, ...left } = seen(9, { outcome: "failed", failure: "idle" });
    expect(rowIn(alternating("a", "b", "a", "b").map((each) => (each.answer === "b" ? left : each)))).toEqual({
      kind: "oscillation",
      length: 2,
    });
    expect(rowIn(alternating("a", "b", "x", "b", "a"))).toBeUndefined();
    expect(rowIn(alternating("b"))).toBeUndefined();
  });

  test("of failures goes by how they ended, where there was no answer", () => {
    const ended = (n: number, over: object) => seen(n, { answer: undefined, outcome: "failed", ...over } as object);
    // The same failure over and over is no taking turns, and no answer.
    expect(rowIn([1, 2, 3, 4].map((n) => ended(n, { failure: "idle" })))).toBeUndefined();
    const turns = [1, 2, 3, 4].map((n) => ended(n, { failure: n % 2 === 0 ? "idle" : "crashed", said: `at ${n}` }));
    expect(rowIn(turns)).toEqual({ kind: "oscillation", length: 2 });
    expect(rowIn([1, 2, 3, 4].map((n) => ended(n, { said: n % 2 === 0 ? "x" : "y" })))).toEqual({
      kind: "oscillation",
      length: 2,
    });
    expect(rowIn([1, 2, 3, 4].map((n) => ended(n, { said: `${n}` })))).toBeUndefined();
    expect(
      rowIn([1, 2, 3, 4].map((n) => ended(n, { said: "x", outcome: n % 2 === 0 ? "failed" : "refused" }))),
    ).toEqual({ kind: "oscillation", length: 2 });
    expect(rowIn([1, 2, 3, 4].map((n) => ended(n, n % 2 === 0 ? { said: undefined } : { failure: "idle" })))).toEqual({
      kind: "oscillation",
      length: 2,
    });
  });

  test("is the longest of its kinds, and of equals the one named first", () => {
    const both = [1, 2, 3].map((n) => seen(n, { signs: n > 1 ? ["command-loop", "read-loop"] : ["command-loop"] }));
    expect(rowIn(both)).toEqual({ kind: "command-loop", length: 3 });
    expect(rowIn(both.slice(1))).toEqual({ kind: "read-loop", length: 2 });
  });

  test("begins after the last accepted work", () => {
    const same = [1, 2, 3].map((n) => seen(n, { answer: "x", ...(n === 1 ? { outcome: "accepted" as const } : {}) }));
    expect(rowIn(same)).toEqual({ kind: "identical-answers", length: 2 });
  });
});

describe("a run that got nowhere is told", () => {
  const run = (observations: readonly Observation[]): RunSoFar => ({
    startedAt: 0,
    now: 0,
    iterations: observations.map(({ iteration }) => ({ iteration }) as PastIteration),
    memory: memory(observations),
  });

  test("how long, in what way, and what was said last", () => {
    const same = (said: string | undefined) =>
      [1, 2, 3, 4, 5].map((n) => seen(n, { answer: "x", ...(n === 5 ? { said } : {}) } as object));
    const how =
      "Look at loop.observations in rrd.json; then give advice with 'research-ralph steer', use another --agent, or run again with --force.";
    expect(stopWhenStuck(researchWords)(run(same("Only 0.5 of them."))))?.toEqual({
      verdict: "stuck",
      reason: `The last 5 iterations made no progress (identical-answers): the same answer was given again and again. The last time: Only 0.5 of them. ${how}`,
    });
    expect(stopWhenStuck(researchWords)(run(same(undefined))))?.toEqual({
      verdict: "stuck",
      reason: `The last 5 iterations made no progress (identical-answers): the same answer was given again and again. ${how}`,
    });
    const turns = Array.from({ length: 10 }, (_, n) => seen(n + 1, { answer: n % 2 === 0 ? "a" : "b" }));
    expect(stopWhenStuck(researchWords)(run(turns))).toMatchObject({
      reason: expect.stringContaining(
        "The last 10 iterations made no progress (oscillation): the same answers alternated.",
      ),
    });
    expect(remediationFor(memory(turns))).toMatch(
      /^The last 10 iterations made no progress \(oscillation\)\. They went back and forth/,
    );
    expect(remediationFor(memory(same("x")))).toMatch(
      /^The last 5 iterations made no progress \(identical-answers\)\. Every one of them/,
    );
  });

  test("in other words for each kind of loop", () => {
    const words = loopKinds.map((kind) => {
      const turns = Array.from({ length: 10 }, (_, n) => seen(n + 1, { answer: n % 2 === 0 ? "a" : "b" }));
      const row = Array.from({ length: 5 }, (_, n) =>
        seen(n + 1, kind === "identical-answers" ? { answer: "x" } : { signs: [kind] }),
      );
      const answer = stopWhenStuck(researchWords)(run(kind === "oscillation" ? turns : row));
      return /\): (.{20,}?)\. The last time/.exec(answer?.reason ?? "")?.[1];
    });
    expect(new Set(words).size).toBe(loopKinds.length);
    expect(words).not.toContain(undefined);
  });

  test("nothing without a memory", () => {
    expect(stopWhenStuck(researchWords)({ startedAt: 0, now: 0, iterations: [past(refused)] })).toBeUndefined();
  });

  test("when fifteen in a row brought nothing, with how many", () => {
    const row = (count: number) => soFar([past(accepted), ...Array.from({ length: count }, () => past(refused))]);
    expect(stopWithoutResult(researchWords)(row(14))).toBeUndefined();
    expect(stopWithoutResult(researchWords)(row(16))).toMatchObject({
      verdict: "stuck",
      reason: expect.stringMatching(/^None of the last 16 iterations.*ledger\.jsonl/),
    });
  });
});

describe("what the loop adds to a brief", () => {
  const notes = (...outcomes: [Outcome, string][]) =>
    notesFor(unit("a"), soFar(outcomes.map(([outcome, id]) => past(outcome, 0, id))));
  const reasons: Outcome = { outcome: "refused", reasons: ["no number"] };

  test("is of the unit's own last try", () => {
    expect(notes([reasons, "a"], [accepted, "b"])).toEqual({ refusal: ["no number"] });
    expect(notes([reasons, "b"])).toEqual({});
    expect(notes([reasons, "a"], [failed("crashed"), "a"])).toEqual({});
    expect(notes()).toEqual({});
  });

  test("holds what is remembered", () => {
    const run = { ...soFar([]), memory: memory([], { steering: [{ id: "1", text: "Look at hands." }] }) };
    expect(notesFor(unit("a"), run)).toEqual({ steering: "- Look at hands." });
  });

  test("of the history are its summary and the last five since, one line each, cut at 200 characters", () => {
    const observations = Array.from({ length: 8 }, (_, n) =>
      seen(n + 1, n === 7 ? { said: "x".repeat(300), outcome: "accepted" } : {}),
    );
    const metrics = { last_iteration: 2 };
    const lines = memoryNotes(memory(observations, { historySummary: "Before.", metrics })).history?.split("\n") ?? [];
    expect(lines.slice(0, 2)).toEqual(["Before.", "- #4 p4 refused: reason 4"]);
    expect(lines).toHaveLength(6);
    expect(lines.at(-1)).toHaveLength(200);
    expect(lines.at(-1)).toMatch(/^- #8 p8 accepted: x+$/);
    expect(memoryNotes(memory([seen(1, { said: undefined, outcome: "accepted" } as object)])).history).toBe(
      "- #1 p1 accepted: ",
    );
    expect(memoryNotes(memory([], { historySummary: "y".repeat(3000) })).history).toHaveLength(2000);
  });

  test("of a person's words are the latest, whole, in the order they were said", () => {
    const wish = (n: number, length: number) => ({ id: `${n}`, text: `${n}`.padEnd(length, "x") });
    expect(memoryNotes(memory([], { steering: [wish(1, 796), wish(2, 797), wish(3, 797)] })).steering).toBe(
      `- ${wish(2, 797).text}\n- ${wish(3, 797).text}`,
    );
    expect(memoryNotes(memory([], { steering: [wish(1, 1597)] })).steering).toHaveLength(1599);
    expect(memoryNotes(memory([], { steering: [wish(1, 10), wish(2, 1598)] }))).toEqual({});
  });

  test("says what to do otherwise once two went round in circles", () => {
    const two = [1, 2].map((n) => seen(n, { signs: ["planning-loop"] }));
    expect(memoryNotes(memory(two)).remediation).toBe(remediationFor(memory(two)));
    expect(memoryNotes(memory(two.slice(1))).remediation).toBeUndefined();
  });
});

test("of several stop conditions a verdict goes first, else the first delay", () => {
  const delay = (until: number) => () => ({ until, reason: `${until}` });
  const verdict = (reason: string) => () => ({ verdict: "limit" as const, reason });
  expect(firstObjection([() => undefined, delay(1), delay(2)], soFar([]))).toEqual({ until: 1, reason: "1" });
  expect(firstObjection([delay(1), verdict("a"), verdict("b")], soFar([]))).toEqual({ verdict: "limit", reason: "a" });
  expect(firstObjection([() => undefined], soFar([]))).toBeUndefined();
  expect(firstObjection([], soFar([]))).toBeUndefined();
});

describe("observations that are kept", () => {
  const digests = (...which: boolean[]) => which.map((has, n) => seen(n + 1, has ? { digest: "d" } : {}));

  test("are the last ten, each with its digest while no more than ten have one", () => {
    const last = kept(digests(false, ...Array.from({ length: 10 }, () => true)));
    expect(last.map(({ iteration, digest }) => [iteration, digest])).toEqual(
      [2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((n) => [n, "d"]),
    );
    expect(kept([])).toEqual([]);
  });

  test("lose their digest once a summary covers them, but for the newest three", () => {
    const digests = Array.from({ length: 5 }, (_, n) => seen(n + 1, { digest: "d" }));
    const left = boundedObservations([...digests, seen(6, { digest: "d" })], defaultHistoryLimits, {
      last_iteration: 5,
    });
    expect(left.map(({ digest }) => digest)).toEqual([undefined, undefined, undefined, "d", "d", "d"]);
    expect(boundedObservations(left, defaultHistoryLimits, { last_iteration: 5 })).toEqual(left);
  });

  test("are as many as the window needs, each whole where the configuration says so", () => {
    const digests = Array.from({ length: 20 }, (_, n) => seen(n + 1, { digest: "d" }));
    expect(boundedObservations(digests, { ...defaultHistoryLimits, observations: 12, window: 15 })).toHaveLength(15);
    expect(boundedObservations(digests.slice(0, 12), { ...defaultHistoryLimits, observations: 12 })).toEqual(
      digests.slice(0, 12),
    );
  });

  test("lose nothing else with their digest", () => {
    const [first] = kept(digests(...Array.from({ length: 11 }, () => true)));
    expect(first).toEqual(seen(2));
  });

  test("since a summary are those after the one it covered last, all where there was none", () => {
    const all = [3, 5, 4, 6].map((n) => seen(n));
    const since = (last?: number) =>
      observationsSinceSummary({
        observations: all,
        ...(last === undefined ? {} : { metrics: { last_iteration: last } }),
      });
    expect(since(5).map(({ iteration }) => iteration)).toEqual([4, 6]);
    expect(since(6)).toEqual([]);
    expect(since(1)).toHaveLength(4);
    expect(since()).toHaveLength(4);
  });
});
