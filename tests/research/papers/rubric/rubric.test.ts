import { describe, expect, test } from "vitest";
import type { Rrd } from "../../../../src/research/generated/rrd.js";
import { decide, decisionOf, scoresOf, totalsOf } from "../../../../src/research/papers/rubric/rubric.js";
import { paper, rrdWith, scoresOfAll } from "../../../support/projects/research.js";

const both = rrdWith([paper("p1")]);
const one: Rrd = { ...both, mission: { blue_ocean_scoring: false } };
const legacy: Rrd = { ...both, mission: undefined };

describe("totals and decisions", () => {
  test("points are added up to 30, 20 and 50", () => {
    expect(totalsOf(both, scoresOfAll(5))).toEqual({ execution: 30, strategic: 20, combined: 50 });
    expect(totalsOf(one, scoresOfAll(5))).toEqual({ execution: 30, combined: 30 });
  });

  test.each([
    ["market_creation", { market_creation: 5 }, 0, (10 / 25) * 20],
    ["defensibility", { first_mover_window: 5, network_effects: 5 }, 0, (20 / 30) * 20],
    ["speed", { strategic_clarity: 5 }, 0, (10 / 25) * 20],
  ] as const)(
    "focus %s weighs its dimensions twice and is scaled back",
    (strategic_focus, points, execution, strategic) => {
      const rrd = { ...both, mission: { ...both.mission, strategic_focus } };
      const none = scoresOfAll(0);
      const totals = totalsOf(rrd, { execution: none.execution, strategic: { ...none.strategic, ...points } });
      expect(totals.execution).toBe(execution);
      expect(totals.strategic).toBeCloseTo(strategic, 1);
    },
  );

  test.each([
    [35, 21, 14, "PRESENT"],
    [25, 15, 10, "PRESENT"],
    [24, 18, 6, "EXTRACT_INSIGHTS"],
    [24, 12, 12, "EXTRACT_INSIGHTS"],
    [24, 15, 9, "REJECT"],
    [18, 18, 0, "EXTRACT_INSIGHTS"],
    [17, 5, 12, "REJECT"],
  ])("both rubrics: %i (%i + %i) is %s", (combined, execution, strategic, decision) => {
    expect(decisionOf(both, { execution, strategic, combined })).toBe(decision);
  });

  test.each([
    [18, "PRESENT"],
    [17, "EXTRACT_INSIGHTS"],
    [12, "EXTRACT_INSIGHTS"],
    [11, "REJECT"],
  ])("one rubric: %i is %s", (execution, decision) => {
    expect(decisionOf(one, { execution, combined: execution })).toBe(decision);
    expect(decisionOf(legacy, { execution, combined: execution })).toBe(decision);
  });

  test("thresholds of the file count", () => {
    expect(
      decisionOf(
        { ...both, mission: { ...both.mission, min_combined_score: 30 } },
        { execution: 20, strategic: 9, combined: 29 },
      ),
    ).toBe("EXTRACT_INSIGHTS");
    expect(decisionOf({ ...one, requirements: { min_score_to_present: 20 } }, { execution: 19, combined: 19 })).toBe(
      "EXTRACT_INSIGHTS",
    );
  });

  test("a paper read from its abstract is presented only where the mission allows it", () => {
    const totals = totalsOf(both, scoresOfAll(4));
    expect(decide(both, totals, { read_depth: "abstract" })).toMatchObject({ decision: "EXTRACT_INSIGHTS" });
    expect(
      decide({ ...both, mission: { ...both.mission, present_abstract_only: true } }, totals, {
        read_depth: "abstract",
      }),
    ).toEqual({ decision: "PRESENT" });
  });

  test("both historic shapes of score_breakdown are read", () => {
    expect(scoresOf({}, paper("p", { score_breakdown: scoresOfAll(3).execution }))).toEqual({
      execution: scoresOfAll(3).execution,
    });
    expect(
      scoresOf(
        {},
        paper("p", { score_breakdown: { execution: scoresOfAll(3).execution, blue_ocean: scoresOfAll(2).strategic } }),
      ),
    ).toEqual({ execution: scoresOfAll(3).execution, strategic: scoresOfAll(2).strategic });
    expect(scoresOf({}, paper("p"))).toBeUndefined();
  });
});
