import { expect, it, test } from "vitest";
import { recordsAsCsv } from "../../../src/research/papers/export/csv.js";
import { allRecords } from "../../../src/research/overview/all-records.js";
import { formColumns } from "../../../src/research/units/form/columns.js";
import type { Paper } from "../../../src/research/generated/rrd.js";
import { prismaCsv } from "../../../src/research/papers/export/prisma.js";
import { flowLines, prismaFlow } from "../../../src/research/report/prisma-flow.js";
import { markdownOf } from "../../../src/research/report/documents/markdown.js";
import { questionIfNotTitle, type ReportInput, reportModel } from "../../../src/research/report/model.js";
import { contextOf } from "../../../src/research/report/page/context.js";
import { reportPage } from "../../../src/research/report/page/page.js";
import { paper, rrdWith } from "../../support/projects/research.js";

const analysis = { summary: "What it found.", evidence: [] };
const full = (id: string): Paper => paper(id, { status: "presented", score: 30, read_depth: "full", analysis });
const part = (id: string): Paper => paper(id, { status: "presented", score: 30, read_depth: "partial", analysis });
const abstract = (id: string): Paper =>
  paper(id, { status: "insights_extracted", score: 20, read_depth: "abstract", abstract: "It works.", analysis });
const title = (id: string): Paper =>
  paper(id, { status: "rejected", score: 0, read_depth: "abstract", abstract: null, analysis });
const retracted = (id: string): Paper => paper(id, { status: "rejected", retracted: true });
/** Of another program, which noted no depth. */
const unrecorded = (id: string): Paper => paper(id, { status: "presented", score: 30, analysis });

const inputOf = (papers: readonly Paper[], over: Partial<ReportInput> = {}): ReportInput => ({
  rrd: rrdWith([...papers]),
  ledger: [],
  queries: [],
  answers: [],
  now: new Date("2026-11-22T12:00:00Z"),
  ...over,
});
const modelOf = (...papers: Paper[]) => reportModel(inputOf(papers));
const figureOf = (...papers: Paper[]) => {
  const figure = modelOf(...papers).figures.find(({ name }) => name === "papers");
  return `${figure?.value} ${figure?.label}`;
};

test.each([
  ["1 paper read in full", [full("a")]],
  ["2 papers read in full", [full("a"), full("b")]],
  ["1 of 3 papers read in full", [full("a"), title("b"), retracted("c")]],
  ["1 of 3 papers read in full, 2 more by the abstract alone", [full("a"), abstract("b"), abstract("c")]],
  ["0 of 2 papers read in full, 2 by the abstract alone", [abstract("a"), abstract("b")]],
  ["2 of 3 papers read in full or in part", [full("a"), part("b"), title("c")]],
  ["2 papers read", [unrecorded("a"), unrecorded("b")]],
  ["0 of 1 paper read", [title("a")]],
  ["1 of 2 papers read in full", [full("a"), paper("b")]],
] as const)("the figure says what it counts: %s", (says, papers) => {
  expect(figureOf(...papers)).toBe(says);
});

it("names a paper of which only the title is known as such, wherever it is told how a paper was read", async () => {
  const input = inputOf([full("a"), title("b")]);
  const model = reportModel(input);
  const page = [...reportPage(await contextOf(model))].join("");
  const row = /<details class="paper rejected" id="p-b"[^]*?<\/summary>/.exec(page)?.[0];
  expect(row).toContain("title only");
  expect(model.method.limits).toContain("Of 1 paper only the title is known, so it was not judged.");
  expect([markdownOf(model), page, model.method.limits.join()].join()).not.toMatch(/abstract (?:only|alone)/);
  expect(recordsAsCsv(input.rrd, allRecords(input.rrd, [], undefined), formColumns(input.rrd))).toMatch(
    /^b,(?:[^\r]*,)0,title,,/m,
  );
});

it("tells of papers that were decided on without a reading, and judges none of them", () => {
  const only = modelOf(retracted("a"));
  expect(only.method.limits).toContain("No paper has been judged yet.");
  expect(only.method.limits).toContain("1 retracted paper was rejected without being read.");
  expect(only.method.judgingText).toBeUndefined();
  const some = modelOf(full("a"), retracted("b"), retracted("c"));
  expect(some.method.limits).toContain("2 retracted papers were rejected without being read.");
  expect(some.method.judgingText).toBe("each paper that was read was judged once");
});

it("has a cut question as its title whole, and not twice", () => {
  const base = inputOf([full("a")]);
  const asked = "do interventions aimed at clinicians improve adherence to guidelines or prescribing?";
  const named = (project: string) => reportModel({ ...base, rrd: { ...base.rrd, project, question: asked } });
  const whole = named("Research: do interventions aimed at clinicians improve adherence to guidelines or …");
  expect([whole.title, questionIfNotTitle(whole)]).toEqual([asked, ""]);
  expect(named("Research: Clinicians and guidelines").title).toBe("Clinicians and guidelines");
});

it("says of a paper that a person could not get why it was not judged, and not that only its title is known", () => {
  const override = { decision: "not_retrieved" as const, why: "No library has it.", at: "2026-11-22T00:00:00.000Z" };
  const { method } = reportModel(inputOf([{ ...abstract("a"), status: "not_retrieved", override }]));
  expect(method.limits).toContain("A person could not get 1 paper, so it was not judged: No library has it.");
  expect(method.limits.join(" ")).not.toContain("only the title is known");
});

it("says that only abstracts were read, and that a person decided and why", () => {
  const override = { decision: "exclude" as const, why: "An essay.", criterion: "c1", at: "2026-11-22T00:00:00.000Z" };
  const base = inputOf([
    { ...abstract("a"), answers: [{ criterion: "c1", stage: "full_text", answer: "unclear", reason: "Hm." }] },
    { ...abstract("b"), status: "rejected", override },
  ]);
  const criteria = [{ id: "c1", kind: "include" as const, text: "hands" }];
  const input = { ...base, rrd: { ...base.rrd, requirements: { ...base.rrd.requirements, criteria } } };
  const { method, rows } = reportModel(input);
  expect(method.eligibility).toEqual([
    { stage: "from the abstract alone", reasons: [{ reason: "c1 is not met (hands)", count: 1 }] },
  ]);
  expect(rows.find(({ id }) => id === "b")?.why).toBe("Excluded by a person: An essay. (c1: hands)");
  expect(method.judgingText).toBe("each paper was judged once, and a person decided on 1 of 2 papers");
  expect(method.limits).toContain(
    "Each paper was judged once, by one model or agent; a person decided on 1 of 2 records.",
  );
  expect(allRecords(input.rrd, [], undefined).map(({ outcome }) => outcome.stage)).toEqual(["abstract", "abstract"]);
  expect(markdownOf(reportModel(input))).toContain("unclear, abstract");
});

it("says in the flow, its lines and its table how many reports were assessed by the abstract alone", () => {
  const flow = prismaFlow(rrdWith([full("a"), abstract("b"), { ...abstract("c"), status: "waiting" }]));
  expect(flowLines(flow)).toContain("Reports assessed for eligibility: 3 (2 by the abstract alone)");
  const { counts, reasons } = flow;
  expect(prismaCsv({ counts, reasons, sources: [] })).toContain(
    "Reports assessed for eligibility, 2 of them by the abstract alone",
  );
});

const strengthOf = (...papers: Paper[]) => {
  const report = {
    written_at: "2026-11-22T10:00:00Z",
    question: "Does it work?",
    answer: [{ text: "It works." }],
    findings: [{ text: "It works.", rests_on: [] }],
    agreed: [],
    disputed: [],
    gaps: [],
    themes: [],
    recommendations: [],
  };
  const oldReport = `# Report\n\n### Key Findings\n\n- It works (${papers.map(({ id }) => id).join(", ")}).\n`;
  const byId = inputOf(papers, papers.length === 0 ? { report } : { oldReport });
  return reportModel(byId).findings[0]?.strength.says;
};

test.each([
  ["a type alone", { publication_type: "journal-article" }, false],
  ["a DOI that no service was asked for", { identifiers: { doi: "10.5555/a" } }, false],
  [
    "a DOI that a service knows",
    { identifiers: { doi: "10.5555/a" }, updates_check: { at: "2026-11-22", checked_by: ["Crossref"], unchecked: [] } },
    true,
  ],
  ["a venue", { venue: "Hands" }, true],
])("of %s a finding says whether its paper is published", (_, fields, isPublished) => {
  const bare = { ...part("paper_1"), identifiers: {}, url: null, source: "embase.ris", venue: null } as Paper;
  expect(strengthOf({ ...bare, ...fields })).toContain(isPublished ? ", published" : ", not known whether published");
});

test.each([
  ["1 paper, known by its title only; no quote", [title("paper_1")]],
  ["1 paper, read to an extent not recorded; no quote", [unrecorded("paper_1")]],
  ["1 paper, read in part; no quote", [part("paper_1")]],
  ["1 paper, from the abstract alone; no quote", [abstract("paper_1")]],
  ["1 paper, not read; no quote", [paper("paper_1")]],
  ["2 papers, all sharing authors, from the abstracts alone; no quote", [abstract("paper_1"), abstract("paper_2")]],
  [
    "2 papers, all sharing authors, 1 from the abstract alone, 1 known by title only; no quote",
    [title("paper_1"), abstract("paper_2")],
  ],
] as const)("a finding's strength names how its papers were read: %s", (says, papers) => {
  expect(strengthOf(...papers)?.replace(/, (?:a preprint|published|\d preprints?|\d published)/, "")).toBe(says);
});
