import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { completeFolders } from "../../fixtures/original-folders.js";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import type { Paper, Rrd } from "../../../src/research/generated/rrd.js";
import { bibliography } from "../../../src/research/workflow/report/bibtex.js";
import { inconsistencies } from "../../../src/research/workflow/records/inconsistencies.js";
import { block, cell } from "../../../src/research/workflow/records/markdown.js";
import {
  learnPatterns,
  patternLines,
  readPatterns,
  unlearned,
} from "../../../src/research/workflow/records/lessons.js";
import { renderReport } from "../../../src/research/workflow/report/report.js";
import { decide, decisionOf, scoresOf, totalsOf } from "../../../src/research/workflow/records/scores.js";
import { saysComplete, sentinel } from "../../../src/engine/loop/sentinel.js";
import { standingOf } from "../../../src/research/workflow/records/status.js";
import { derive, deriveStatistics } from "../../../src/research/workflow/records/statistics.js";
import { strayNumbers } from "../../../src/research/workflow/report/unsupported-numbers.js";
import { narrative, paper, rrdWith, temporaryFolder } from "../../support/research.js";

const all = (points: number) => ({
  execution: {
    novelty: points,
    feasibility: points,
    time_to_poc: points,
    value_market: points,
    defensibility: points,
    adoption: points,
  },
  strategic: {
    market_creation: points,
    first_mover_window: points,
    network_effects: points,
    strategic_clarity: points,
  },
});
const both = rrdWith([paper("p1")]);
const one: Rrd = { ...both, mission: { blue_ocean_scoring: false } };
const legacy: Rrd = { ...both, mission: undefined };

describe("the sentinel", () => {
  test.each([
    sentinel,
    `Done.\n${sentinel}`,
    `**${sentinel}**`,
    `  \`${sentinel}\`  `,
    `> ${sentinel}`,
    `\`\`\`\n${sentinel}\n\`\`\``,
    `ok\r\n${sentinel}\r\n`,
  ])("counts alone on its line: %j", (message) => {
    expect(saysComplete(message)).toBe(true);
  });
  test.each([
    "",
    "COMPLETE",
    `I will not output ${sentinel} yet.`,
    `${sentinel} is what I would say.`,
    `Say "${sentinel}"`,
    "<promise>COMPLETE</promise",
    "<promise>complete</promise>",
  ])("does not count when it is only mentioned: %j", (message) => {
    expect(saysComplete(message)).toBe(false);
  });
});

describe("totals and decisions", () => {
  test("points are added up to 30, 20 and 50", () => {
    expect(totalsOf(both, all(5))).toEqual({ execution: 30, strategic: 20, combined: 50 });
    expect(totalsOf(one, all(5))).toEqual({ execution: 30, combined: 30 });
  });

  test.each([
    ["market_creation", { market_creation: 5 }, 0, (10 / 25) * 20],
    ["defensibility", { first_mover_window: 5, network_effects: 5 }, 0, (20 / 30) * 20],
    ["speed", { strategic_clarity: 5 }, 0, (10 / 25) * 20],
  ] as const)(
    "focus %s weighs its dimensions twice and is scaled back",
    (strategic_focus, points, execution, strategic) => {
      const rrd = { ...both, mission: { ...both.mission, strategic_focus } };
      const none = all(0);
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
    const totals = totalsOf(both, all(4));
    expect(decide(both, totals, { read_depth: "abstract" })).toMatchObject({ decision: "EXTRACT_INSIGHTS" });
    expect(
      decide({ ...both, mission: { ...both.mission, present_abstract_only: true } }, totals, {
        read_depth: "abstract",
      }),
    ).toEqual({
      decision: "PRESENT",
    });
  });

  test("both historic shapes of score_breakdown are read", () => {
    expect(scoresOf(paper("p", { score_breakdown: all(3).execution }))).toEqual({ execution: all(3).execution });
    expect(
      scoresOf(paper("p", { score_breakdown: { execution: all(3).execution, blue_ocean: all(2).strategic } })),
    ).toEqual({
      execution: all(3).execution,
      strategic: all(2).strategic,
    });
    expect(scoresOf(paper("p"))).toBeUndefined();
  });
});

const decided = (id: string, status: Paper["status"], points: number, decision: string): Paper =>
  paper(id, {
    status,
    decision,
    score: points * 10,
    score_breakdown: { execution: all(points).execution, blue_ocean: all(points).strategic },
  });

const strong = { execution: { ...all(3).execution }, blue_ocean: { ...all(1).strategic } };
const insightful: Paper = {
  ...decided("c", "insights_extracted", 2, "EXTRACT_INSIGHTS"),
  score: 22,
  score_breakdown: strong,
};

describe("what follows from the records", () => {
  const pool = [decided("a", "presented", 4, "PRESENT"), decided("b", "rejected", 1, "REJECT"), insightful, paper("d")];

  test("counts and averages are derived, whatever the file said", () => {
    const rrd = {
      ...rrdWith(pool),
      statistics: { total_presented: 99, discovery_metrics: { sources_tried: ["arXiv"] } },
    };
    expect(deriveStatistics(rrd)).toMatchObject({
      total_discovered: 4,
      total_analyzed: 3,
      total_presented: 1,
      total_rejected: 1,
      total_insights_extracted: 1,
      discovery_metrics: { sources_tried: ["arXiv"], sources_blocked: [] },
      analysis_metrics: {
        avg_combined_score: 24,
        combined_score_distribution: { "0-17": 1, "18-24": 1, "25-34": 0, "35-50": 1 },
      },
    });
  });

  test("a retracted paper and one of which nothing could be read are in no average, while one read from its abstract is", () => {
    const averages = (more: readonly Paper[]) => deriveStatistics(rrdWith([...pool, ...more])).analysis_metrics;
    const zero = decided("z", "rejected", 0, "REJECT");
    const title: Paper = { ...zero, read_depth: "abstract", abstract: null };
    expect(averages([{ ...zero, retracted: true }, title])).toEqual(averages([]));
    expect(averages([{ ...title, abstract: "It is about hands." }])).toMatchObject({ avg_combined_score: 18 });
    expect(averages([{ ...title, text_sha256: "0".repeat(64) }])).toMatchObject({ avg_combined_score: 18 });
  });

  test("a check for retractions that was undone is no longer told of", () => {
    const retraction_check = { at: "2026-11-22T10:00:00.000Z", checked: 0, not_checked: 8, demoted: [] };
    expect(deriveStatistics({ ...rrdWith(pool), statistics: { retraction_check } })).not.toHaveProperty(
      "retraction_check",
    );
  });

  test("deriving twice changes nothing more", () => {
    const ledger: LedgerLine[] = [
      {
        iteration: 1,
        at: "2026-01-01T00:10:00.000Z",
        unit: "a",
        phase: "ANALYSIS",
        outcome: "accepted",
        duration_seconds: 600,
      },
    ];
    const once = derive(rrdWith(pool), ledger);
    expect(derive(once, ledger)).toEqual(once);
    expect(once.timing?.analysis).toMatchObject({
      started_at: "2026-01-01T00:00:00.000Z",
      papers_analyzed: 3,
      avg_seconds_per_paper: 600,
    });
  });

  test("a phase that the records contradict is put right", () => {
    expect(derive({ ...rrdWith(pool), phase: "COMPLETE" }, []).phase).toBe("ANALYSIS");
    expect(derive({ ...rrdWith(pool.slice(0, 3)), phase: "COMPLETE" }, []).phase).toBe("COMPLETE");
  });

  test("papers are read by priority, then in the order they were found; refused ones are set aside", () => {
    const refusals = [1, 2, 3].map((iteration) => ({ iteration, at: "", reasons: ["x"] }));
    const rrd = rrdWith([
      paper("low", { priority: 1 }),
      paper("first"),
      paper("second"),
      paper("high", { priority: 5 }),
      paper("bad", { priority: 5, refusals }),
    ]);
    const standing = standingOf(rrd, []);
    expect(standing.readable.map(({ id }) => id)).toEqual(["high", "first", "second", "low"]);
    expect(standing.refused.map(({ id }) => id)).toEqual(["bad"]);
  });

  test("contradictions of a file are named with a pointer and the derived value", () => {
    const wrong = { ...decided("a", "presented", 4, "REJECT"), score: 12 };
    const found = inconsistencies({
      ...rrdWith([wrong]),
      statistics: { total_presented: 5 },
      insights: [{ insight: "i", paper_id: "zz" }],
    });
    expect(found).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ pointer: "/statistics/total_presented", derived: 1 }),
        expect.objectContaining({ pointer: "/papers_pool/0/score", derived: 40 }),
        expect.objectContaining({ pointer: "/papers_pool/0/decision", derived: "PRESENT" }),
        expect.objectContaining({ pointer: "/insights/0/paper_id" }),
      ]),
    );
  });

  test("a consistent file has none", () => {
    expect(inconsistencies(derive(rrdWith(pool), []))).toEqual([]);
  });
});

describe("the report", () => {
  const judging = { iteration: 9, agent: "scripted", at: new Date("2026-02-03T00:00:00Z") };
  const render = (rrd: Rrd, over: object = {}) =>
    renderReport(
      rrd,
      narrative({ key_findings: [{ text: "x", paper_ids: ["a"] }], recommendations: [], ...over }),
      { ledger: [], patterns: [] },
      judging,
    );

  test("has the original's sections, in its order, then the references", () => {
    const headings = [
      ...render(derive(rrdWith([decided("a", "presented", 4, "PRESENT")]), [])).matchAll(/^## (.+)$/gm),
    ].map((match) => match[1]);
    expect(headings).toEqual([
      "Research: a small matter",
      "Executive Summary",
      "Top Scoring Papers",
      "Evidence",
      "Key Insights by Category",
      "Commercial Ecosystem Map",
      "Approach/Architecture Comparison",
      "Learnings & Documentation Updates",
      "Research Quality Assessment",
      "Recommendations for Follow-Up",
      "Conclusion",
      "How This Was Made",
      "References",
    ]);
  });

  test("each paper stands in exactly one tier", () => {
    const rrd = derive(
      rrdWith([
        decided("a", "presented", 4, "PRESENT"),
        decided("b", "rejected", 1, "REJECT"),
        decided("c", "insights_extracted", 2, "EXTRACT_INSIGHTS"),
      ]),
      [],
    );
    const tiers = render(rrd).split("## Top Scoring Papers")[1]?.split("## Evidence")[0] ?? "";
    for (const id of ["a", "b", "c"]) expect(tiers.split(`(${id})`).length - 1, id).toBe(1);
  });

  test("a title cannot break a table or bring markup with it", () => {
    const rrd = derive(
      rrdWith([{ ...decided("a", "presented", 4, "PRESENT"), title: "A | B\n# <script>alert(1)</script>" }]),
      [],
    );
    const text = render(rrd);
    expect(text).toContain("A \\| B # &lt;script>");
    expect(text).not.toContain("<script>");
    expect(cell("a|b")).toBe("a\\|b");
    expect(block("# not a heading\n\n| not a table")).toBe("\\# not a heading\n\n\\| not a table");
  });

  test("numbers of the narrative that stand in no record are named", () => {
    const rrd = derive(
      rrdWith([{ ...decided("a", "presented", 4, "PRESENT"), analysis: { results: "It reached 87.5 % of 1,200." } }]),
      [],
    );
    const said = narrative({
      executive_summary: "It reached 87.5 % on 1200 samples, 93.1 % elsewhere, in 3 places.",
      key_findings: [{ text: "x", paper_ids: ["a"] }],
    });
    expect(strayNumbers(rrd, said)).toEqual(["93.1"]);
    expect(render(rrd, said)).toContain("appear in no record of this project: 93.1.");
  });

  test("references survive BibTeX's own characters", () => {
    const rrd = rrdWith([
      {
        ...decided("arxiv_2401.00010", "presented", 4, "PRESENT"),
        title: "50% {Faster} \\input{x} & more",
        authors: ["A_B", "C"],
      },
    ]);
    expect(bibliography(rrd)).toContain("title = {{50\\% Faster inputx \\& more}}");
    expect(bibliography(rrd)).toContain("author = {A\\_B and C}");
    expect(bibliography(rrd)).toContain("eprint = {2401.00010}");
  });
});

describe("learned patterns", () => {
  test("are read back from progress.txt, and only a person's word takes one into AGENTS.md, once", async () => {
    const folder = temporaryFolder();
    writeFileSync(
      join(folder, "progress.txt"),
      ["# Log", ...patternLines("p1", ["Tables are in the appendix.", "Two\nlines"]), "## Next"].join("\n"),
    );
    writeFileSync(join(folder, "AGENTS.md"), "# Mine\n\n## Learned patterns\n\n- Old.\n\n## After\n\nText.\n");
    const patterns = await readPatterns(folder);
    expect(patterns).toEqual([
      { unit: "p1", text: "Tables are in the appendix." },
      { unit: "p1", text: "Two lines" },
    ]);
    expect(readFileSync(join(folder, "AGENTS.md"), "utf8")).not.toContain("appendix");
    await learnPatterns(folder, patterns.slice(0, 1));
    await learnPatterns(folder, patterns.slice(0, 1));
    expect(readFileSync(join(folder, "AGENTS.md"), "utf8")).toBe(
      "# Mine\n\n## Learned patterns\n\n- Old.\n- Tables are in the appendix.\n\n## After\n\nText.\n",
    );
    expect(await unlearned(folder, patterns)).toEqual(patterns.slice(1));
  });

  test("are one line of what a person can see, also those of a log from before; one without a word is none", async () => {
    const nasty = "\u001b]52;c;ZQ==\u0007Learn\u009b31m this\u202e.\u{e0041}";
    const lines = patternLines("p1", ["\u200b", nasty]);
    expect(lines).toEqual(["**Research Patterns:**", "- (p1) Learn this.", ""]);
    expect(patternLines("p1", ["\u200b"])).toEqual([]);
    const folder = temporaryFolder();
    writeFileSync(join(folder, "progress.txt"), `**Research Patterns:**\n- (p1) \u200b\n- (p1) ${nasty}\n`);
    expect(await readPatterns(folder)).toEqual([{ unit: "p1", text: "Learn this." }]);
  });
});

describe("complete folders of the original tool", () => {
  test.each(Object.entries(completeFolders))("%s is complete, and deriving keeps what it has", (_, written) => {
    const rrd = written as unknown as Rrd;
    expect(standingOf(rrd, []).phase).toBe("COMPLETE");
    expect(derive(rrd, [])).toMatchObject({
      papers_pool: rrd.papers_pool,
      insights: rrd.insights,
      phase: "COMPLETE",
    });
  });
});
