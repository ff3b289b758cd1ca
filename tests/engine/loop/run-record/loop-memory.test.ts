import { expect, test } from "vitest";
import { defaultHistoryLimits as limits } from "../../../../src/engine/lib/history-limits.js";
import { boundedObservations, memoryFrom } from "../../../../src/engine/loop/run-record/loop-memory.js";
import type { LedgerLine } from "../../../../src/engine/generated/ledger.js";
import { seen } from "../remembered.js";

const line = (iteration: number): LedgerLine => ({
  iteration,
  at: "2026-01-01T00:00:00Z",
  unit: "p1",
  phase: "ANALYSIS",
  outcome: "accepted",
});
const lines = [1, 2, 3, 4, 5, 6].map(line);

test("of a state without iterations nothing is remembered", () => {
  const nothing = { limits, observations: [], steering: [], since: 0, ledger: [] };
  expect(memoryFrom(undefined, [], limits)).toEqual(nothing);
  expect(memoryFrom({ history_summary: null }, [], limits)).toEqual(nothing);
});

test("a state is remembered with its summary, a person's words and the last five lines of its ledger", () => {
  const observations = [seen(1)];
  const steering = [{ id: "a", text: "Look at grippers." }];
  const metrics = { last_iteration: 1 };
  const kept = { observations, steering, history_summary: "So far.", rch_metrics: metrics, stagnation_since: 4 };
  expect(memoryFrom(kept, lines, limits)).toEqual({
    limits,
    observations,
    steering,
    metrics,
    historySummary: "So far.",
    since: 4,
    ledger: lines.slice(1),
  });
});

test("what an agent did is dropped up to the last iteration that a summary covers, but not of the newest three", () => {
  const all = [1, 2, 3, 4, 5, 6].map((iteration) => seen(iteration, { digest: "Did: x" }));
  const told = (last?: number) =>
    boundedObservations(all, limits, last === undefined ? undefined : { last_iteration: last }).flatMap(
      ({ iteration, digest }) => (digest === undefined ? [] : [iteration]),
    );
  expect([told(), told(2), told(6)]).toEqual([
    [1, 2, 3, 4, 5, 6],
    [3, 4, 5, 6],
    [4, 5, 6],
  ]);
});
