import { expect, test } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import { decidedSinceReport, changesSinceReport } from "../../../src/research/derived/since-report.js";
import type { Paper } from "../../../src/research/generated/rrd.js";
import { statusOf } from "../../../src/research/workflow/next-unit.js";
import { paper, rrdWith } from "../../support/projects/research.js";

const line = (iteration: number, unit: string, at: string): LedgerLine => ({
  iteration,
  at: `2026-03-04T05:${at}.000Z`,
  unit,
  phase: "ANALYSIS",
  outcome: "accepted",
  duration_seconds: 60,
});
const ledger = [line(1, "p1", "01:00"), line(2, "p2", "02:00"), line(3, "report", "10:00")];
const read = (id: string, at?: string, over: Partial<Paper> = {}): Paper =>
  paper(id, {
    status: "presented",
    analysis: {},
    ...(at === undefined ? {} : { override: { decision: "include", why: "It fits.", at: `2026-03-04T05:${at}.000Z` } }),
    ...over,
  });

test.each([
  ["before the agent of the report began", "08:59", false],
  ["while it wrote", "09:01", true],
  ["after it", "10:01", true],
] as const)("a decision %s makes the report older: %s", (_, at, isOlder) => {
  const rrd = rrdWith([read("p1", at), read("p2")], { handoff: { product_ideation: { enabled: false } } });
  expect(decidedSinceReport(rrd, ledger).map(({ id }) => id)).toEqual(isOlder ? ["p1"] : []);
  expect(statusOf(rrd, ledger).phase).toBe(isOlder ? "ANALYSIS" : "COMPLETE");
  expect(changesSinceReport(rrd, ledger)).toBe(isOlder ? "1 of your decisions (p1)" : undefined);
});

test("a report that is not written, was reset or never rested on the paper is older than nothing", () => {
  const rrd = rrdWith([read("p1", "11:00"), read("p2")]);
  expect(changesSinceReport(rrd, ledger.slice(0, 2))).toBeUndefined();
  expect(decidedSinceReport(rrd, [...ledger, { ...line(4, "report", "10:30"), outcome: "reset" }])).toEqual([]);
  const unread = read("p1", "11:00", { status: "rejected", analysis: null });
  expect(changesSinceReport(rrdWith([unread, read("p2")]), ledger)).toBeUndefined();
});

test("readings since are counted, a paper to be read is named, and of many decisions three are", () => {
  const pool = ["a", "b", "c", "d"].map((id) => read(id, "11:00", { status: "pending", analysis: null }));
  expect(changesSinceReport(rrdWith([...pool, read("p1")]), [...ledger, line(4, "p1", "12:00")])).toBe(
    "4 of your decisions (a, b, c and 1 more) and 1 reading",
  );
});
