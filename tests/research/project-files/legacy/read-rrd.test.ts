import { originalTexts } from "../../../fixtures/original-folders.js";
import { describe, expect, it } from "vitest";
import type { Rrd } from "../../../../src/research/generated/rrd.js";
import { readRrdShape } from "../../../../src/research/project-files/legacy/read-rrd.js";
import { formatRrd, parseRrd } from "../../../../src/research/project-files/rrd-file.js";
import { scoresOf } from "../../../../src/research/papers/scores-and-decision/scores-and-decision.js";
import { shape } from "./reading-rows.js";

const execution = { novelty: 4, feasibility: 3, time_to_poc: 3, value_market: 4, defensibility: 2, adoption: 3 };
const strategic = { market_creation: 3, first_mover_window: 2, network_effects: 2, strategic_clarity: 4 };
const paper = { id: "arxiv_1", title: "A paper", status: "presented", decision: "PRESENT" };
const insight = { id: "insight_001", insight: "It works." };
const base = {
  project: "Research: old",
  requirements: { keywords: ["a"] },
  phase: "ANALYSIS",
  papers_pool: [paper],
  insights: [insight],
  mine: { kept: [1] },
};

const parse = (rrd: object) => parseRrd(JSON.stringify(rrd), "rrd.json");

/** What stands at a pointer once the file was read. */
function readAt(rrd: object, pointer: string): unknown {
  const { ok, problems } = parse(rrd);
  expect(problems).toBeUndefined();
  return pointer
    .split("/")
    .slice(1)
    .reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], ok);
}

const ofPaper: [string, object, unknown][] = [
  ["priority", { priority: "high" }, 5],
  ["priority", { priority: "Medium" }, 3],
  ["priority", { priority: "3" }, 3],
  ["priority", { priority: "n/a" }, null],
  ["date", { date: 2025 }, "2025"],
  ["score", { score: "32/50" }, 32],
  ["score", { score: "32" }, 32],
  ["score", { score: { total: 31, execution: 20 } }, 31],
  ["score", { score_breakdown: { execution, combined_score: 30 } }, 30],
  [
    "authors",
    {
      authors: [
        { name: "Ada Author", affiliation: "X" },
        { given: "Bo", family: "Writer" },
      ],
    },
    ["Ada Author", "Bo Writer"],
  ],
  ["notes", { notes: ["First.", "Second."] }, "First. Second."],
  ["status", { status: "analyzed" }, "presented"],
  ["status", { status: "Analyzed", decision: "REJECT" }, "rejected"],
  ["status", { status: "analyzed", decision: null, analysis: null }, "pending"],
  ["status", { status: "Presented" }, "presented"],
  ["status", { status: "INSIGHTS_EXTRACTED" }, "insights_extracted"],
  ["status", { status: "Extract Insights" }, "insights_extracted"],
  ["status", { status: null }, "presented"],
  ["title", { title: undefined }, "arxiv_1"],
  ["url", { url: ["https://example.org/a", "https://example.org/b"] }, "https://example.org/a"],
  ["pdf_url", { pdf_url: false }, null],
  ["identifiers", { identifiers: null }, undefined],
  ["identifiers", { identifiers: { doi: "10.1/x", arxiv: null, pmid: 123 } }, { doi: "10.1/x", pmid: "123" }],
  ["warnings", { warnings: null }, undefined],
  ["warnings", { warnings: "Retracted, it seems." }, ["Retracted, it seems."]],
  ["read_depth", { read_depth: null }, undefined],
  ["read_depth", { read_depth: "full_text" }, "full"],
  ["read_depth", { read_depth: "Abstract only" }, "abstract"],
  ["retracted", { retracted: "no" }, false],
  ["iteration", { iteration: 0 }, undefined],
  ["text_sha256", { text_sha256: null }, undefined],
  ["refusals", { refusals: null }, undefined],
  ["analysis", { analysis: "It is a text." }, { summary: "It is a text." }],
  ["analysis/summary", { analysis: { summary: { goal: "a", means: "b" } } }, ["goal: a", "means: b"]],
  [
    "analysis/results",
    { analysis: { results: [{ metric: "accuracy", value: 87.5 }] } },
    ["metric: accuracy; value: 87.5"],
  ],
  ["analysis/results", { analysis: { results: 42 } }, "42"],
  ["analysis/commercialized_by", { analysis: { commercialized_by: ["Acme", { name: "Bolt" }] } }, "Acme, Bolt"],
  [
    "analysis/implementations_found",
    { analysis: { implementations_found: { url: "https://x.org" } } },
    [{ url: "https://x.org" }],
  ],
  ["analysis/evidence", { analysis: { evidence: null } }, undefined],
  [
    "analysis/evidence",
    { analysis: { evidence: ["It works."] } },
    [{ claim: "It works.", quote: "It works.", status: "could-not-check" }],
  ],
  [
    "analysis/evidence",
    { analysis: { evidence: [{ claim: "It works.", quote: "it did", page: 4, status: "ok" }] } },
    [{ claim: "It works.", quote: "it did", page: 4, status: "could-not-check" }],
  ],
];

const ofInsight: [string, unknown, unknown][] = [
  ["insight", "It works.", "It works."],
  ["insight", { id: 7, finding: "It works." }, "It works."],
  ["id", { id: 7, insight: "x" }, "7"],
  ["paper_id", { ...insight, paper_id: ["arxiv_1"] }, "arxiv_1"],
  ["papers", { ...insight, paper_id: ["arxiv_1", "arxiv_2"] }, ["arxiv_1", "arxiv_2"]],
  ["tags", { ...insight, tags: "a, b" }, ["a", "b"]],
  ["cross_refs", { ...insight, cross_refs: [{ paper_id: "arxiv_1", relation: "extends" }] }, ["arxiv_1"]],
  ["cross_cluster", { ...insight, cross_cluster: ["a", "b"] }, "a; b"],
];

const ofTop: [string, object, unknown][] = [
  ["/phase", { phase: "analysis" }, "ANALYSIS"],
  ["/phase", { phase: "Completed" }, "COMPLETE"],
  ["/phase", { phase: undefined }, "ANALYSIS"],
  ["/mission/strategic_focus", { mission: { strategic_focus: null } }, undefined],
  ["/mission/strategic_focus", { mission: { strategic_focus: "world domination" } }, "balanced"],
  ["/mission/strategic_focus", { mission: { strategic_focus: "Market Creation" } }, "market_creation"],
  ["/mission", { mission: { min_combined_score: null, audience: ["anyone"] } }, { audience: ["anyone"] }],
  ["/mission/min_combined_score", { mission: { min_combined_score: "25/50" } }, 25],
  ["/mission/blue_ocean_scoring", { mission: { blue_ocean_scoring: "false" } }, false],
  ["/requirements/target_papers", { requirements: { target_papers: "20" } }, 20],
  ["/requirements/target_papers", { requirements: { target_papers: null } }, undefined],
  ["/requirements/keywords", { requirements: { keywords: "a b, c; d" } }, ["a b", "c", "d"]],
  [
    "/requirements/sources",
    { requirements: { sources: [{ name: "arXiv", url: "https://arxiv.org" }, "web"] } },
    ["arXiv", "web"],
  ],
  ["/requirements/sources", { requirements: { sources: { arXiv: true, web: false } } }, ["arXiv"]],
  ["/requirements/time_window_days", { requirements: { time_window_days: "3 months" } }, 90],
  [
    "/blocked_sources",
    { blocked_sources: { "dl.acm.org": "403, bot check" } },
    [{ source: "dl.acm.org", reason: "403, bot check" }],
  ],
  ["/blocked_sources", { blocked_sources: "web, arXiv" }, ["web", "arXiv"]],
  ["/excluded", { excluded: null }, undefined],
  ["/excluded", { excluded: ["arxiv_9"] }, [{ id: "arxiv_9", reason: "no reason recorded" }]],
  ["/visited_urls", { visited_urls: "https://a.org/x,y" }, ["https://a.org/x,y"]],
  ["/insights", { insights: null }, null],
  ["/papers_pool", { papers_pool: null }, []],
  ["/open_questions", { open_questions: "Which robots, and where?" }, ["Which robots, and where?"]],
  [
    "/domain_glossary/terms",
    { domain_glossary: { enabled: true, terms: [{ term: "RL", definition: "learning" }] } },
    { RL: "learning" },
  ],
  ["/handoff/product_ideation", { handoff: { product_ideation: true } }, { enabled: true }],
  ["/handoff/product_ideation/min_ideas", { handoff: { product_ideation: { min_ideas: "3" } } }, 3],
  ["/timing", { timing: "unknown" }, null],
  [
    "/timing/research_started_at",
    { timing: { research_started_at: "2026-01-19 15:36 (start)" } },
    "2026-01-19T15:36:00.000Z",
  ],
  [
    "/timing/research_started_at",
    { timing: { research_started_at: "2026-01-19T15:36:51+01:00" } },
    "2026-01-19T15:36:51+01:00",
  ],
  ["/timing/research_started_at", { timing: { research_started_at: 1768837011 } }, "2026-01-19T15:36:51.000Z"],
  ["/timing/discovery/started_at", { timing: { discovery: { started_at: "not recorded" } } }, null],
  ["/timing/discovery/duration_seconds", { timing: { discovery: { duration_seconds: "12m 24s" } } }, 744],
  ["/timing/discovery/duration_seconds", { timing: { discovery: { duration_seconds: "00:12:24" } } }, 744],
  ["/timing/complete", { timing: { complete: "2026-01-20T11:45:25Z" } }, { ended_at: "2026-01-20T11:45:25Z" }],
  ["/statistics", { statistics: [1, 2] }, null],
  ["/statistics/total_analyzed", { statistics: { total_analyzed: "20" } }, 20],
  ["/statistics/total_insights", { statistics: { total_insights: ["a", "b"] } }, 2],
  ["/statistics/total_presented", { statistics: { total_presented: "many" } }, null],
  ["/statistics/discovery_metrics/sources_tried", { statistics: { discovery_metrics: { sources_tried: 3 } } }, null],
  [
    "/statistics/discovery_metrics/sources_tried",
    { statistics: { discovery_metrics: { sources_tried: { arXiv: 12 } } } },
    ["arXiv"],
  ],
  [
    "/statistics/discovery_metrics/source_failure_reasons",
    { statistics: { discovery_metrics: { source_failure_reasons: [] } } },
    null,
  ],
  ["/statistics/analysis_metrics", { statistics: { analysis_metrics: "good" } }, null],
  ["/loop", { loop: { iteration: null, done: "no" } }, {}],
];

describe("a value in another shape is read as what it means, and the change is told", () => {
  const check = (rrd: object, pointer: string, expected: unknown, at: string) => {
    expect(readAt(rrd, pointer)).toEqual(expected);
    const { changes } = parse(rrd);
    if (JSON.stringify(parse(rrd).ok) !== JSON.stringify(rrd))
      expect(changes.map((change) => change.pointer).join(" ")).toContain(at);
    for (const { message } of changes) expect(message).toMatch(/, read as /);
  };
  it.each(ofPaper)("%s of a paper: %j", (field, fields, expected) => {
    check({ ...base, papers_pool: [{ ...paper, ...fields }] }, `/papers_pool/0/${field}`, expected, "/papers_pool/0");
  });
  it.each(ofInsight)("%s of an insight: %j", (field, given, expected) => {
    check({ ...base, insights: [given] }, `/insights/0/${field}`, expected, "/insights/0");
  });
  it.each(ofTop)("%s: %j", (pointer, fields, expected) => {
    check({ ...base, ...fields }, pointer, expected, `/${pointer.split("/")[1]}`);
  });
});

describe("scores are read", () => {
  const scores = (score_breakdown: unknown) => {
    const { ok, problems } = parse({ ...base, papers_pool: [{ ...paper, score_breakdown }] });
    expect(problems).toBeUndefined();
    return scoresOf((ok as Rrd).papers_pool[0] as Rrd["papers_pool"][number]);
  };
  const both = { execution, strategic };
  it.each<[string, unknown]>([
    ["nested", { execution, blue_ocean: strategic }],
    ["ten points side by side", { ...execution, ...strategic }],
    [
      "ten points side by side with totals of all names",
      { ...execution, ...strategic, execution: 19, blue_ocean: "11/20", total: 30 },
    ],
    ["execution flat, strategic nested", { ...execution, blue_ocean: strategic }],
    ["other names of the rubrics", { execution_scores: execution, strategic, total_score: 30 }],
    [
      "points as texts",
      { execution: { ...execution, novelty: "4/5" }, blue_ocean: { ...strategic, market_creation: "3" } },
    ],
    ["points with reasons", { execution: { ...execution, novelty: { score: 4, why: "new" } }, blue_ocean: strategic }],
    [
      "other names of the dimensions",
      {
        execution: {
          ...execution,
          time_to_poc: undefined,
          "Time-to-POC": 3,
          value_market: undefined,
          "Value/Market": 4,
        },
        blue_ocean: { ...strategic, network_effects: undefined, "Network/Data Effects": 2 },
      },
    ],
    [
      "a list of dimensions",
      Object.entries({ ...execution, ...strategic }).map(([dimension, score]) => ({ dimension, score })),
    ],
  ])("%s", (_, breakdown) => {
    expect(scores(breakdown)).toMatchObject(both);
  });
  it("of the execution rubric alone", () => {
    expect(scores(execution)).toEqual({ execution });
    expect(scores({ execution, blue_ocean: null })).toEqual({ execution });
  });
});

describe("what can't be understood", () => {
  it.each<[string, object]>([
    ["/papers_pool/0/status", { papers_pool: [{ ...paper, status: "xyz" }] }],
    ["/papers_pool/0/score", { papers_pool: [{ ...paper, score: "8/10" }] }],
    [
      "/papers_pool/0/score_breakdown/novelty",
      { papers_pool: [{ ...paper, score_breakdown: { ...execution, novelty: 9 } }] },
    ],
    ["/papers_pool/0", { papers_pool: ["arxiv_1"] }],
    ["/phase", { phase: "elsewhere" }],
    ["/insights/0", { insights: [{ id: "insight_001" }] }],
  ])("is an error at %s", (pointer, fields) => {
    expect(parse({ ...base, ...fields }).problems?.map((problem) => problem.pointer)).toEqual([pointer]);
  });
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

it("what was read once is read again without a change", () => {
  const everything = {
    ...base,
    ...Object.assign({}, ...ofTop.map(([, fields]) => fields)),
    phase: "done",
    insights: ofInsight.map(([, given]) => given),
    papers_pool: ofPaper.map(([, fields], index) => ({ ...paper, ...fields, id: `p${index}` })),
  };
  const { ok } = parse(everything);
  expect(readRrdShape(ok).changes).toEqual([]);
});

it.each(originalTexts)("%s of the original tool is read without a change", (name, text) => {
  const { ok, changes } = parseRrd(text, name);
  expect(changes).toEqual([]);
  expect(formatRrd(ok as Rrd)).toBe(text);
});

it.each<[object, string, string[]]>([
  [{ phase: undefined, papers_pool: [] }, "DISCOVERY", ['/phase is missing, read as "DISCOVERY"']],
  [{ phase: null, papers_pool: [7] }, "ANALYSIS", ['/phase is null, read as "ANALYSIS"']],
  [
    { phase: null, papers_pool: null },
    "DISCOVERY",
    ["/papers_pool is null, read as []", '/phase is null, read as "DISCOVERY"'],
  ],
])("without a phase the pool tells where the research stands: %j", (fields, phase, said) => {
  const { read, told } = shape(fields);
  expect(read["phase"]).toBe(phase);
  expect(told).toEqual(said);
});
it.each([[null], [[]], ["x"], [{}], [{ phase: null }], [{ papers_pool: {} }]])(
  "what is no research stays as it is: %j",
  (given) => {
    expect(readRrdShape(given)).toEqual({ value: given, changes: [] });
    expect(readRrdShape(given).value).toBe(given);
  },
);
