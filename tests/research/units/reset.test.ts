import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Paper, Rrd } from "../../../src/research/generated/rrd.js";
import { currentAccepted } from "../../../src/engine/storage/state/ledger.js";
import { readResearch } from "../../../src/research/project-files/research.js";
import { resetResearch, type ResetTarget, stateAfter } from "../../../src/research/units/reset.js";
import {
  acceptance,
  derive,
  git,
  open,
  paperOf,
  pendingPaper,
  read,
  readRrd,
  repository,
  researchFolder,
  researchIn,
  sampleRrd,
  type Told,
  writeRrd,
  temporaryFolder,
} from "../../support/folders.js";

import type { JournalEntry } from "../../../src/engine/generated/journal.js";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import { ExpectedError } from "../../../src/engine/lib/errors.js";
import { makeJournal, markDone, writeEntry } from "../../../src/engine/storage/state/journal.js";
import { criterionHash } from "../../../src/research/screening/eligibility/eligibility.js";
import { candidatesFile, searchFile } from "../../../src/research/project-files/layout.js";

const now = () => Date.UTC(2026, 1, 3, 4, 5, 6);
const reset = (folder: string, target: ResetTarget, options: { git?: boolean; at?: number } = {}) =>
  resetResearch(folder, target, { derive, git: options.git ?? false, now: () => options.at ?? now() });

/** A research in which the first papers are read. */
async function readPapers(folder: string, count: number): Promise<string> {
  const research = await open(folder);
  for (let n = 0; n < count; n++) await research.fold(acceptance(research.nextIteration(), `sample_${n + 1}`));
  await research.close();
  return folder;
}

const statuses = (folder: string) => readRrd(folder).papers_pool.map(({ status }) => status);

describe("a target that is not there", () => {
  it.each([{ to: 3 }, { to: 99 }])(
    "%j, past the last iteration, is wrong usage that changes nothing and names the last",
    async (target) => {
      const folder = await readPapers(researchFolder(), 2);
      const before = [read(folder, "rrd.json"), read(folder, "ledger.jsonl")];
      await expect(reset(folder, target)).rejects.toMatchObject({
        exitCode: 2,
        message: expect.stringContaining("the last is 2"),
      });
      expect([read(folder, "rrd.json"), read(folder, "ledger.jsonl")]).toEqual(before);
      expect(existsSync(join(folder, ".ralph/backups"))).toBe(false);
      await expect(reset(researchFolder(), target)).rejects.toThrow("none was recorded yet");
    },
  );

  it("such as a paper of another name is wrong usage that says where the names are", async () => {
    await expect(reset(researchFolder(), { paper: "nonsense" })).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining("--papers' lists them"),
    });
  });
});

describe("resetting what other criteria have decided", () => {
  const c1 = { id: "c1", kind: "exclude" as const, text: "rats" };
  const c2 = { id: "c2", kind: "include" as const, text: "hands" };
  const answerTo = (criterion: typeof c1 | typeof c2, answer: "yes" | "no", asked = criterionHash(criterion)) => ({
    criterion: criterion.id,
    asked,
    stage: "full_text" as const,
    answer,
  });
  const override = { decision: "include" as const, why: "It fits.", at: "2026-01-01T00:00:00Z" };

  it("opens each of its records in one reset, but none that a person decided on, and then there is none", async () => {
    const folder = await readPapers(researchFolder(), 5);
    const rrd = readRrd(folder);
    const changes = [
      { answers: [answerTo(c1, "no", "0123456789ab"), answerTo(c2, "yes")] },
      { answers: [answerTo(c1, "no"), answerTo(c2, "yes")] },
      { answers: [answerTo(c1, "no")] },
      { answers: [answerTo(c1, "no", "0123456789ab")], override },
      { status: "rejected" as const, excluded_by: "c3", answers: [] },
    ];
    const exclusion = { title: "t", reason: "c1 applies", stage: "screened" as const, criterion: "c1" };
    const excluded = [
      { ...exclusion, id: "e1", answers: [answerTo(c1, "yes", "0123456789ab")] },
      { ...exclusion, id: "e2", answers: [answerTo(c1, "yes")] },
    ];
    writeRrd(folder, {
      ...rrd,
      requirements: { ...rrd.requirements, criteria: [c1, c2] },
      papers_pool: rrd.papers_pool.map((each, index) => ({ ...each, ...changes[index] })),
      excluded,
    });
    expect(await reset(folder, { criteria: true })).toContain(
      "3 papers and 1 excluded record that were judged by other criteria are pending again.",
    );
    const pending = readRrd(folder).papers_pool.flatMap(({ id, status }) => (status === "pending" ? [id] : []));
    expect(pending.slice(0, 3)).toEqual(["sample_1", "sample_3", "sample_5"]);
    expect(readRrd(folder).excluded?.map(({ id }) => id)).toEqual(["e2"]);
    expect(readRrd(folder).phase).toBe("DISCOVERY");
    // No later load takes them for a stale save.
    const research = await open(folder);
    expect([...currentAccepted((await research.load()).ledger).keys()]).toEqual(["sample_2", "sample_4"]);
    expect(paperOf((await research.load()).rrd, "sample_1")?.status).toBe("pending");
    await research.close();
    await expect(reset(folder, { criteria: true })).rejects.toMatchObject({ exitCode: 2 });
  });

  it("opens what a criterion excluded when no criterion is left", async () => {
    const folder = await readPapers(researchFolder(), 2);
    const rrd = readRrd(folder);
    const [first, ...others] = rrd.papers_pool as [Paper, ...Paper[]];
    writeRrd(folder, { ...rrd, papers_pool: [{ ...first, status: "rejected", excluded_by: "c1" }, ...others] });
    expect(await reset(folder, { criteria: true })).toContain(
      "1 paper and 0 excluded records that were judged by other criteria are pending again.",
    );
    expect(paperOf(readRrd(folder), first.id)).toMatchObject({ status: "pending" });
  });
});

describe("resetting a paper", () => {
  it("makes it pending, without its analysis, refusals and insights; the rest stays", async () => {
    const folder = await readPapers(researchFolder(), 2);
    const rrd = readRrd(folder);
    const refusals = [{ iteration: 9, at: "2026-01-01T00:00:00Z", reasons: ["x"] }];
    writeRrd(folder, {
      ...rrd,
      papers_pool: rrd.papers_pool.map((p) =>
        p.id === "sample_1" ? { ...p, refusals, decision: "PRESENT", mine: "kept" } : p,
      ),
    });
    const said = await reset(folder, { paper: "sample_1" });

    const after = readRrd(folder);
    const [paper] = after.papers_pool;
    expect(paper).toEqual({
      ...pendingPaper(1),
      score_breakdown: null,
      analysis: null,
      decision: null,
      notes: null,
      mine: "kept",
    });
    expect(after.insights?.map(({ id }) => id)).toEqual(["insight_2"]);
    expect(after.statistics).toEqual({ total_analyzed: 1, lines: 3 });
    expect(said).toEqual([
      `A copy of the files as they were is in ${join(folder, ".ralph/backups/2026-02-03T04-05-06.000Z")}.`,
      "sample_1 is pending again; its analysis, points, refusals and 1 insight are removed.",
    ]);
    expect(read(folder, "progress.txt")).toMatch(/---\n\n## \S+ - Reset\n- sample_1 is pending again.*\n\n$/);
    expect(JSON.parse(read(folder, ".ralph/backups/2026-02-03T04-05-06.000Z/rrd.json")).papers_pool[0].status).toBe(
      "presented",
    );
  });

  it("is not taken for a stale save, and the paper can be read again", async () => {
    const folder = await readPapers(researchFolder(), 1);
    await reset(folder, { paper: "sample_1" });
    const research = await open(folder);
    expect(paperOf((await research.load()).rrd, "sample_1")?.status).toBe("pending");
    await research.fold(acceptance(research.nextIteration(), "sample_1"));
    expect(statuses(folder)[0]).toBe("presented");
  });

  it("that is not there says so and changes nothing", async () => {
    const folder = await readPapers(researchFolder(), 1);
    const before = read(folder, "rrd.json");
    await expect(reset(folder, { paper: "sample_77" })).rejects.toThrow(/There is no paper sample_77 in/);
    expect(read(folder, "rrd.json")).toBe(before);
    await open(folder);
  });

  it("works in a folder of the original tool, which has no ledger", async () => {
    const rrd = sampleRrd(2);
    const folder = researchFolder({
      ...rrd,
      phase: "COMPLETE",
      papers_pool: rrd.papers_pool.map((paper) => ({ ...paper, status: "rejected" as const })),
    });
    await reset(folder, { paper: "sample_2" });
    expect(statuses(folder)).toEqual(["rejected", "pending"]);
  });
});

describe("resetting to an iteration", () => {
  it("undoes what came after it, field by field; hand edits in other fields stay", async () => {
    const folder = await readPapers(researchFolder(), 3);
    const rrd = readRrd(folder);
    writeRrd(folder, {
      ...rrd,
      description: "By hand",
      papers_pool: rrd.papers_pool.map((p) => (p.id === "sample_2" ? { ...p, mine: "kept" } : p)),
    });
    await reset(folder, { to: 1 });

    const after = readRrd(folder);
    expect(statuses(folder)).toEqual(["presented", "pending", "pending", "pending", "pending"]);
    expect(paperOf(after, "sample_2")).toEqual({ ...pendingPaper(2), mine: "kept" });
    expect(after.insights?.map(({ id }) => id)).toEqual(["insight_1"]);
    expect(after.visited_urls).toEqual(["https://example.org/sample_1"]);
    expect(after.description).toBe("By hand");
    const { ledger } = await readResearch(folder);
    expect(ledger.map(({ outcome }) => outcome)).toEqual(["accepted", "accepted", "accepted", "reset"]);
    expect([...currentAccepted(ledger)]).toEqual([["sample_1", 1]]);
  });

  it("takes out papers that were found later, and the phase goes back with them", async () => {
    const folder = researchFolder({ ...sampleRrd(1), phase: "DISCOVERY" });
    const research = await open(folder);
    const at = "2026-01-01T00:00:00Z";
    const found = { in: "papers_pool" as const, id: "sample_2", set: pendingPaper(2), was: null };
    const phase = { in: "rrd" as const, set: { phase: "ANALYSIS" } };
    await research.fold({
      iteration: 1,
      at,
      message: "discovery",
      changes: [found, phase],
      ledger: { iteration: 1, at, unit: "discovery", phase: "DISCOVERY", outcome: "accepted" },
    });
    await research.close();
    await reset(folder, { to: 0 });
    expect(readRrd(folder)).toMatchObject({ phase: "DISCOVERY", papers_pool: [pendingPaper(1)] });
  });

  it("undoes a reset as well, so every state can be come back to", async () => {
    const folder = await readPapers(researchFolder(), 2);
    const read2 = readRrd(folder);
    await reset(folder, { paper: "sample_1" }, { at: 1 });
    await reset(folder, { to: 2 }, { at: 2 });
    expect(readRrd(folder).papers_pool).toEqual(read2.papers_pool);
    expect(readRrd(folder).insights).toHaveLength(2);
    await reset(folder, { all: true }, { at: 3 });
    expect(readRrd(folder).papers_pool).toEqual([]);
    await reset(folder, { to: 1 }, { at: 4 });
    expect(statuses(folder)).toEqual(["presented", "pending", "pending", "pending", "pending"]);
    expect([...currentAccepted((await readResearch(folder)).ledger)]).toEqual([["sample_1", 1]]);
    await open(folder);
    expect(statuses(folder)).toEqual(["presented", "pending", "pending", "pending", "pending"]);
  });

  it("says which results count again where a reset is among what it undoes", async () => {
    const folder = await readPapers(researchFolder(), 3);
    await reset(folder, { to: 1 }, { at: 1 });
    const said = await reset(folder, { to: 3 }, { at: 2 });
    expect(statuses(folder).slice(0, 3)).toEqual(["presented", "presented", "presented"]);
    expect(said.join("\n")).toMatch(/reset \(iteration 4\) .* 2 results count again: sample_2, sample_3\./);
    expect((await reset(folder, { to: 2 }, { at: 3 })).join("\n")).not.toContain("again");
  });

  it("behind another reset keeps what was done again since, or leads to before it, by the number", async () => {
    const folder = await readPapers(researchFolder(), 3);
    await reset(folder, { to: 1 }, { at: 1 });
    const again = await open(folder);
    await again.fold({ ...acceptance(5, "sample_2") });
    await again.fold({ ...acceptance(6, "sample_3") });
    await again.close();
    const kept = await reset(folder, { to: 5 }, { at: 2 });
    expect(kept.join("\n")).toContain("Everything after iteration 5 is undone: 1 iteration.");
    expect(kept.join("\n")).not.toContain("count again");
    expect(statuses(folder).slice(0, 3)).toEqual(["presented", "presented", "pending"]);
    expect([...currentAccepted((await readResearch(folder)).ledger)]).toEqual([
      ["sample_1", 1],
      ["sample_2", 5],
    ]);
    const before = await reset(folder, { to: 3 }, { at: 3 });
    expect(before.join("\n")).toMatch(/undone with it, so 1 result counts again: sample_3\./);
    expect(statuses(folder).slice(0, 3)).toEqual(["presented", "presented", "presented"]);
    // Opened again, nothing is taken for an old file that somebody saved.
    const told: Told[] = [];
    await (await open(folder, { told })).close();
    expect(told).toEqual([]);
    expect(statuses(folder).slice(0, 3)).toEqual(["presented", "presented", "presented"]);
  });

  it("puts the last good version back where rrd.json is broken, and keeps the broken one beside it", async () => {
    const folder = await readPapers(researchFolder(), 2);
    writeFileSync(join(folder, "rrd.json"), '{ "half": ');
    const said = await reset(folder, { to: 2 });
    expect(statuses(folder).slice(0, 3)).toEqual(["presented", "presented", "pending"]);
    const broken = readdirSync(folder).find((name) => name.startsWith("rrd.json.broken-"));
    expect(read(folder, broken ?? "")).toBe('{ "half": ');
    expect(said[1]).toBe(
      `rrd.json was broken; it is kept as ${join(folder, broken ?? "")}, and the last good version was restored.`,
    );
  });

  it("takes back at least the papers read since where the journal is gone", async () => {
    const folder = await readPapers(researchFolder(), 3);
    rmSync(join(folder, ".ralph"), { recursive: true });
    const said = await reset(folder, { to: 1 });
    expect(statuses(folder)).toEqual(["presented", "pending", "pending", "pending", "pending"]);
    expect(said.at(-1)).toBe(
      "The journal of iterations 2, 3 is missing, so the papers that they found stay in the pool, but are not read.",
    );
    await open(folder);
    expect(statuses(folder)[1]).toBe("pending");
  });
});

describe("resetting a unit that is no paper", () => {
  const refusal = (unit: string, iteration: number) => ({
    unit,
    iteration,
    at: "2026-01-01T00:00:00Z",
    reasons: ["x"],
  });
  const refusals = [refusal("report", 1), refusal("report", 2), refusal("discovery-3", 3), refusal("ideas", 4)];
  const units = (folder: string) => (readRrd(folder).refusals ?? []).map(({ unit }) => unit);

  it("clears its refusals and takes its acceptance back; other units keep theirs", async () => {
    const folder = researchFolder({ ...sampleRrd(1), phase: "COMPLETE", refusals });
    const research = await open(folder);
    for (const [index, unit] of (["report", "ideas"] as const).entries()) {
      const iteration = index + 5;
      const { at } = acceptance(iteration);
      await research.fold({
        iteration,
        at,
        message: unit,
        changes: [],
        ledger: { iteration, at, unit, phase: "ANALYSIS", outcome: "accepted" },
      });
    }
    await research.close();
    const said = await reset(folder, { unit: "report" });
    expect(said.at(-1)).toBe("The report will be written again; 2 refusals cleared.");
    expect(units(folder)).toEqual(["discovery-3", "ideas"]);
    expect(readRrd(folder).phase).toBe("ANALYSIS");
    expect([...currentAccepted((await readResearch(folder)).ledger)]).toEqual([["ideas", 6]]);
    await reset(folder, { unit: "ideas" }, { at: 2 });
    expect(units(folder)).toEqual(["discovery-3"]);
    expect([...currentAccepted((await readResearch(folder)).ledger)]).toEqual([]);
  });

  it("lets ideas alone be had again in a complete research", async () => {
    const folder = researchFolder({ ...sampleRrd(1), phase: "COMPLETE" });
    await reset(folder, { unit: "ideas" });
    expect(readRrd(folder).phase).toBe("IDEATION");
  });

  it("searches on, with the empty batches forgotten, unless the pool is full", async () => {
    const statistics = { discovery_metrics: { batches: 4, batches_without_new: 2 } };
    const rrd = { ...sampleRrd(2), requirements: { target_papers: 3 }, statistics, refusals };
    const folder = researchFolder(rrd);
    const keeping = { derive: (state: Rrd) => state, git: false, now };
    await resetResearch(folder, { unit: "discovery" }, keeping);
    expect(readRrd(folder)).toMatchObject({
      phase: "DISCOVERY",
      statistics: { discovery_metrics: { batches: 4, batches_without_new: 0 } },
    });
    expect(units(folder)).toEqual(["report", "report", "ideas"]);
    writeRrd(folder, { ...rrd, requirements: { target_papers: 2 } });
    await expect(reset(folder, { unit: "discovery" })).rejects.toThrow(
      /holds 2 of 2 papers, so there is nothing to search for/,
    );
  });

  it("searches anew: nothing that was asked, given up or kept of the search stays, but for what a person blocked", async () => {
    const discovery_metrics = {
      batches: 4,
      exhausted: "every round is done",
      rounds: [{ kind: "search" as const, sources: ["arXiv"], queries: [] }],
      screening: [{ screened: 9, kept: 0, rounds: 1 }],
      failures_in_a_row: { arXiv: 3, Crossref: 0 },
      source_failure_reasons: { arXiv: "was away" },
      pool_sha256: "a",
    };
    const rrd = {
      ...sampleRrd(1),
      requirements: { target_papers: 3 },
      statistics: { discovery_metrics },
      blocked_sources: ["arXiv", "web"],
    };
    for (const target of [{ unit: "discovery" }, { all: true }] as const) {
      const folder = researchFolder(rrd);
      mkdirSync(join(folder, ".ralph"), { recursive: true });
      writeFileSync(candidatesFile(folder), "{}");
      await resetResearch(folder, target, { derive: (state: Rrd) => state, git: false, now });
      const after = readRrd(folder);
      expect(after.statistics?.discovery_metrics ?? {}).toEqual(
        "unit" in target ? { batches: 4, batches_without_new: 0 } : {},
      );
      expect(after.blocked_sources).toEqual("unit" in target ? ["web"] : []);
      expect(existsSync(candidatesFile(folder))).toBe(false);
    }
    const folder = researchFolder(rrd);
    mkdirSync(join(folder, ".ralph"), { recursive: true });
    writeFileSync(candidatesFile(folder), "{}");
    await reset(folder, { paper: "sample_1" });
    expect(existsSync(candidatesFile(folder))).toBe(true);
  });

  it("has what was screened out judged again, as keywords may be others by now; duplicates and what was retracted stay out", async () => {
    const stages = ["screened", "window", "duplicate", "retracted"] as const;
    const excluded = stages.map((stage) => ({ id: stage, title: stage, reason: "so", stage }));
    const folder = researchFolder({ ...sampleRrd(1), requirements: { target_papers: 3 }, excluded });
    const told = await reset(folder, { unit: "discovery" });
    expect(readRrd(folder).excluded?.map(({ id }) => id)).toEqual(["duplicate", "retracted"]);
    expect(told).toContain("The search continues.");
    expect(told).toContain("2 works that were excluded may be screened again.");
  });

  it("is named where somebody takes it for a paper", async () => {
    await expect(reset(researchFolder(), { paper: "report" })).rejects.toThrow(
      /There is no paper report in .*; '--unit report' resets it\./,
    );
  });
});

it("resetting everything empties what the runs gathered and keeps what a person set", async () => {
  const folder = await readPapers(researchFolder({ ...sampleRrd(3), blocked_sources: ["web"] }), 2);
  await reset(folder, { all: true });
  expect(readRrd(folder)).toMatchObject({
    project: "Research: samples",
    custom: { kept: true },
    requirements: { keywords: ["sample"], target_papers: 3 },
    phase: "DISCOVERY",
    papers_pool: [],
    insights: [],
    visited_urls: [],
    blocked_sources: [],
    statistics: { total_analyzed: 0, lines: 3 },
  });
  expect(read(folder, "ledger.jsonl").trim().split("\n")).toHaveLength(3);
});

it("a broken rrd.json without a last good version is an error that changes nothing", async () => {
  const folder = researchFolder();
  writeFileSync(join(folder, "rrd.json"), "{");
  await expect(reset(folder, { all: true })).rejects.toThrow(
    /rrd\.json:1:2: the file ends in the middle .*\. Correct it, or put an earlier version in its place\.$/,
  );
  expect(read(folder, "rrd.json")).toBe("{");
  expect(existsSync(join(folder, "ledger.jsonl"))).toBe(false);
});

it("a reset is a checkpoint like any other", async () => {
  const root = repository();
  const folder = await readPapers(researchIn(root), 1);
  await reset(folder, { paper: "sample_1" }, { git: true });
  expect(git(root, "log", "-1", "--format=%s").trim()).toBe(
    "reset: sample_1 is pending again; its analysis, points, refusals and 1 insight are removed.",
  );
});
const line = (iteration: number, unit: string, over: Partial<LedgerLine> = {}): LedgerLine => ({
  iteration,
  at: "2026-01-01T00:00:00Z",
  unit,
  phase: "ANALYSIS",
  outcome: "accepted",
  ...over,
});
const presented = (n: number) => ({ ...pendingPaper(n), status: "presented" as const, score: 30 });
const after = (rrd: Rrd, target: ResetTarget, ledger: readonly LedgerLine[] = [], folder = "/r") =>
  stateAfter(folder, target, rrd, ledger);
const refusal = (unit: string) => ({ unit, iteration: 1, at: "2026-01-01T00:00:00Z", reasons: ["x"] });

describe("a reset of a paper", () => {
  const rrd: Rrd = {
    ...sampleRrd(2),
    papers_pool: [
      {
        ...presented(1),
        read_depth: "full",
        text_sha256: "a",
        iteration: 3,
        warnings: ["w"],
        refusals: [],
        priority: 5,
        retracted: true,
      },
      presented(2),
    ],
    insights: [1, 2, 3].map((n) => ({ id: `insight_${n}`, paper_id: n === 2 ? "sample_2" : "sample_1", insight: "x" })),
  };

  it("keeps what was known before it was read, and says how many insights go", async () => {
    const { newState: state, unit, to, sentences } = await after(rrd, { paper: "sample_1" });
    expect(state.papers_pool).toEqual([
      {
        ...pendingPaper(1),
        notes: null,
        score_breakdown: null,
        analysis: null,
        decision: null,
        priority: 5,
        retracted: true,
      },
      presented(2),
    ]);
    expect(state.insights?.map(({ id }) => id)).toEqual(["insight_2"]);
    expect([unit, to]).toEqual(["sample_1", undefined]);
    expect(sentences).toEqual([
      "sample_1 is pending again; its analysis, points, refusals and 2 insights are removed.",
    ]);
  });

  it("of a file without insights makes none", async () => {
    const { insights: _, ...bare } = rrd;
    const { newState: state, sentences } = await after(bare as Rrd, { paper: "sample_2" });
    expect(state).not.toHaveProperty("insights");
    expect(sentences[0]).toContain("0 insights");
  });

  it("that is not there says where to look", async () => {
    const failure: unknown = await after(rrd, { paper: "p9" }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ExpectedError);
    expect((failure as Error).message).toBe(
      "There is no paper p9 in /r/rrd.json; 'research-ralph status /r --papers' lists them.",
    );
    await expect(after(rrd, { paper: "ideas" })).rejects.toThrow(
      "There is no paper ideas in /r/rrd.json; '--unit ideas' resets it.",
    );
  });
});

describe("a reset of everything", () => {
  it("leaves what a person set, and says how much goes", async () => {
    const rrd: Rrd = {
      ...sampleRrd(1),
      insights: [{ insight: "a" }, { insight: "b" }],
      refusals: [refusal("report")],
      excluded: [{ id: "x", reason: "off topic" }],
      mine: 1,
      timing: {},
    };
    const answer = await after(rrd, { all: true });
    const { refusals: _, excluded: __, ...kept } = rrd;
    const empty = {
      papers_pool: [],
      insights: [],
      visited_urls: [],
      blocked_sources: [],
      statistics: null,
      timing: null,
    };
    expect(answer).toEqual({
      newState: { ...kept, ...empty, phase: "DISCOVERY" },
      unit: "*",
      to: 0,
      sentences: ["The project begins again: 1 paper and 2 insights are removed."],
      obsoletePaths: [candidatesFile("/r"), searchFile("/r")],
    });
    expect(answer.newState).not.toHaveProperty("refusals");
    const { insights: ___, ...bare } = sampleRrd(2);
    expect((await after(bare as Rrd, { all: true })).sentences).toEqual([
      "The project begins again: 2 papers and 0 insights are removed.",
    ]);
  });
});

describe("a reset of a unit that is no paper", () => {
  const of = (phase: Rrd["phase"], unit: "report" | "ideas") => after({ ...sampleRrd(1), phase }, { unit });

  it.each([
    ["DISCOVERY", "report", "DISCOVERY"],
    ["ANALYSIS", "report", "ANALYSIS"],
    ["COMPLETE", "report", "ANALYSIS"],
    ["COMPLETE", "ideas", "IDEATION"],
    ["IDEATION", "ideas", "IDEATION"],
    ["ANALYSIS", "ideas", "ANALYSIS"],
  ] as const)("in %s of the %s leads to %s", async (phase, unit, to) => {
    expect((await of(phase, unit)).newState.phase).toBe(to);
  });

  it("says what is to be done again, and clears its own refusals alone", async () => {
    const rrd: Rrd = { ...sampleRrd(1), refusals: [refusal("report"), refusal("ideas"), refusal("x-report-1")] };
    const { newState: state, unit, sentences } = await after(rrd, { unit: "report" });
    expect([state.refusals, unit, sentences]).toEqual([
      [refusal("ideas"), refusal("x-report-1")],
      "report",
      ["The report will be written again; 1 refusal cleared."],
    ]);
    const ideas = await after({ ...rrd, refusals: [refusal("ideas")] }, { unit: "ideas" });
    expect(ideas.sentences).toEqual(["The ideas will be derived again; 1 refusal cleared."]);
    expect(ideas.newState).not.toHaveProperty("refusals");
    expect((await after(sampleRrd(1), { unit: "ideas" })).sentences).toEqual(["The ideas will be derived again."]);
  });

  it("of the search clears the refusals of every batch, and of nothing that is only called alike", async () => {
    const rrd: Rrd = {
      ...sampleRrd(1),
      requirements: {},
      refusals: [refusal("discovery-1"), refusal("discovery-12"), refusal("x-discovery-1")],
    };
    const { newState: state, unit, sentences } = await after(rrd, { unit: "discovery" });
    expect([state.refusals?.map((each) => each.unit), unit, sentences]).toEqual([
      ["x-discovery-1"],
      "discovery",
      [expect.stringMatching(/^The search continues; 2 refusals cleared\b/)],
    ]);
  });

  it("of the search has nothing to do where the pool is full, and says how to ask for more", async () => {
    const full = { ...sampleRrd(2), requirements: { target_papers: 2 } };
    const failure: unknown = await after(full, { unit: "discovery" }).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      exitCode: 2,
      message:
        "The pool holds 2 of 2 papers, so there is nothing to search for; 'research-ralph run /r -p <more> --force' asks for more.",
    });
    expect((await after({ ...full, requirements: { target_papers: 3 } }, { unit: "discovery" })).newState.phase).toBe(
      "DISCOVERY",
    );
    expect((await after({ ...full, requirements: {} }, { unit: "discovery" })).newState.phase).toBe("DISCOVERY");
  });

  it("of the search asks again whoever failed, and nobody whom a person left out, whatever they are called", async () => {
    const statistics = {
      mine: 1,
      discovery_metrics: { batches: 2, batches_without_new: 2, failures_in_a_row: { arXiv: 3, web: 0 }, mine: 2 },
    };
    const rrd = {
      ...sampleRrd(1),
      requirements: {},
      statistics,
      blocked_sources: ["arXiv", "web", "constructor", { name: "news" }],
    } as Rrd;
    const { newState: state } = await after(rrd, { unit: "discovery" });
    expect(state.blocked_sources).toEqual(["web", "constructor", { name: "news" }]);
    expect(state.statistics).toEqual({ mine: 1, discovery_metrics: { batches: 2, batches_without_new: 0, mine: 2 } });
    const { blocked_sources: _, ...open } = rrd;
    expect((await after(open as Rrd, { unit: "discovery" })).newState).not.toHaveProperty("blocked_sources");
  });

  it("of the search, or of everything, forgets what the sources answered; no other does", async () => {
    const targets: ResetTarget[] = [
      { all: true },
      { unit: "discovery" },
      { unit: "report" },
      { paper: "sample_1" },
      { to: 0 },
    ];
    const resets = await Promise.all(targets.map((target) => after({ ...sampleRrd(1), requirements: {} }, target)));
    const kept = [candidatesFile("/r"), searchFile("/r")];
    expect(resets.map(({ obsoletePaths }) => obsoletePaths)).toEqual([kept, kept, undefined, undefined, undefined]);
  });
});

describe("a reset to an iteration", () => {
  const entry = (iteration: number, id: string): JournalEntry => ({
    iteration,
    at: "2026-01-01T00:00:00Z",
    message: "x",
    changes: [
      { in: "papers_pool", id, set: { status: "presented", score: 30 }, was: pendingPaper(Number(id.split("_")[1])) },
    ],
    progress: null,
    ledger: { offset: 0, text: "{}\n" },
  });
  const journal = async (...entries: JournalEntry[]) => {
    const folder = temporaryFolder();
    await makeJournal(folder);
    for (const each of entries) {
      await writeEntry(folder, each);
      await markDone(folder, each.iteration);
    }
    return folder;
  };
  const read = { ...sampleRrd(3), papers_pool: [1, 2, 3].map(presented) };

  it("undoes what came after it from the last to the first, and says how many", async () => {
    const folder = await journal(entry(1, "sample_1"), entry(2, "sample_2"), {
      ...entry(3, "sample_2"),
      changes: [{ in: "papers_pool", id: "sample_2", set: { score: 30 }, was: { ...pendingPaper(2), score: 7 } }],
    });
    const ledger = [line(3, "sample_2"), line(1, "sample_1"), line(2, "sample_2", { phase: "IDEATION" })];
    const { newState: state, unit, to, sentences } = await after(read, { to: 1 }, ledger, folder);
    expect(state.papers_pool).toEqual([presented(1), pendingPaper(2), presented(3)]);
    expect([state.phase, unit, to, sentences]).toEqual([
      "IDEATION",
      "*",
      1,
      ["Everything after iteration 1 is undone: 2 iterations."],
    ]);
    expect((await after(read, { to: 2 }, ledger, folder)).sentences).toEqual([
      "Everything after iteration 2 is undone: 1 iteration.",
    ]);
  });

  it("after the last undoes nothing", async () => {
    const { newState: state, sentences } = await after(read, { to: 3 }, [line(3, "sample_3")], await journal());
    expect([state, sentences]).toEqual([read, ["Everything after iteration 3 is undone: 0 iterations."]]);
  });

  it("without the journal takes back what was read since, and names the iterations", async () => {
    const ledger = [
      line(1, "sample_1"),
      line(2, "sample_2", { outcome: "refused" }),
      line(3, "sample_3"),
      line(4, "sample_1"),
    ];
    const folder = await journal();
    const { newState: state, sentences } = await after(read, { to: 2 }, ledger, folder);
    expect(state.papers_pool.map(({ status }) => status)).toEqual(["presented", "presented", "pending"]);
    expect(sentences[1]).toBe(
      "The journal of iterations 3, 4 is missing, so the papers that they found stay in the pool, but are not read.",
    );
    expect((await after(read, { to: 0 }, ledger, folder)).newState.papers_pool.map(({ status }) => status)).toEqual([
      "pending",
      "presented",
      "pending",
    ]);
  });
});
