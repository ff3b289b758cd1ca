import { expect, test } from "vitest";
import { withOverride, withOverrides } from "../../../../src/research/derived/overrides.js";
import type { Rrd } from "../../../../src/research/generated/rrd.js";
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
  ["none", "yes", "presented", null],
  ["none", "no", "rejected", null],
  ["none", "unclear", "waiting", null],
] as const)("with the rubric %s, a paper that answers %s is %s", async (rubric, answer, status, score) => {
  const { brief, paper: read } = await readWith(rubric, answer, rubric !== "none");
  expect(read).toMatchObject({ status, score });
  expect(/time_to_poc|rubrics/.test(brief)).toBe(rubric !== "none");
  expect(brief).not.toContain("<!--");
  if (rubric === "none") for (const field of ["held_scores"]) expect(read?.[field as "held_scores"] ?? null).toBeNull();
});

test("a person's decision includes what the criteria held back, without another reading", async () => {
  const { rrd } = await readWith("none", "unclear", false);
  const override = { decision: "include", why: "it is one", at: "2026-01-02T00:00:00.000Z" } as const;
  const [included] = withOverrides(withOverride(rrd, "p1", override)).papers_pool;
  expect(included).toMatchObject({ status: "presented", decision: "PRESENT", score: null });
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
