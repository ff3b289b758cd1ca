import { appendFileSync } from "node:fs";
import { expect } from "vitest";

/** Counts to which ends the cases of one property came. */
export interface Tally {
  count(end: string): void;
  /**
   * Holds each named end to its least share of all cases (0 to 1), so that no side of the property is empty. What cases
   * drawn at random may lack by chance is granted: four standard deviations, and all where fewer than ten are expected;
   * an end that has its share misses this once in 20,000 runs at most. Leaves the counts, a line of JSON, in the file
   * that RR_REPORT names.
   */
  close(least: Readonly<Record<string, number>>): void;
}

/** `property` names it in the report; `all` is the number of its cases. */
export function tallyOf(property: string, all: number): Tally {
  const counts: Record<string, number> = {};
  return {
    count: (end) => void (counts[end] = (counts[end] ?? 0) + 1),
    close(least) {
      const path = process.env["RR_REPORT"];
      if (path !== undefined) appendFileSync(path, `${JSON.stringify({ property, cases: all, ...counts })}\n`);
      for (const [end, share] of Object.entries(least))
        expect(counts[end] ?? 0, `${property}: ${end}`).toBeGreaterThanOrEqual(fewest(all, share));
    },
  };
}

/** Counts of independent cases have a variance of all × share × (1 - share), as drawn from a binomial distribution. */
function fewest(all: number, share: number): number {
  const expected = all * share;
  const deviation = Math.sqrt(expected * (1 - share));
  return expected < 10 ? 0 : Math.max(1, Math.floor(expected - 4 * deviation));
}
