import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Answers } from "../../../../src/research/generated/result-analysis.js";
import type { Criterion, Flow, Paper, Rrd } from "../../../../src/research/generated/rrd.js";
import type { PaperRecord } from "../../../../src/research/papers/paper-record.js";
import { buildText } from "../../../../src/text/documents/text/document-text.js";
import { prismaFlow as drawnFlow } from "../../../../src/research/report/prisma-flow.js";
import { inconsistencies } from "../../../../src/research/derived/inconsistencies.js";
import { countsOf } from "../../../../src/research/overview/counts.js";
import { reportData } from "../../../../src/research/units/report/brief.js";
import { countingInsights, eligibilityReport } from "../../../../src/research/screening/eligibility/eligibility.js";
import { goodAgent, library, reading, researchFolder, rrdWith } from "../../../support/projects/research.js";

const criteria: Criterion[] = [
  { id: "c1", kind: "include", text: "randomised trial" },
  { id: "c2", kind: "include", text: "adults" },
  { id: "c3", kind: "include", text: "reports accuracy" },
  { id: "c4", kind: "exclude", text: "animal study" },
  { id: "c5", kind: "exclude", text: "conference abstract only" },
];

/** What a record says, and so what an agent can quote of it. */
const says = {
  c1: "Patients were allocated at random to two groups.",
  c2: "All participants were adults aged 18 or more.",
  c3: "The method reached 87.5 % accuracy on 1,200 samples.",
  c4: "We tested the drug in forty laboratory mice.",
  c5: "This work was only presented as a conference abstract.",
};
const record = (id: string, abstract: string | null): PaperRecord => ({
  id,
  title: `On the matter of ${id}`,
  url: `https://example.org/${id}`,
  pdf_url: null,
  authors: ["Ada Author"],
  date: "2026-01-01",
  source: "samples",
  abstract,
  identifiers: {},
});
const records = [
  record("good", `${says.c1} ${says.c2} ${says.c3}`),
  record("mice", `${says.c1} ${says.c4}`),
  record("forged", `${says.c1} ${says.c2}`),
  record("silent", null),
  record("late", says.c2),
  record("open", `${says.c1} ${says.c2}`),
];
const yes = (id: keyof typeof says) => ({ answer: "yes" as const, quote: says[id] });
const no = (quote: string) => ({ answer: "no" as const, quote });
const unclear = { answer: "unclear" as const };

/** What the agent answers from title and abstract. */
const screening: Record<string, Answers> = {
  good: { c1: yes("c1"), c2: yes("c2"), c3: yes("c3"), c4: unclear, c5: unclear },
  mice: { c1: yes("c1"), c2: unclear, c3: unclear, c4: yes("c4"), c5: unclear },
  // A quote that nobody wrote excludes nothing.
  forged: { c1: yes("c1"), c4: { answer: "yes", quote: "The animals were kept in cages of their own." } },
  silent: { c1: unclear },
  late: { c1: unclear, c2: yes("c2") },
  open: { c1: yes("c1"), c2: yes("c2") },
};
const clear = {
  c1: yes("c1"),
  c2: yes("c2"),
  c3: yes("c3"),
  c4: no("No animals took part in the study."),
  c5: no("This is the full report of the trial."),
};
/** And from the whole text. */
const fullText: Record<string, Answers> = {
  good: clear,
  forged: clear,
  silent: { ...clear, c2: no("All participants were children below ten.") },
  late: { ...clear, c5: yes("c5") },
  open: { ...clear, c3: unclear },
};
const textOf = (id: string) =>
  [
    says.c1,
    id === "silent" ? "All participants were children below ten." : says.c2,
    says.c3,
    id === "late" ? says.c5 : "This is the full report of the trial.",
    "No animals took part in the study. It needs 14 minutes on one machine.",
  ].join(" ");

const shelf = library({
  offered: records,
  text: async ({ id }) => ({
    text: buildText([{ label: "§ 1 Results", text: `## 1 Results\n\nThis is the text of ${id}. ${textOf(id)}` }], {
      kind: "markdown",
      depth: "full",
      title: `On the matter of ${id}`,
    }),
  }),
});
const answerOf: Parameters<typeof goodAgent>[0] = (unit) => {
  if (unit["kind"] === "paper") {
    const id = String(unit["unit"]);
    return { result: reading(id, { criteria: fullText[id] ?? {} }) };
  }
  if (unit["kind"] !== "discovery") return undefined;
  const candidates = unit["candidates"] as { id: string }[];
  const kept = candidates.filter(({ id }) => id !== "late").map(({ id }) => ({ id, criteria: screening[id] ?? {} }));
  // The agent would drop one that no criterion excludes.
  const dropped = candidates.flatMap(({ id }) =>
    id === "late" ? [{ id, reason: "not convincing", criteria: screening[id] ?? {} }] : [],
  );
  return { result: { unit: unit["unit"], kept, dropped, papers: [], sources: [] } };
};
const agent = goodAgent(answerOf);
const project = (over: Partial<Rrd["requirements"]> = {}): Rrd => {
  const rrd = rrdWith([]);
  return {
    ...rrd,
    handoff: null,
    requirements: { ...rrd.requirements, target_papers: 20, sources: ["samples"], criteria, ...over },
  };
};

const statusesOf = ({ papers_pool }: Rrd) => Object.fromEntries(papers_pool.map(({ id, status }) => [id, status]));
const paperIn = ({ papers_pool }: Rrd, id: string) => papers_pool.find((each) => each.id === id) as Paper;
const insightsOf = ({ insights }: Rrd) => insights?.map(({ paper_id }) => paper_id).toSorted();
const sum = (counts: Readonly<Record<string, number>> = {}) => Object.values(counts).reduce((a, b) => a + b, 0);

/** Each stage gives out what came in. */
function expectReconciled(rrd: Rrd): Flow {
  const flow = rrd.statistics?.discovery_metrics?.flow ?? {};
  const { screening: screened, full_text: read } = flow;
  expect(screened?.screened).toBe((screened?.passed ?? 0) + sum(screened?.excluded));
  expect(read?.sought).toBe((screened?.passed ?? 0) + (read?.added ?? 0));
  expect(read?.sought).toBe((read?.not_read ?? 0) + sum(read?.excluded) + (read?.waiting ?? 0) + (read?.included ?? 0));
  const pool = (flow.included ?? 0) + (flow.waiting ?? 0) + (flow.ineligible ?? 0);
  expect(pool).toBe(read?.sought);
  expect(flow.waiting ?? 0).toBe(read?.waiting);
  expect(sum(flow.identified)).toBe(
    (flow.duplicates_removed ?? 0) + sum(flow.excluded) + pool + (flow.not_screened ?? 0),
  );
  return flow;
}

describe("a project with five criteria", () => {
  test("ends complete, every exclusion has its criterion and its quote, and the flow adds up", async () => {
    const folder = researchFolder(project(), shelf);
    const { verdict, rrd } = await folder.run(agent);
    expect(verdict.verdict).toBe("complete");
    expect(statusesOf(rrd)).toEqual({
      good: "presented",
      forged: "presented",
      silent: "rejected",
      late: "rejected",
      open: "waiting",
    });
    const [excluded, ...others] = rrd.excluded ?? [];
    expect(others).toEqual([]);
    expect(excluded).toMatchObject({ id: "mice", stage: "screened", criterion: "c4", url: "https://example.org/mice" });
    expect(excluded?.reason).toContain(says.c4);
    expect(excluded?.answers?.find(({ criterion }) => criterion === "c4")).toEqual({
      criterion: "c4",
      asked: expect.any(String),
      stage: "screening",
      answer: "yes",
      locator: "abstract",
      passage: says.c4,
      quoted: `0-${says.c4.length}`,
    });

    const silent = paperIn(rrd, "silent");
    expect(silent).toMatchObject({ excluded_by: "c2", decision: "REJECT", score: null, score_breakdown: null });
    expect(silent.notes).toContain("Excluded by c2 (include: adults).");
    expect(paperIn(rrd, "late")).toMatchObject({ excluded_by: "c5", score: null });
    // Those of papers that are excluded or wait stay in the file and count nowhere.
    expect(insightsOf(rrd)).toEqual(["forged", "good", "late", "open", "silent"]);
    expect(
      countingInsights(rrd)
        .map(({ paper_id }) => paper_id)
        .toSorted(),
    ).toEqual(["forged", "good"]);
    expect(rrd.statistics?.total_insights).toBe(2);
    expect(countsOf(rrd).insights).toBe(2);
    expect(JSON.stringify(reportData({ rrd }, 0))).not.toMatch(/"silent|"late/);

    const { waiting, screening: reasons, fullText: later } = eligibilityReport(rrd);
    expect(waiting.map(({ paper, open }) => [paper.id, open.map(({ id }) => id)])).toEqual([["open", ["c3"]]]);
    expect(reasons.map(({ reason, count }) => [reason, count])).toEqual([["c4", 1]]);
    expect(later.map(({ reason, criterion, count }) => [reason, criterion?.text, count])).toEqual([
      ["c2", "adults", 1],
      ["c5", "conference abstract only", 1],
    ]);
    const flow = expectReconciled(rrd);
    expect(drawnFlow(rrd).counts).toMatchObject({
      database_results: 6,
      records_screened: 6,
      dbr_assessed: 5,
      new_studies: 2,
    });
    expect(flow.screening).toEqual({ screened: 6, excluded: { c4: 1 }, passed: 5 });
    expect(flow.full_text).toEqual({
      added: 0,
      sought: 5,
      not_read: 0,
      excluded: { c2: 1, c5: 1 },
      waiting: 1,
      included: 2,
    });
    expect(rrd.statistics?.total_waiting).toBe(1);
    expect(rrd.statistics?.analysis_metrics?.["avg_combined_score"]).toBe(30);
    expect(readFileSync(join(folder.folder, "progress.txt"), "utf8")).toContain(
      "- On the matter of mice (author2026f): excluded by c4 (exclude: animal study): yes,",
    );
  });

  test("a forged quote is unclear, with what the agent said", async () => {
    const { rrd } = await researchFolder(project(), shelf).run(agent);
    const answers = paperIn(rrd, "forged").answers?.filter(({ stage }) => stage === "screening") ?? [];
    expect(answers.map(({ criterion, answer }) => [criterion, answer])).toEqual([
      ["c1", "yes"],
      ["c2", "unclear"],
      ["c3", "unclear"],
      ["c4", "unclear"],
      ["c5", "unclear"],
    ]);
    expect(answers[3]).toMatchObject({ said: "yes", reason: expect.stringContaining("not found") });
    expect(answers[1]).toMatchObject({ reason: "It was not answered." });
  });

  test("what a person writes into rrd.json settles it, both ways and as often as wanted", async () => {
    const folder = researchFolder(project(), shelf);
    await folder.run(agent);
    const path = join(folder.folder, "rrd.json");
    const write = (change: (rrd: Rrd) => void) => {
      const rrd = JSON.parse(readFileSync(path, "utf8")) as Rrd;
      change(rrd);
      writeFileSync(path, JSON.stringify(rrd));
    };
    write((rrd) => {
      paperIn(rrd, "open").override = { decision: "include", why: "Accuracy is in the appendix." };
      paperIn(rrd, "good").override = { decision: "exclude", why: "Retold from another paper." };
    });
    const after = await folder.run(agent);
    expect(after.verdict.verdict).toBe("complete");
    expect(paperIn(after.rrd, "open")).toMatchObject({ status: "presented", score: 30, decision: "PRESENT" });
    expect(paperIn(after.rrd, "open").held_scores).toBeUndefined();
    expect(paperIn(after.rrd, "good")).toMatchObject({ status: "rejected", score: null, score_breakdown: null });
    expect(expectReconciled(after.rrd).full_text).toMatchObject({
      excluded: { c2: 1, c5: 1, person: 1 },
      waiting: 0,
      included: 2,
    });

    write((rrd) => {
      paperIn(rrd, "good").override = { decision: "include", why: "On second thoughts." };
      paperIn(rrd, "silent").override = { decision: "include", why: "Children count." };
      (rrd.excluded ?? [])[0]!.override = { decision: "include", why: "Mice count." };
    });
    const again = await folder.run(agent);
    expect(statusesOf(again.rrd)).toMatchObject({ good: "presented", silent: "presented", mice: "presented" });
    // Nobody read it again, and what its one reading found counts now.
    expect(again.ledger.filter(({ unit }) => unit === "silent")).toHaveLength(1);
    expect(insightsOf(again.rrd)).toEqual(["forged", "good", "late", "mice", "open", "silent"]);
    expect(again.rrd.statistics?.total_insights).toBe(5);
    expect(again.rrd.excluded).toEqual([]);
    expect(paperIn(again.rrd, "mice")).toMatchObject({ url: "https://example.org/mice", score: 30 });
    expect(again.verdict.verdict).toBe("complete");
    const flow = expectReconciled(again.rrd);
    expect(flow.screening).toEqual({ screened: 6, excluded: {}, passed: 6 });
  });
});

test("where the criteria exclude every record the run says so, and names them", async () => {
  const rules: Criterion[] = [
    { id: "c1", kind: "include", text: "in mice" },
    { id: "c2", kind: "exclude", text: "in rodents" },
  ];
  const offered = Array.from({ length: 12 }, (_, index) => record(`r${index}`, says.c4));
  const strict = goodAgent((unit) => {
    const kept = ((unit["candidates"] ?? []) as { id: string }[]).map(({ id }) => ({
      id,
      criteria: { c1: yes("c4"), c2: yes("c4") },
    }));
    return { result: { unit: unit["unit"], kept, papers: [], sources: [] } };
  });
  const folder = researchFolder(project({ criteria: rules }), library({ offered }));
  const { verdict, rrd } = await folder.run(strict);
  expect(verdict).toMatchObject({ verdict: "blocked", reason: expect.stringContaining("all 12 records") });
  expect(verdict.reason).toContain("c2: 12");
  expect(inconsistencies(rrd)).toContainEqual({
    pointer: "/requirements/criteria",
    message: "exclude all 12 records and papers; they may contradict each other",
  });
});

test("a decision that is written by hand while an agent reads the paper beats what the agent answers", async () => {
  const folder = researchFolder(project(), shelf);
  const path = join(folder.folder, "rrd.json");
  const busy = goodAgent((unit, text) => {
    const said = answerOf(unit, text);
    if (unit["unit"] !== "good" || said === undefined) return said;
    const also = () => {
      const rrd = JSON.parse(readFileSync(path, "utf8")) as Rrd;
      paperIn(rrd, "good").override = { decision: "exclude", why: "Not ours." };
      writeFileSync(path, JSON.stringify(rrd));
    };
    return { ...said, also };
  });
  const { verdict, rrd } = await folder.run(busy);
  expect(verdict.verdict).toBe("complete");
  expect(paperIn(rrd, "good")).toMatchObject({ status: "rejected", score: null, analysis: { summary: "It works." } });
  expectReconciled(rrd);
});

describe("a result that answers nothing", () => {
  test("is refused in discovery and in analysis, with the criteria that it leaves out", async () => {
    let tries = 0;
    const lazy = goodAgent((unit) => {
      if (unit["kind"] !== "discovery") return undefined;
      tries += 1;
      const kept = (unit["candidates"] as { id: string }[]).map(({ id }) => ({ id }));
      return { result: { unit: unit["unit"], kept, papers: [], sources: [] } };
    });
    const folder = researchFolder(project(), shelf);
    const { ledger } = await folder.run(lazy, 2);
    expect(tries).toBe(2);
    expect(ledger[0]).toMatchObject({ outcome: "refused" });
    expect(ledger[0]?.reasons?.[0]).toContain("c1, c2, c3, c4, c5");
    const started = researchFolder(
      { ...project(), phase: "ANALYSIS", papers_pool: [{ id: "good", title: "Good", status: "pending" }] },
      shelf,
    );
    const read = await started.run(goodAgent(), 1);
    expect(read.ledger[0]?.reasons?.[0]).toMatch(/^\/criteria is missing.*c1, c2, c3, c4, c5/);
  });
});
