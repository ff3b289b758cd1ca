import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { Rrd } from "../../src/research/generated/rrd.js";
import { decisionOf, totalsOf } from "../../src/research/papers/rubric/rubric.js";

const page = readFileSync(fileURLToPath(new URL("../../docs/reviews.md", import.meta.url)), "utf8");
const scores = {
  execution: { novelty: 4, feasibility: 4, time_to_poc: 3, value_market: 3, defensibility: 2, adoption: 4 },
  strategic: { market_creation: 3, first_mover_window: 2, network_effects: 2, strategic_clarity: 4 },
};

test.each([
  ["balanced", { execution: 20, strategic: 11, combined: 31 }, "20 + 11 = 31"],
  ["speed", { execution: 19.7, strategic: 12, combined: 31.7 }, "combined 31.7"],
] as const)("the page's example is what the code computes with the focus %s", (focus, totals, said) => {
  const rrd: Rrd = {
    project: "p",
    requirements: {},
    phase: "ANALYSIS",
    papers_pool: [],
    mission: { blue_ocean_scoring: true, strategic_focus: focus },
  };

  expect(totalsOf(rrd, scores)).toEqual(totals);
  expect(decisionOf(rrd, totalsOf(rrd, scores))).toBe("PRESENT");
  expect(page).toContain(said);
});
