import { describe, expect, test } from "vitest";
import type { ReportFile } from "../../../src/research/generated/report.js";
import type { Evidence, Paper, Rrd } from "../../../src/research/generated/rrd.js";
import { bibtexOf } from "../../../src/research/papers/export/bibtex.js";
import { worksOf } from "../../../src/research/papers/export/cited-work.js";
import { documentsOf } from "../../../src/research/report/documents/documents.js";
import { markdownOf } from "../../../src/research/report/documents/markdown.js";
import { type ReportInput, reportModel } from "../../../src/research/report/model.js";
import { paper, rrdWith } from "../../support/projects/research.js";

const now = new Date("2026-11-22T12:00:00Z");
const quote = (text: string, over: Partial<Evidence> = {}): Evidence => ({
  claim: text,
  quote: text,
  status: "verified",
  locator: "p. 3",
  ...over,
});
const presented = (id: string, evidence: Evidence[], over: Partial<Paper> = {}): Paper =>
  paper(id, {
    status: "presented",
    decision: "PRESENT",
    score: 30,
    read_depth: "full",
    analysis: { summary: `What ${id} found.`, evidence },
    ...over,
  });
const said = (over: Partial<ReportFile> = {}): ReportFile => ({
  written_at: "2026-11-22T10:00:00Z",
  question: "How long does it take?",
  answer: [{ text: "It takes 14 minutes.", rests_on: ["p1#1"] }],
  findings: [{ text: "It takes 14 minutes.", rests_on: ["p1#1"] }],
  agreed: [],
  disputed: [],
  gaps: [],
  themes: [],
  recommendations: [],
  ...over,
});
const render = (rrd: Rrd, over: Partial<ReportInput> = {}) =>
  markdownOf(reportModel({ rrd, ledger: [], queries: [], answers: [], now, report: said(), ...over }));
const time = quote("It takes 14 minutes on one machine.");
const headings = (text: string) => [...text.matchAll(/^## (.+)$/gm)].map(([, title]) => title);
const section = (text: string, title: string) => text.split(`\n## ${title}\n`)[1]?.split(/\n## /)[0] ?? "";

test("sections stand in the page's order, the evidence last, and those without content are left out", () => {
  const rrd = rrdWith([presented("p1", [time])], {
    insights: [{ id: "insight_001", paper_id: "p1", insight: "Minutes are enough.", tags: ["time"] }],
  });
  const gaps = [{ text: "Nobody says what it costs." }];
  const recommendations = [{ priority: "high" as const, text: "Build one.", rests_on: ["p1#1"] }];
  expect(headings(render(rrd, { report: said({ gaps, recommendations }) }))).toEqual([
    ...["Question", "Answer", "Findings", "What to do first", "What is not known", "Points of the papers", "Papers"],
    ...["Insights by theme", "How papers were found", "Method and limits", "References", "Evidence"],
  ]);
  expect(headings(render(rrdWith([])))).toEqual(["Question", "Answer", "Findings", "Method and limits"]);
});

test("an iteration in which no agent started to work is counted nowhere, and that is said", () => {
  const line = { iteration: 1, unit: "p1", phase: "ANALYSIS", duration_seconds: 1, agent: "claude" } as const;
  const at = "2026-11-22T10:00:00Z";
  const failed = { ...line, at, outcome: "failed" as const, reasons: ["It was not there."] };
  const text = render(rrdWith([presented("p1", [time])]), {
    ledger: [
      { ...failed, failure: "missing" },
      { ...failed, iteration: 2, failure: "crash" },
      { ...line, at, iteration: 3, outcome: "accepted" },
    ],
  });
  expect(text).toMatch(/\| analysis \| 2 \| 1 \| 0 \| 1 \|/);
  expect(text).toContain("\n2 iterations, and 1 that does not count: no agent started to work.\n");
  expect(text.match(/^- #\d/gm)).toEqual(["- #2"]);
});

test("the answer says how sure it is, in the words of the page; without one it says why there is none", () => {
  const rrd = rrdWith([presented("p1", [time]), presented("p2", [time], { authors: ["Somebody Else"] })]);
  const findings = [{ text: "It takes 14 minutes.", rests_on: ["p1#1", "p2#1"] }];
  const answer = section(render(rrd, { report: said({ findings }) }), "Answer");
  expect(answer).toMatch(
    /\*\*How sure:\*\* \w+: 1 of 1 finding rests on two or more papers by different authors; 2\/2 quotes found in the text; each paper was judged once\./,
  );
  const unread = markdownOf(reportModel({ rrd: rrdWith([]), ledger: [], queries: [], answers: [], now }));
  expect(section(unread, "Answer")).toContain("There is no answer yet: no paper has been found.");
  expect(unread).not.toContain("How sure");
});

test("a finding stands with its strength and the words it rests on, which link to the paper and open there", () => {
  const text = render(
    rrdWith([presented("p1", [{ ...time, claim: "It is quick." }], { url: "https://example.org/p1" })]),
  );
  expect(section(text, "Findings")).toContain(
    [
      "- It takes 14 minutes.",
      "  <br>●●●○○ 1 paper, read in full, a preprint",
      "  > <b>It takes 14 minutes on one machine.</b> [Author 2026, quote 1](#p1-1), p. 3 ✓ · [open there](<https://example.org/p1#:~:text=It%20takes",
    ].join("\n"),
  );
  expect(text).toContain('<a id="p1"></a>On the matter of p1');
  expect(section(text, "Evidence")).toContain('- <a id="p1-1"></a>1: It is quick.\n  > <b>It takes 14 minutes');
});

test("papers without an entry are counted by what became of them, also presented ones beyond the first hundred", () => {
  const many = Array.from({ length: 103 }, (_, index) => presented(`p${index}`, [time]));
  const others = [paper("r1", { status: "rejected" }), paper("r2", { status: "rejected" }), paper("u1")];
  expect(section(render(rrdWith([...many, ...others])), "Papers")).toContain(
    "\n\n6 further papers have no entry here: 3 included, 2 rejected, 1 not read.\n",
  );
});

test("what excluded each paper stands in the text, as on the page", () => {
  const override = { decision: "exclude", why: "No control group." } as const;
  const excluded = [
    paper("r1", { status: "rejected", excluded_by: "c1" }),
    paper("r2", { status: "rejected", override }),
    paper("r3", {
      status: "not_retrieved",
      not_retrieved: { reason: "It is a scan.", cure: "Add its text.", tried: "" },
    }),
  ];
  const rrd = rrdWith(excluded);
  const criteria = [{ id: "c1", kind: "include" as const, text: "a trial" }];
  const text = section(render({ ...rrd, requirements: { ...rrd.requirements, criteria } }), "Papers");
  expect(text.trim().split("\n")).toEqual([
    "3 papers have no entry here: 2 rejected, 1 not retrieved.",
    "",
    "- On the matter of r1, rejected: Not eligible: c1 (include: a trial).",
    "- On the matter of r2, rejected: Excluded by a person: No control group.",
    "- On the matter of r3, not retrieved: It is a scan. Add its text.",
  ]);
});

test("one author beyond the first few is named, more are counted", () => {
  const of = (count: number) => {
    const authors = Array.from({ length: count }, (_, index) => `Author ${index}`);
    return /^Author 0.*?(?= · )/m.exec(section(render(rrdWith([presented("p1", [time], { authors })])), "Papers"))?.[0];
  };
  expect(of(5)).toBe("Author 0, Author 1, Author 2, Author 3, Author 4");
  expect(of(6)).toBe("Author 0, Author 1, Author 2, Author 3 and 2 others");
});

test("a theme that holds no insight of its own stands without a count", () => {
  const themes = [{ name: "Wear", text: "Tendons are what breaks.", insight_ids: [] }];
  const insights = [{ id: "insight_001", paper_id: "p1", insight: "Minutes are enough.", tags: [] }];
  const text = section(
    render(rrdWith([presented("p1", [time])], { insights }), { report: said({ themes }) }),
    "Insights by theme",
  );
  expect(text).toContain("### Wear\n\nTendons are what breaks.\n\n### More insights (1)");
});

test("an insight that a theme's sentence says already does not stand below it again", () => {
  const insights = ["Tendons break first.", "A tendon costs little."].map((insight, index) => ({
    id: `i${index}`,
    paper_id: "p1",
    insight,
    tags: ["wear"],
  }));
  const themes = [{ name: "Wear", text: "Tendons break first.", rests_on: ["p1#1"], insight_ids: ["i0", "i1"] }];
  const text = section(
    render(rrdWith([presented("p1", [time])], { insights }), { report: said({ themes }) }),
    "Insights by theme",
  );
  expect(text.match(/Tendons break first\./g)).toHaveLength(1);
  expect(text).toContain("- A tendon costs little.");
});

test("every link within the file leads to a place in it, whatever became of the paper", () => {
  const rejected = (id: string) => presented(id, [time], { status: "rejected", decision: "REJECT", score: 9 });
  const many = Array.from({ length: 120 }, (_, index) => rejected(`r${index}`));
  const papers = [presented("p1", [time]), ...many, paper("u1", { status: "pending" })];
  const insights = papers.map(({ id }) => ({ id: `i-${id}`, paper_id: id, insight: `Of ${id}.`, tags: ["wear"] }));
  const themes = [{ name: "Wear", text: "Minutes [are] enough.", rests_on: ["r7#1"], insight_ids: ["i-r3", "i-r99"] }];
  const text = render(rrdWith(papers, { insights }), { report: said({ themes }) });
  const places = new Set([...text.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id));
  const links = [...text.matchAll(/\]\(#([^)]+)\)/g)].map(([, id]) => id);
  expect(links).toEqual(expect.arrayContaining(["p1-1", "r7-1", "r3"]));
  expect(links.filter((id) => !places.has(id))).toEqual([]);
  expect(text).toMatch(/^- Of r99\. \([^[\]]+\)$/m);
  expect(text).not.toContain("](#u1)");
});

test("what most references share is said of them once", () => {
  const papers = ["p1", "p2", "p3"].map((id) => presented(id, [time], { identifiers: { doi: `10.1000/${id}` } }));
  const known = presented("p4", [time], { found: { sources: ["OpenAlex"], round: 1 } as never });
  const text = section(render(rrdWith([...papers, known])), "References");
  expect(text).toContain("? could not check (3 of 4): No catalogue was asked for it.");
  expect(text.match(/No catalogue was asked/g)).toHaveLength(1);
  expect(text.match(/\? could not check$/gm)).toHaveLength(3);
  expect(text).toContain("✓ verified: The record is that of OpenAlex.");
});

describe("a quote is marked wherever it is shown", () => {
  test.each([
    ["near", "the text has 13.6 minutes", "≈ near the text: the text has 13.6 minutes"],
    ["could-not-check", undefined, "? could not be checked"],
  ] as const)("%s, with what is known of it", (status, reason, words) => {
    const text = render(rrdWith([presented("p1", [{ ...time, status, ...(reason ? { reason } : {}) }])]));
    expect(section(text, "Findings")).toContain(words);
    expect(section(text, "Evidence")).toContain(words);
  });

  test("one that is not in the text is counted and not shown", () => {
    const missing = quote("It cures everything at once.", { status: "not-in-text" });
    const text = render(rrdWith([presented("p1", [time, missing])]));
    expect(text).not.toContain("cures everything");
    expect(text).toContain("1 quote was not found in the text and is not shown.");
  });
});

test("a number that no quote has is marked behind its sentence", () => {
  const findings = [{ text: "It takes 15 minutes.", rests_on: ["p1#1"] }];
  expect(render(rrdWith([presented("p1", [time])]), { report: said({ findings }) })).toContain(
    "- It takes 15 minutes. **[number not in the passage: 15 minutes]**",
  );
});

test("a retracted paper is called so everywhere, and its insights count nowhere", () => {
  const rrd = rrdWith(
    [
      presented("p1", [time]),
      presented("p2", [time], {
        status: "rejected",
        retracted: true,
        warnings: ["Retracted on 2026-03-01, as X says."],
      }),
    ],
    { insights: ["p1", "p2"].map((id) => ({ id: `i-${id}`, paper_id: id, insight: `Of ${id}.`, tags: ["t"] })) },
  );
  const text = render(rrd);
  expect(text).toContain("1 insight, 0 cross-references");
  expect(text).not.toContain("- Of p2.");
  expect(section(text, "Points of the papers")).toContain('| <a id="p2"></a>RETRACTED: On the matter of p2 |');
  expect(section(text, "Method and limits")).toContain("Retracted on 2026-03-01, as X says.");
});

test("a cross-reference is between papers only where both are in the project; others are named as such", () => {
  const cross_refs = ["p2", "elsewhere_1", "elsewhere_2", "p1"];
  const withReferences = (refs: string[]) =>
    render(
      rrdWith([presented("p1", [time]), presented("p2", [time])], {
        insights: [{ id: "i1", paper_id: "p1", insight: "Of both.", tags: ["t"], cross_refs: refs }],
      }),
    );
  expect(withReferences(cross_refs)).toContain(
    "1 insight, 1 cross-reference between papers, 2 cross-references to works outside the project.",
  );
  expect(withReferences(["p2"])).toContain("1 insight, 1 cross-reference between papers.");
});

test("what an agent or a source wrote fetches nothing, parts no section and moves no cursor, in whatever field it stands", () => {
  const nasty =
    "\u001b]8;;x\u0007![p](https://evil.example/p.png) [c](javascript:x) <i> \u009b31m\u202e\n\n# Forged\n\n````\n\n[r]: http://evil.example\n\n| a | b |";
  const evidence = [quote("The camera costs 40 euros.", { claim: nasty, locator: nasty })];
  const more = {
    title: nasty,
    notes: nasty,
    authors: [nasty],
    venue: nasty,
    url: `https://x.example/${nasty}`,
    warnings: [nasty],
  };
  const analysis = { summary: nasty, methodology: nasty, results: nasty, evidence, implementations_found: [nasty] };
  const pool = [
    presented("p1", evidence, { ...more, analysis }),
    presented("p2", evidence, { ...more, analysis, status: "rejected", url: `file:${nasty}` }),
  ];
  const open = { text: nasty, rests_on: ["p1#1"] };
  const report = said({
    question: nasty,
    answer: [open],
    findings: [open],
    agreed: [open],
    gaps: [open],
    disputed: [{ text: nasty, sides: [open, open] }],
    themes: [{ ...open, name: nasty, insight_ids: ["i1"] }],
    comparison: { approaches: [nasty, "a | b"], rows: [{ aspect: nasty, cells: [open, open] }] },
    recommendations: [{ ...open, priority: "high" }],
  });
  const insights = [{ id: "i1", paper_id: "p1", insight: nasty, tags: [nasty], cross_refs: ["p2"] }];
  const excluded = [{ id: "x", title: nasty, reason: nasty, stage: "screened" as const }];
  const text = render(rrdWith(pool, { project: nasty, insights, excluded }), { report });
  expect(headings(text).every((title) => !title?.includes("Forged"))).toBe(true);
  expect(text).not.toMatch(/!\[p\]|(?<!\\)\]\(javascript|<i>|^(?:[-+*>] |\d+\. )*(?:# Forged|`{3}|\[r\]:)/m);
  // oxlint-disable-next-line no-control-regex -- none may be left
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
  const cells = section(text, "Comparison")
    .split("\n")
    .filter(Boolean)
    .map((row) => row.split(/(?<!\\)\|/).length);
  expect(cells).toEqual([5, 5, 5]);
});

test("long lists end with how many more there are", () => {
  const papers = Array.from({ length: 150 }, (_, n) => presented(`p${n}`, [time]));
  const text = render(rrdWith(papers), { report: said() });
  expect(text.match(/^### <a id="p\d+"><\/a>/gm)).toHaveLength(100);
  expect(section(text, "Points of the papers")).toContain("_50 more papers: see rrd.json._");
});

test("every link to a paper that is not included, or retracted, says so behind it, as the page does", () => {
  const override = { decision: "exclude" as const, why: "about fish", at: "2026-11-22T10:00:00Z" };
  const rrd = rrdWith([
    presented("p1", [time], { override, status: "rejected", score: null }),
    presented("p2", [time], { retracted: true, status: "rejected" }),
  ]);
  const findings = [{ text: "It takes 14 minutes.", rests_on: ["p1#1", "p2#1"] }];
  const found = section(render(rrd, { report: said({ findings }) }), "Findings");
  expect(found.match(/\]\(#p1-1\)/g)?.length).toBeGreaterThan(0);
  expect(found.match(/\]\(#p1-1\)(?! \(not included\))/g)).toBeNull();
  expect(found.match(/\]\(#p2-1\)(?! \(RETRACTED\))/g)).toBeNull();
});

test("references.bib has the report's references alone, with the keys that they have among all papers", () => {
  const rejected = paper("p2", { status: "rejected", decision: "REJECT" });
  const pool = [presented("p1", []), rejected, presented("p3", []), paper("p4", { status: "pending" })];
  const rrd = rrdWith(pool);
  const keys = (text: string | undefined) => [...(text ?? "").matchAll(/^@\w+\{(\w+)/gm)].map(([, key]) => key);
  const documents = documentsOf({ rrd, ledger: [], queries: [], answers: [], now });
  const all = keys(bibtexOf(worksOf(rrd)));
  expect(all).toHaveLength(4);
  expect(keys(documents.find(({ name }) => name === "references.bib")?.text)).toEqual([all[0], all[2]]);
});
