import { originalTexts } from "../../../fixtures/original-folders.js";
import { describe, expect, it } from "vitest";
import type { Rrd } from "../../../../src/research/generated/rrd.js";
import { readRrdShape } from "../../../../src/research/project-files/legacy/read-rrd.js";
import { formatRrd, parseRrd } from "../../../../src/research/project-files/rrd-file.js";

const execution = { novelty: 4, feasibility: 3, time_to_poc: 3, value_market: 4, defensibility: 2, adoption: 3 };
const paper = { id: "arxiv_1", title: "A paper", status: "presented", decision: "PRESENT" };
const base = {
  project: "Research: old",
  requirements: { keywords: ["a"] },
  phase: "ANALYSIS",
  papers_pool: [paper],
  insights: [{ id: "insight_001", insight: "It works." }],
  mine: { kept: [1] },
};
const parse = (rrd: object) => parseRrd(JSON.stringify(rrd), "rrd.json");

describe("a value in another shape is read as what it means, and the change is told", () => {
  it.each<[string, object, object, string]>([
    ["a phase in small letters", { phase: "analysis" }, { phase: "ANALYSIS" }, "/phase"],
    ["another form of a phase", { phase: "discovering" }, { phase: "DISCOVERY" }, "/phase"],
    ["a phase that is over", { phase: "Completed" }, { phase: "COMPLETE" }, "/phase"],
    ["no phase, with papers", { phase: undefined }, { phase: "ANALYSIS" }, "/phase"],
    ["no phase, without papers", { phase: null, papers_pool: [] }, { phase: "DISCOVERY", papers_pool: [] }, "/phase"],
    [
      "numbers of the requirements",
      { requirements: { target_papers: "20", time_window_days: " 90 ", keywords: ["7"] } },
      { requirements: { target_papers: 20, time_window_days: 90, keywords: ["7"] } },
      "/requirements/target_papers",
    ],
    [
      "a threshold",
      { mission: { min_combined_score: "25.5" } },
      { mission: { min_combined_score: 25.5 } },
      "/mission/min_combined_score",
    ],
    [
      "a duration",
      { timing: { discovery: { started_at: null, duration_seconds: "744" } } },
      { timing: { discovery: { started_at: null, duration_seconds: 744 } } },
      "/timing/discovery/duration_seconds",
    ],
    [
      "bounds of ideas",
      { handoff: { product_ideation: { min_ideas: "3" } } },
      { handoff: { product_ideation: { min_ideas: 3 } } },
      "/handoff/product_ideation/min_ideas",
    ],
    [
      "a count",
      { statistics: { total_analyzed: "20" } },
      { statistics: { total_analyzed: 20 } },
      "/statistics/total_analyzed",
    ],
    [
      "insights without ids",
      { insights: [{ id: "insight_007", insight: "x" }, { insight: "y" }, { id: null, insight: "z" }] },
      {
        insights: [
          { id: "insight_007", insight: "x" },
          { id: "insight_008", insight: "y" },
          { id: "insight_009", insight: "z" },
        ],
      },
      "/insights/1/id",
    ],
  ])("%s", (_, given, read, pointer) => {
    const { ok, changes, problems } = parse({ ...base, ...given });
    expect(problems).toBeUndefined();
    expect(ok).toEqual({ ...base, ...read });
    expect(changes.map((change) => change.pointer)).toContain(pointer);
    for (const { message } of changes) expect(message).toMatch(/^is .*, read as /);
    expect(readRrdShape(ok)).toEqual({ value: ok, changes: [] });
  });

  it.each<[string, object, object]>([
    ["a score and a priority", { score: "31", priority: "4" }, { score: 31, priority: 4 }],
    ["points side by side", { score_breakdown: { ...execution, novelty: "4" } }, { score_breakdown: execution }],
    [
      "points of both rubrics and their sums",
      { score_breakdown: { execution: { ...execution, novelty: "4" }, execution_total: "19" } },
      { score_breakdown: { execution, execution_total: 19 } },
    ],
    ["a status in capitals", { status: "INSIGHTS_EXTRACTED" }, { status: "insights_extracted" }],
    ["another form of a status", { status: "Reject" }, { status: "rejected" }],
    ["a paper that was read and decided", { status: "analyzed", decision: "REJECT" }, { status: "rejected" }],
    [
      "a paper that is done and was kept",
      { status: "Done", decision: "EXTRACT_INSIGHTS" },
      { status: "insights_extracted" },
    ],
    ["a decided paper without a status", { status: null }, { status: "presented" }],
    [
      "a paper that was read, undecided",
      { status: undefined, decision: null, analysis: {} },
      { status: "insights_extracted" },
    ],
    ["a paper without a status that nobody read", { status: null, decision: null }, { status: "pending" }],
  ])("%s of a paper", (_, given, read) => {
    const { ok, changes, problems } = parse({ ...base, papers_pool: [{ ...paper, ...given }] });
    expect(problems).toBeUndefined();
    expect(ok?.papers_pool).toEqual([{ ...paper, ...given, ...read }]);
    for (const { pointer } of changes) expect(pointer).toMatch(/^\/papers_pool\/0\//);
    expect(readRrdShape(ok)).toEqual({ value: ok, changes: [] });
  });
});

it.each<[string, object]>([
  ["/papers_pool/0/status", { papers_pool: [{ ...paper, status: "xyz" }] }],
  ["/papers_pool/0/score", { papers_pool: [{ ...paper, score: "8/10" }] }],
  [
    "/papers_pool/0/score_breakdown/novelty",
    { papers_pool: [{ ...paper, score_breakdown: { ...execution, novelty: 9 } }] },
  ],
  ["/papers_pool/0", { papers_pool: ["arxiv_1"] }],
  ["/papers_pool", { papers_pool: { id: "arxiv_1" } }],
  ["/requirements/keywords", { requirements: { keywords: "a, b" } }],
  ["/phase", { phase: "elsewhere" }],
  ["/insights/0", { insights: [{ id: "insight_001" }] }],
  ["/loop/observations", { loop: { observations: "none" } }],
])("what can't be understood is an error at %s", (pointer, fields) => {
  expect(parse({ ...base, ...fields }).problems?.map((problem) => problem.pointer)).toEqual([pointer]);
});

it("a file in order is not copied, and of another one only what differs changes: unknown fields and the order stay", () => {
  expect(readRrdShape(base)).toEqual({ value: base, changes: [] });
  expect(readRrdShape(base).value).toBe(base);
  const odd = {
    zebra: 1,
    ...base,
    phase: "Analysis",
    papers_pool: [
      { mine: 1, ...paper, status: "Presented", later: { x: [2] } },
      { ...paper, id: "arxiv_2" },
    ],
  };
  const { value, changes } = readRrdShape(odd) as { value: typeof odd; changes: unknown };
  expect(JSON.stringify(value)).toBe(
    JSON.stringify(odd).replace('"Analysis"', '"ANALYSIS"').replace('"Presented"', '"presented"'),
  );
  expect(value.papers_pool[1]).toBe(odd.papers_pool[1]);
  expect(changes).toEqual([
    { pointer: "/phase", message: 'is "Analysis", read as "ANALYSIS"' },
    { pointer: "/papers_pool/0/status", message: 'is "Presented", read as "presented"' },
  ]);
});

it.each(originalTexts)("%s of the original tool is read without a change", (name, text) => {
  const { ok, changes } = parseRrd(text, name);
  expect(changes).toEqual([]);
  expect(formatRrd(ok as Rrd)).toBe(text);
});

it.each([[null], [[]], ["x"], [{}], [{ phase: null }], [{ papers_pool: {} }]])(
  "what is no research stays as it is: %j",
  (given) => {
    expect(readRrdShape(given)).toEqual({ value: given, changes: [] });
    expect(readRrdShape(given).value).toBe(given);
  },
);
