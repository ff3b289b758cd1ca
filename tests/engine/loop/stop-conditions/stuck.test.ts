import { describe, expect, test } from "vitest";
import { digestWithEvent, emptyDigest } from "../../../../src/engine/loop/run-record/digest.js";
import { defaultHistoryLimits } from "../../../../src/engine/lib/history-limits.js";
import { boundedObservations, type LoopMemory } from "../../../../src/engine/loop/run-record/loop-memory.js";
import {
  type LoopKind,
  loopKinds,
  longestRepetition,
  loopSignsOf,
  stagnationWarning,
  stopWhenStuck,
  stopWithoutResult,
} from "../../../../src/engine/loop/stop-conditions/stuck.js";
import type { AgentEvent, PastIteration, RunSoFar } from "../../../../src/engine/loop/types.js";
import type { Observation } from "../../../../src/engine/generated/memory.js";
import { remembered, seen } from "../remembered.js";
import { remediationFor } from "../../../../src/engine/loop/notes.js";
import { researchWords } from "../../../../src/research/project-files/words.js";

/** A row of iterations that show one kind of loop. */
const rowOfKind = (kind: LoopKind, length: number): Observation[] => {
  if (kind === "oscillation")
    return Array.from({ length: length * 2 }, (_, n) => seen(n + 1, { answer: n % 2 === 0 ? "a" : "b" }));
  return Array.from({ length }, (_, n) =>
    seen(n + 1, kind === "identical-answers" ? { answer: "same" } : { signs: [kind] }),
  );
};

const run = (events: readonly AgentEvent[], left = false) =>
  loopSignsOf(events.reduce(digestWithEvent, emptyDigest), left, true);
const repeat = (event: AgentEvent, times: number): AgentEvent[] => Array.from({ length: times }, () => event);
const memory = (observations: readonly Observation[]) => remembered({ observations });
const rowIn = (observations: readonly Observation[]) => longestRepetition(observations, defaultHistoryLimits);
const kept = (observations: readonly Observation[]) => boundedObservations(observations, defaultHistoryLimits);
const soFar = (observations: readonly Observation[], over: Partial<LoopMemory> = {}): RunSoFar => ({
  startedAt: 0,
  now: 0,
  iterations: [],
  memory: remembered({ observations, ...over }),
});

describe("what one run shows by itself", () => {
  test("a file read four times without a result is a read loop; each part of a long text read once is none", () => {
    expect(run(repeat({ type: "tool", name: "Read", detail: "a.txt" }, 4))).toContain("read-loop");
    const parts = Array.from({ length: 30 }, (_, n): AgentEvent => ({
      type: "tool",
      name: "Read",
      detail: `paper/${n}.txt`,
    }));
    expect(run([...parts, { type: "tool", name: "Write", detail: "result.json" }], true)).toEqual([]);
  });

  test("announcing work and doing none is a planning loop", () => {
    expect(run([{ type: "text", text: "Let me read the paper first." }])).toEqual(["planning-loop"]);
    expect(run([{ type: "text", text: "Let me read the paper first." }], true)).toEqual([]);
    // Words about an object are no attempt at one.
    const ended = (message: string) => run([{ type: "end", message }]);
    expect([ended("Nothing fits {this}."), ended('{"unit": "p1",'), ended('```json\n{"unit"')]).toEqual([
      ["planning-loop"],
      [],
      [],
    ]);
  });

  test("a command run three times without a result is a command loop; with a result it is none", () => {
    const events = repeat({ type: "tool", name: "Bash", detail: "npm test" }, 3);
    expect(run(events)).toEqual(["command-loop"]);
    expect(run(events, true)).toEqual([]);
  });

  test("a file written five times is a redundant write, also where a result is left", () => {
    expect(run(repeat({ type: "tool", name: "Write", detail: "result.json" }, 5), true)).toEqual(["redundant-writes"]);
    expect(run(repeat({ type: "tool", name: "Write", detail: "result.json" }, 4), true)).toEqual([]);
  });
});

describe.each(loopKinds)("%s", (kind) => {
  test("is nothing once, is answered from the second in a row with words of its own, and ends the run at five", () => {
    expect(remediationFor(memory(rowOfKind(kind, 1)))).toBeUndefined();
    const others = loopKinds
      .filter((other) => other !== kind)
      .map((other) => remediationFor(memory(rowOfKind(other, 2))));
    expect(remediationFor(memory(rowOfKind(kind, 2)))).toContain(kind);
    expect(others).not.toContain(remediationFor(memory(rowOfKind(kind, 2))));
    expect(stopWhenStuck(researchWords)(soFar(rowOfKind(kind, 4)))).toBeUndefined();
    expect(stopWhenStuck(researchWords)(soFar(rowOfKind(kind, 5)))).toMatchObject({
      verdict: "stuck",
      reason: expect.stringContaining(kind),
    });
  });

  test("is over as soon as work is accepted", () => {
    const last = rowOfKind(kind, 5);
    const accepted = seen(last.length + 1, { outcome: "accepted" });
    expect(rowIn([...last, accepted])).toBeUndefined();
    expect(stopWhenStuck(researchWords)(soFar([...last, accepted]))).toBeUndefined();
  });

  test("of earlier runs counts until a person acts; then the whole row is needed again", () => {
    const earlier = rowOfKind(kind, 5);
    expect(remediationFor(memory(earlier))).toBeDefined();
    expect(stopWhenStuck(researchWords)(soFar(earlier))).toMatchObject({ verdict: "stuck" });
    expect(stopWhenStuck(researchWords)(soFar(earlier, { since: 1 }))).toBeUndefined();
  });

  test("is warned of from two in a row on until it ends the run, at the number that is configured", () => {
    expect(stagnationWarning(memory(rowOfKind(kind, 1)))).toBeUndefined();
    expect(stagnationWarning(memory(rowOfKind(kind, 2)))).toContain(kind);
    expect(stagnationWarning(memory(rowOfKind(kind, 5)))).toBeUndefined();
    const limits = { ...defaultHistoryLimits, stagnation: 3 };
    expect(stopWhenStuck(researchWords)(soFar(rowOfKind(kind, 2), { limits }))).toBeUndefined();
    expect(stopWhenStuck(researchWords)(soFar(rowOfKind(kind, 3), { limits }))).toMatchObject({ verdict: "stuck" });
  });
});

test.each([2, 3, 4, 5])("%i answers that take turns are an oscillation once each came twice", (period) => {
  const turns = (length: number) => Array.from({ length }, (_, n) => seen(n + 1, { answer: `${n % period}` }));
  expect(rowIn(turns(2 * period - 1))).toBeUndefined();
  expect(rowIn(turns(2 * period))).toEqual({ kind: "oscillation", length: period });
  expect(stopWhenStuck(researchWords)(soFar(turns(10)))).toMatchObject({ verdict: "stuck" });
});

test("repetitions are looked for in the window that is configured", () => {
  const turns = Array.from({ length: 10 }, (_, n) => seen(n + 1, { answer: `${n % 5}` }));
  expect(longestRepetition(turns, { window: 9 })).toBeUndefined();
});

test("refusals for different reasons are no loop, however many there are", () => {
  const observations = Array.from({ length: 10 }, (_, n) => seen(n + 1));
  expect(stopWhenStuck(researchWords)(soFar(observations))).toBeUndefined();
  expect(remediationFor(memory(observations))).toBeUndefined();
});

test("fifteen iterations in a row without an accepted result end the run, those that met a closed service not counted", () => {
  const past = (outcome: object, times: number) => Array.from({ length: times }, () => ({ outcome }) as PastIteration);
  const refused = (times: number) => past({ outcome: "refused", reasons: ["x"] }, times);
  const away = past({ outcome: "failed", failure: { kind: "network", message: "away" } }, 5);
  const after = (iterations: PastIteration[]) => stopWithoutResult(researchWords)({ startedAt: 0, now: 0, iterations });
  expect(after([...refused(14), ...away])).toBeUndefined();
  expect(after([...refused(14), ...past({ outcome: "accepted", summary: "y" }, 1), ...refused(14)])).toBeUndefined();
  expect(after([...refused(14), ...away, ...refused(1)])).toMatchObject({
    verdict: "stuck",
    reason: expect.stringContaining("last 15 iterations"),
  });
});

test("what was only noted is no iteration without a result", () => {
  const past = (outcome: object, times: number) => Array.from({ length: times }, () => ({ outcome }) as PastIteration);
  const iterations = [
    ...past({ outcome: "refused", reasons: ["x"] }, 14),
    ...past({ outcome: "noted", summary: "y" }, 5),
  ];
  expect(stopWithoutResult(researchWords)({ startedAt: 0, now: 0, iterations })).toBeUndefined();
});

test("remediation asks for the result where the brief does: in the final message", () => {
  const said = loopKinds.map((kind) => remediationFor(memory(rowOfKind(kind, 2))) ?? "").join("\n");
  expect(said).toContain("final message");
  expect(said).not.toMatch(/write result\.json|write it/i);
});

test("remediation fits a brief's share of it", () => {
  for (const kind of loopKinds) expect(remediationFor(memory(rowOfKind(kind, 5)))?.length).toBeLessThanOrEqual(600);
});

test("a healthy run of 1,000 iterations is never called stuck, and what is remembered stays small", () => {
  let state: Observation[] = [];
  let random = 7;
  const chance = () => (random = (random * 16_807) % 2_147_483_647) / 2_147_483_647;
  for (let iteration = 1; iteration <= 1_000; iteration += 1) {
    // One in seven is refused, half of those for the same answer as before; one in twenty fails in the middle of its
    // reading.
    const luck = chance();
    const outcome = luck < 0.05 ? "failed" : luck < 0.19 ? "refused" : "accepted";
    const answer = outcome === "refused" && chance() < 0.5 ? "common" : `answer-${iteration}`;
    const signs = outcome === "failed" ? { signs: ["read-loop"], failure: "idle" } : {};
    state = kept([...state, seen(iteration, { outcome, answer, digest: "d".repeat(1_200), ...signs })]);
    expect(stopWhenStuck(researchWords)(soFar(state))).toBeUndefined();
    expect(JSON.stringify(state).length).toBeLessThan(15_000);
  }
});

test("above ten observations with a digest only the last three keep it, and never more than ten are kept", () => {
  const all = (count: number) => kept(Array.from({ length: count }, (_, n) => seen(n + 1, { digest: "d" })));
  expect(all(10).filter(({ digest }) => digest !== undefined)).toHaveLength(10);
  expect(all(11).map(({ iteration, digest }) => [iteration, digest !== undefined])).toEqual(
    [2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((iteration) => [iteration, iteration >= 9]),
  );
  expect(kept(all(11))).toEqual(all(11));
});
