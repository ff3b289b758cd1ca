import { appendFileSync } from "node:fs";
import { expect } from "vitest";

/** Counts to which ends the cases of one property came. */
export interface Tally {
  count(end: string): void;
  /**
   * Holds each named end to its least share of all cases (0 to 1), so that no side of the property is empty; leaves the
   * counts, a line of JSON, in the file that RR_REPORT names.
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
        expect(counts[end] ?? 0, `${property}: ${end}`).toBeGreaterThanOrEqual(Math.floor(all * share));
    },
  };
}
