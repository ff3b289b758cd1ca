import { describe, expect, test } from "vitest";
import type { LedgerLine } from "../../../../src/engine/generated/ledger.js";
import type { ReportResult } from "../../../../src/research/generated/result-report.js";
import type { Evidence, Insight, Paper, Rrd } from "../../../../src/research/generated/rrd.js";
import { renderReport, assess, strayNumbers } from "../../../../src/research/workflow/report/report.js";
import { narrative, paper, rrdWith, decided } from "../../../support/research.js";
import { block, cell } from "../../../../src/research/workflow/derived/markdown.js";
import { derive } from "../../../../src/research/workflow/derived/statistics.js";

const quote = (words: string, more: Partial<Evidence> = {}): Evidence => ({
  claim: words,
  quote: words,
  status: "verified",
  locator: "p. 2",
  ...more,
});
const insight = (number: number, paper_id: string, words: string): Insight => ({
  ...{ id: `insight_00${number}`, paper_id, insight: words, tags: ["t"], cross_refs: [] },
});
const presented = (id: string, evidence: Evidence[], more: Partial<Paper> = {}): Paper =>
  paper(id, {
    status: "presented",
    decision: "PRESENT",
    score: 30,
    analysis: { summary: "It works.", evidence },
    ...more,
  });
const rejected = (id: string, evidence: Evidence[] = [], more: Partial<Paper> = {}): Paper =>
  presented(id, evidence, { status: "rejected", decision: "REJECT", score: 3, notes: "Small.", ...more });
const report = (
  papers: readonly Paper[],
  insights: readonly Insight[] = [],
  over: Partial<ReportResult> = {},
  ledger: readonly LedgerLine[] = [],
) =>
  renderReport(
    rrdWith(papers, { insights: [...insights] }),
    narrative({ key_findings: [], recommendations: [], ...over }),
    { ledger, patterns: [] },
    judging,
  );
const judging = { iteration: 9, agent: "a", at: new Date(0) };
const section = (text: string, title: string): string => text.split(`\n## ${title}\n`)[1]?.split("\n---\n")[0] ?? "";

const accuracy = quote("The method reached 87.5 % accuracy on 1,200 samples.");
const time = quote("It needs 14 minutes on one machine.");

describe("an insight of the report", () => {
  const sourceOf = (words: string, evidence: Evidence[]) =>
    /source: (.*)\)/.exec(
      section(report([presented("p1", evidence)], [insight(1, "p1", words)]), "Key Insights by Category"),
    )?.[1];

  test("names the quote that holds its numbers and most of its words, and whether that was found", () => {
    expect(sourceOf("Accuracy of the method reached 87.5 %.", [time, accuracy])).toBe("p1, quote 2 ✓");
    expect(sourceOf("On 1200 samples the method reached accuracy.", [accuracy])).toBe("p1, quote 1 ✓");
    expect(sourceOf("One machine needs 14 minutes.", [{ ...time, status: "could-not-check" }])).toBe("p1, quote 1 ?");
  });

  test("has none where a number is another's, where few words agree, and where the quote was not found", () => {
    expect(sourceOf("The method reached 88 % accuracy on 1,200 samples.", [accuracy])).toBe("p1, no quote");
    expect(sourceOf("Insurers will pay for the accuracy.", [accuracy])).toBe("p1, no quote");
    expect(sourceOf(accuracy.claim, [{ ...accuracy, status: "not-in-text" }])).toBe("p1, no quote");
    // The claim is an agent's own words: a number must stand in what the paper says.
    expect(sourceOf("It reached 99 % accuracy.", [{ ...accuracy, claim: "It reached 99 % accuracy." }])).toBe(
      "p1, no quote",
    );
  });

  test("of a retracted paper stands apart, has no quote, and counts in no number", () => {
    const rrd = rrdWith([presented("p1", [time]), rejected("p2", [accuracy], { retracted: true })], {
      insights: [insight(1, "p1", time.claim), { ...insight(2, "p2", accuracy.claim), tags: [] }],
    });
    const text = renderReport(
      rrd,
      narrative({ categories: [{ name: "All", insight_ids: ["insight_001", "insight_002"] }] }),
      { ledger: [], patterns: [] },
      judging,
    );
    expect(text).toContain("### All (1 insight)\n");
    expect(text).toMatch(
      /### Of retracted papers, counted nowhere: never build on them \(1 insight\)\n\n1\. .*source: p2, RETRACTED\)/,
    );
    expect(text).toContain("| Insights | 1 |");
    expect(text.split(accuracy.quote)).toHaveLength(2);
    expect(assess(rrd).rows.find(({ dimension }) => dimension === "Insight Quality")).toMatchObject({ score: 100 });
  });
});

describe("the quotes of the report", () => {
  test("are those of every paper whose insights or findings are printed, presented or not, under their number", () => {
    const papers = [
      presented("p1", [time]),
      rejected("p2", [{ ...time, status: "not-in-text" }, accuracy]),
      rejected("p3", [time]),
      rejected("p4", [time]),
    ];
    const finding = { text: `${papers[3]?.title}: ${time.claim}`, paper_ids: ["p4"] };
    const text = report(papers, [insight(1, "p2", accuracy.claim)], { key_findings: [finding] });
    expect(section(text, "Evidence")).toContain("p1\n\n- 1: “It needs 14 minutes on one machine.” (p. 2) ✓");
    const appendix = section(text, "Appendix: Evidence of Other Papers");
    expect(appendix).toContain("p2\n\n- 2: “The method reached 87.5 % accuracy on 1,200 samples.” (p. 2) ✓");
    expect(appendix).toContain("On the matter of p4");
    expect(appendix).not.toContain("p3");
    expect(text).toContain("14 minutes on one machine. (p4, quote 1 ✓)");
    expect(report([presented("p1", [time])], [insight(1, "p1", time.claim)])).not.toContain("Appendix");
  });

  test("stand behind the claim where it says something else, and alone where it does not", () => {
    const text = report([
      presented("p1", [
        { ...time, claim: "It is quick." },
        { ...accuracy, claim: accuracy.quote.slice(0, -1) },
      ]),
    ]);
    expect(text).toContain("- 1: It is quick.\n  > “It needs 14 minutes");
    expect(text.split("The method reached 87.5 %")).toHaveLength(2);
  });

  test("are eight of a paper that is not presented, those named first, of at most 300 papers", () => {
    const many = Array.from({ length: 20 }, (_, index) =>
      quote(`Series number ${index} held for all of the ${index + 100} trials.`),
    );
    const text = report([rejected("p1", many)], [insight(1, "p1", many[17]?.claim ?? "")]);
    expect(text.match(/^- \d+: /gm)?.map((line) => Number.parseInt(line.slice(2)))).toEqual([1, 2, 3, 4, 5, 6, 7, 18]);
    expect(text).toContain("_12 more: see rrd.json._");
    const pool = Array.from({ length: 310 }, (_, index) =>
      index < 2 ? presented(`p${index}`, [time]) : rejected(`p${index}`, [time]),
    );
    const categories = [0, 1, 2, 3].map((part) => ({
      name: `C${part}`,
      insight_ids: pool.slice(part * 90, part * 90 + 90).map(({ id }) => `i_${id}`),
    }));
    const large = report(
      pool,
      pool.map(({ id }) => ({ ...insight(1, id, time.claim), id: `i_${id}` })),
      { categories },
    );
    expect(large.split("- 1: “It needs")).toHaveLength(301);
    expect(large).toContain("_10 more papers: see rrd.json._");
  });
});

test("the references hold every paper that the report names, with authors, year, venue and where to find it", () => {
  const papers = [
    presented("arxiv_2401.00001", [], { venue: "Hands <b>", url: "https://arxiv.org/abs/2401.00001" }),
    rejected("p10", [], { retracted: true, authors: [], date: null, identifiers: { doi: "10.1000/x" }, url: null }),
    paper("p9", { authors: Array.from({ length: 9 }, (_, index) => `Author ${index}`) }),
  ];
  expect(section(report(papers), "References").split("\n").filter(Boolean)).toEqual([
    "- **arxiv_2401.00001**: Ada Author (2026). On the matter of arxiv_2401.00001. Hands &lt;b>. arXiv:2401.00001. <https://arxiv.org/abs/2401.00001>.",
    "- **p9**: Author 0, Author 1, Author 2, Author 3, Author 4, Author 5 and others (2026). On the matter of p9. <https://example.org/p9>.",
    "- **p10**: [RETRACTED] No author known (no year known). On the matter of p10. DOI 10.1000/x.",
  ]);
});

test("what an agent or a source wrote fetches nothing, parts no section and moves no cursor, in whatever field it stands", () => {
  const nasty =
    "\u001b]8;;x\u0007![p](https://evil.example/p.png) [c](javascript:x) <b> \u009b31m\u202e\n\n# Forged\n\n````\n\n[r]: http://evil.example\n\n| a | b |";
  const evidence = [quote("The camera costs 40 euros.", { claim: nasty, locator: nasty })];
  const analysis = { summary: nasty, evidence, implementations_found: [nasty] };
  const more = {
    title: nasty,
    notes: nasty,
    authors: [nasty],
    venue: nasty,
    url: `https://x.example/${nasty}`,
    warnings: [nasty],
  };
  const pool = [
    presented("p1", evidence, { ...more, analysis }),
    rejected("p2", evidence, { ...more, analysis, url: `file:${nasty}` }),
  ];
  const over: Partial<ReportResult> = {
    executive_summary: nasty,
    conclusion: nasty,
    key_findings: [{ text: nasty, paper_ids: ["p1"] }],
    categories: [{ name: nasty, insight_ids: ["insight_001"] }],
    companies: [{ name: nasty, notes: nasty, paper_ids: ["p1"] }],
    comparison: { approaches: [nasty, "a | b"], rows: [{ aspect: nasty, cells: [nasty, nasty] }] },
    strengths: [nasty],
    improvements: [nasty],
    recommendations: [{ priority: "high", text: nasty, paper_ids: ["p1"] }],
  };
  const text = report(pool, [insight(1, "p1", nasty)], over);
  const plain = report(
    pool.map(({ id, status }) => (status === "presented" ? presented(id, evidence) : rejected(id, evidence))),
  );
  const headings = (of: string) => of.match(/^## .*$/gm);
  expect(headings(text)?.filter((one) => !one.includes("Appendix"))).toEqual(
    headings(plain)?.filter((one) => !one.includes("Appendix")),
  );
  expect(text).not.toMatch(/!\[p\]|\]\(javascript|<b>|^(?:[-+*>] |\d+\. )*(?:# Forged|`{3}|\[r\]:)/m);
  // oxlint-disable-next-line no-control-regex -- none may be left
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
  expect(
    section(text, "Approach/Architecture Comparison")
      .split("\n")
      .filter(Boolean)
      .map((row) => row.split(/(?<!\\)\|/).length),
  ).toEqual([5, 5, 5]);
});

test("a paper of which nothing could be read has no score, and the averages say what they are over", () => {
  const breakdown = (points: number) => ({
    execution: {
      novelty: points,
      feasibility: points,
      time_to_poc: points,
      value_market: points,
      defensibility: points,
      adoption: points,
    },
    blue_ocean: {
      market_creation: points,
      first_mover_window: points,
      network_effects: points,
      strategic_clarity: points,
    },
  });
  const unreadable = rejected("p2", [], {
    read_depth: "abstract",
    abstract: null,
    score: 0,
    score_breakdown: breakdown(0),
  });
  const read = presented("p1", [], { score_breakdown: breakdown(3) });
  const text = report([read, unreadable]);
  expect(text).toContain("(p2) | – | – | – | Not judged: nothing but its title could be read; see Warnings. |");
  expect(text).toContain("| Papers in the averages (without retracted and unreadable ones) | 1 |");
  expect(text).toContain("| Avg Execution Score | 18/30 |");
  expect(report([read])).not.toContain("Papers in the averages");
});

test("the key innovation is the sentence that says what is new, and no description of the set-up", () => {
  const analysis = {
    summary: "Hands are dear. We introduce a glove that costs little. It works.",
    methodology: "The hand has 16 joints.",
  };
  expect(report([presented("p1", [], { analysis })])).toContain("| We introduce a glove that costs little. |");
  expect(report([presented("p1", [], { analysis: { methodology: "The hand has 16 joints." } })])).toContain(
    "| The hand has 16 joints. |",
  );
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
    expect(render(rrd, said)).toContain("record of this project: 93.1.");
  });
});
