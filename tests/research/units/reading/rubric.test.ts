import { describe, expect, test } from "vitest";
import { withOverride, withOverrides } from "../../../../src/research/derived/overrides.js";
import type { Rrd } from "../../../../src/research/generated/rrd.js";
import { rubricIn } from "../../../../src/research/papers/rubric/own-rubric.js";
import { newRrd } from "../../../../src/research/workflow/new-research.js";
import { acceptRead } from "../../../support/projects/accept-read.js";
import { goodAgent, paper, reading, researchFolder, rrdWith } from "../../../support/projects/research.js";

const named = { name: "a small matter", description: "", focus_area: "", keywords: [] };
const criteria = [{ id: "c1", kind: "include" as const, text: "a measurement" }];
const quote = "The method reached 87.5 % accuracy on 1,200 samples.";

/** A reading that would be rejected for its points, or has none. */
const weak = (scored: boolean) => {
  const points = { novelty: 0, feasibility: 0, time_to_poc: 0, value_market: 0, defensibility: 0, adoption: 0 };
  const strategic = { market_creation: 0, first_mover_window: 0, network_effects: 0, strategic_clarity: 0 };
  const { scores: _, ...others } = reading("p1");
  return scored ? { ...others, scores: { execution: points, blue_ocean: strategic } } : others;
};

/** The project once the one paper was read with this answer to its criterion, and the unit that its agent saw. */
async function readWith(rubric: Rrd["rubric"], answer: "yes" | "no" | "unclear", isScored: boolean) {
  const pool = rrdWith([paper("p1")]);
  const { rubric: _, ...old } = pool;
  const rrd = { ...old, ...(rubric === undefined ? {} : { rubric }), requirements: { ...pool.requirements, criteria } };
  let brief = "";
  const agent = goodAgent((unit, text) => {
    if (unit["kind"] !== "paper") return undefined;
    brief = text;
    return { result: { ...weak(isScored), criteria: { c1: { answer, ...(answer === "unclear" ? {} : { quote }) } } } };
  });
  const after = await researchFolder(rrd).run(agent, 1);
  return { brief, rrd: after.rrd, paper: after.rrd.papers_pool[0] };
}

test.each([
  [undefined, "yes", "rejected", 0],
  ["original", "yes", "presented", 0],
  ["none", "yes", "presented", undefined],
  ["none", "no", "rejected", undefined],
  ["none", "unclear", "waiting", undefined],
] as const)("with the rubric %s, a paper that answers %s is %s", async (rubric, answer, status, score) => {
  const { brief, paper: read } = await readWith(rubric, answer, rubric !== "none");
  expect(read).toMatchObject({ status });
  expect(read?.score).toBe(score);
  expect(/time_to_poc|rubrics/.test(brief)).toBe(rubric !== "none");
  expect(brief).not.toContain("<!--");
  if (rubric === "none") expect(JSON.stringify(read)).not.toContain("score");
});

test("a person's decision includes what the criteria held back, without another reading", async () => {
  const { rrd } = await readWith("none", "unclear", false);
  const override = { decision: "include", why: "it is one", at: "2026-01-02T00:00:00.000Z" } as const;
  const [included] = withOverrides(withOverride(rrd, "p1", override)).papers_pool;
  expect(included).toMatchObject({ status: "presented", decision: "PRESENT" });
});

test("points that are asked for are not left out", () => {
  const judging = { iteration: 1, agent: "scripted", at: new Date("2026-03-04T05:06:07.890Z") };
  const judged = acceptRead(rrdWith([paper("p1")]), paper("p1"), weak(false), {}, judging);
  expect("reasons" in judged && judged.reasons).toEqual(["/scores is missing; this project is judged by a rubric"]);
});

test("a new project has the original's rubrics, and none where criteria decide; ideas come with the first alone", () => {
  const made = (over: object) => newRrd({ papers: 1, sources: [], ...over }, named);
  const told = ({ rubric, handoff }: Rrd) => [rubric, handoff?.product_ideation?.enabled];
  expect(told(made({}))).toEqual(["original", true]);
  expect(told(made({ criteria: [{ kind: "include", text: "a measurement" }] }))).toEqual(["none", false]);
  expect(told(made({ criteria: [{ kind: "include", text: "a measurement" }], rubric: "original" }))).toEqual([
    "original",
    true,
  ]);
});

const own = rubricIn({ dimensions: { Rigour: { 0: "none", 5: "blinded" }, relevance: null }, present: 6, insights: 4 });

describe("a rubric of one's own", () => {
  const rrdBy = (rubric: typeof own) => ({
    ...rrdWith([paper("p1")], { mission: { present_abstract_only: true } }),
    rubric: rubric as NonNullable<Rrd["rubric"]>,
  });
  const judged = (points: Record<string, number>, rubric = own) => {
    const judging = { iteration: 1, agent: "scripted", at: new Date("2026-03-04T05:06:07.890Z") };
    const { scores: _, ...others } = reading("p1");
    return acceptRead(rrdBy(rubric), paper("p1"), { ...others, points }, {}, judging);
  };

  test.each([
    [{ rigour: 3, relevance: 3 }, "presented", 6],
    [{ rigour: 3, relevance: 1 }, "insights_extracted", 4],
    [{ rigour: 0, relevance: 3 }, "rejected", 3],
  ])("decides by its own thresholds: %j is %s", (points, status, score) => {
    const made = judged(points);
    const set = "changes" in made ? made.changes[0] : undefined;
    expect(set).toMatchObject({ set: { status, score, score_breakdown: { points } } });
  });

  test("asks for its points and for nothing of the original's, and takes no result that lacks one", async () => {
    let brief = "";
    const { scores: _, ...others } = reading("p1");
    const agent = goodAgent((unit, text) => {
      if (unit["kind"] !== "paper") return undefined;
      brief = text;
      return { result: { ...others, points: { rigour: 5, relevance: 5 } } };
    });
    const after = await researchFolder(rrdBy(own)).run(agent, 1);
    expect(after.rrd.papers_pool[0]).toMatchObject({ status: "presented", score: 10 });
    expect(brief).toContain("- rigour: Rigour (0: none, 5: blinded)");
    expect(brief).not.toMatch(/time_to_poc|rubrics/);
    expect(judged({ rigour: 3 })).toEqual({
      reasons: ["/points lacks relevance; give each dimension of the rubric 0 to 5"],
    });
  });

  test("without a threshold its points only order", () => {
    const made = judged({ only: 0 }, rubricIn({ dimensions: { only: null } }));
    expect("changes" in made && made.changes[0]).toMatchObject({ set: { status: "presented", score: 0 } });
  });

  test.each([
    [["rigour"], "'dimensions' must name"],
    [{ dimensions: {} }, "'dimensions' must name"],
    [{ dimensions: { rigour: { 6: "more" } } }, "'rigour' has '6'"],
    [{ dimensions: { rigour: "sound" } }, "'rigour' must say what its points mean"],
    [{ dimensions: { "Ré sumé": null, "re-sume": null } }, "same letters"],
    [{ dimensions: { a: null }, present: 6 }, "'present' is 6; it must be a number of points from 0 to 5"],
    [{ dimensions: { a: null }, insights: 2 }, "'insights' needs 'present'"],
    [{ dimensions: { a: null }, weights: 1 }, "it has 'weights'"],
  ])("that can't be used says what is wrong: %j", (value, why) => {
    expect(rubricIn(value)).toContain(why);
  });
});
