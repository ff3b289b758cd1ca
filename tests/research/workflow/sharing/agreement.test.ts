import { describe, expect, test } from "vitest";
import {
  agreementOf,
  agreementText,
  kappaOf,
  oneSidedText,
  type DecisionTable,
} from "../../../../src/research/screening/eligibility/agreement.js";
import type { Paper } from "../../../../src/research/generated/rrd.js";
import { paper } from "../../../support/projects/research.js";

const table = (a: number, b: number, c: number, d: number): DecisionTable => ({
  both_include: a,
  only_first: b,
  only_second: c,
  both_exclude: d,
});

/** Kappa of shares, by its definition. */
function kappaBy([a = 0, b = 0, c = 0, d = 0]: readonly number[]): number {
  const chance = (a + b) * (a + c) + (c + d) * (b + d);
  return (a + d - chance) / (1 - chance);
}

/** The standard error by the delta method with numeric derivatives: independent of the closed formula. */
function errorBy(counts: readonly number[]): number {
  const n = counts.reduce((sum, count) => sum + count, 0);
  const shares = counts.map((count) => count / n);
  const step = 1e-6;
  const slopes = shares.map((_, at) => {
    const moved = (by: number) => kappaBy(shares.map((share, index) => (index === at ? share + by : share)));
    return (moved(step) - moved(-step)) / (2 * step);
  });
  const mean = slopes.reduce((sum, slope, at) => sum + slope * (shares[at] ?? 0), 0);
  const square = slopes.reduce((sum, slope, at) => sum + slope * slope * (shares[at] ?? 0), 0);
  return Math.sqrt((square - mean * mean) / n);
}

describe("Cohen's kappa", () => {
  test("of a table of 50 with 20, 5, 10 and 15 is 0.4", () => {
    expect(kappaOf(table(20, 5, 10, 15))?.kappa).toBeCloseTo(0.4, 10);
  });

  test.each([
    [20, 5, 10, 15],
    [45, 15, 25, 15],
    [60, 2, 3, 35],
    [3, 40, 40, 3],
    [1, 4, 0, 95],
  ])("its interval of %i, %i, %i, %i is that of the delta method", (...counts) => {
    const [a = 0, b = 0, c = 0, d = 0] = counts;
    const { kappa, interval } = kappaOf(table(a, b, c, d)) ?? { kappa: Number.NaN, interval: [0, 0] };
    expect(kappa).toBeCloseTo(kappaBy(counts.map((count) => count / (a + b + c + d))), 9);
    const margin = 1.959964 * errorBy(counts);
    expect(interval[0]).toBeCloseTo(Math.max(-1, kappa - margin), 4);
    expect(interval[1]).toBeCloseTo(Math.min(1, kappa + margin), 4);
  });

  test("is 1 where they never disagree, and says nothing where both gave one answer alone", () => {
    expect(kappaOf(table(5, 0, 0, 7))).toEqual({ kappa: 1, interval: [1, 1] });
    expect(kappaOf(table(9, 0, 0, 0))).toBeNull();
    expect(kappaOf(table(0, 0, 0, 0))).toBeNull();
  });
});

const judged = (id: string, first: "include" | "exclude", second: "include" | "exclude", over: Partial<Paper> = {}) =>
  paper(id, {
    ...over,
    readings: [
      { role: "reader-1", by: "claude", decision: first },
      { role: "reader-2", by: "codex", decision: second },
    ],
  });
const many = (count: number, first: "include" | "exclude", second: "include" | "exclude") =>
  Array.from({ length: count }, (_, index) => judged(`${first}-${second}-${index}`, first, second));

describe("the agreement of two readers", () => {
  test("is read off the records, of the pool and of those left out, and says which conflicts are open", () => {
    const agreement = agreementOf({
      papers_pool: [
        ...many(6, "include", "include"),
        judged("open", "include", "exclude", { status: "waiting" }),
        judged("settled", "include", "exclude", {
          status: "waiting",
          override: { decision: "include", why: "It fits." },
        }),
        paper("alone"),
      ],
      excluded: many(4, "exclude", "exclude").map(({ id, readings = [] }) => ({ id, reason: "no", readings })),
    });
    expect(agreement).toMatchObject({
      readers: ["claude", "codex"],
      judged: 12,
      both_include: 6,
      both_exclude: 4,
      only_first: 2,
      only_second: 0,
      conflicts: 2,
      open: 1,
      agreement: 0.833,
    });
    expect(agreement && agreementText(agreement)).toMatch(
      /^claude and codex agree on 10 of 12 records, kappa 0\.667 \(95 % CI 0\.2\d+ to 1\)$/,
    );
    expect(agreementOf({ papers_pool: [paper("alone")] })).toBeUndefined();
  });

  test("a reader that gives one answer to ten records or more is named, others are not", () => {
    const warn = (papers: Paper[]) => oneSidedText(agreementOf({ papers_pool: papers }));
    expect(warn([...many(7, "include", "include"), ...many(3, "exclude", "include")])).toMatch(
      /^codex included every one of the 10 records/,
    );
    expect(warn([...many(7, "exclude", "include"), ...many(3, "exclude", "exclude")])).toMatch(/^claude excluded/);
    expect(warn(many(10, "include", "include"))).toMatch(/^claude included and codex included/);
    expect(warn([...many(6, "include", "include"), ...many(3, "exclude", "include")])).toBeUndefined();
    expect(warn([...many(9, "include", "include"), ...many(1, "exclude", "exclude")])).toBeUndefined();
  });
});
