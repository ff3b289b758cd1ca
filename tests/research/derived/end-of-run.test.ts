import { expect, test } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import { isStateChangedByEnd, withEnd } from "../../../src/research/derived/observations.js";
import { progressOf } from "../../../src/research/derived/status.js";
import { paper, rrdWith } from "../../support/projects/research.js";

const at = (day: number) => `2026-11-0${day}T00:00:00.000Z`;
const line = (unit: string, day: number): LedgerLine =>
  ({ iteration: day, unit, phase: "ANALYSIS", outcome: "accepted", at: at(day) }) as LedgerLine;

test("a run that worked on a complete project is told as the last run; one that had nothing to do is not", () => {
  const complete = { verdict: "complete", reason: "The report is written." } as const;
  const rrd = { ...rrdWith([paper("p1")]), loop: {} };
  expect(isStateChangedByEnd(rrd, [], complete)).toBe(true);
  const ended = withEnd(rrd, complete, Date.parse(at(3)));
  expect(isStateChangedByEnd(ended, [line("report", 2)], complete)).toBe(false);
  expect(isStateChangedByEnd(ended, [line("report", 2), line("answer-1", 4)], complete)).toBe(false);
  expect(isStateChangedByEnd(ended, [line("report", 2), line("report", 4)], complete)).toBe(true);
  expect(isStateChangedByEnd(ended, [line("report", 2)], { verdict: "limit", reason: "All are used up." })).toBe(true);
});

test("a paper that waits for a person is done", () => {
  const rrd = rrdWith([paper("p1", { status: "waiting" }), paper("p2", { status: "rejected" }), paper("p3")]);
  expect(progressOf(rrd)).toMatchObject({ done: 2, total: 3, counts: { waiting_for_you: 1 } });
});
