import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { problemsOf } from "../../../../src/engine/storage/schema-check.js";
import type { UpdateCheck } from "../../../../src/research/paper-lookups/kept-retraction-checks.js";
import { checkWorks } from "../../../../src/research/paper-lookups/kept-retraction-checks.js";
import type { WorkUpdates } from "../../../../src/research/paper-lookups/find-retractions.js";
import type { Identifiers } from "../../../../src/research/papers/paper-record.js";
import { fakeClock } from "../../../support/clock.js";
import {
  goodAgent,
  library,
  paper,
  paperText,
  reading,
  researchFolder,
  rrdWith,
  scriptedAgent,
  temporaryFolder,
} from "../../../support/projects/research.js";
import type { Library } from "../../../../src/research/units/unit-kind.js";

const at = "2026-11-22T10:00:00.000Z";
const standing: UpdateCheck = { at, updates: [], checked_by: ["Crossref"], unchecked: [] };
const retraction = { type: "retraction" as const, date: "2026-03-01", source: "Crossref (retraction-watch)" };
const offline: UpdateCheck = { at, updates: [], checked_by: [], unchecked: ["Crossref: it does not answer."] };

/**
 * A library whose checks are given by paper, and that notes which texts it was asked for and which papers were checked.
 */
function checking(checks: Readonly<Record<string, UpdateCheck>>) {
  const texts: string[] = [];
  const checked: string[] = [];
  const given = library({
    text: async ({ id }) => {
      texts.push(id);
      return { text: paperText(id) };
    },
    updates: async (papers) => {
      checked.push(...papers.map(({ id }) => id));
      return new Map(papers.flatMap(({ id }) => (checks[id] === undefined ? [] : [[id, checks[id]] as const])));
    },
  });
  return { given, texts, checked };
}

/** An agent that does everything right, and the units that it was started on. */
function counted() {
  const units: string[] = [];
  return { units, agent: goodAgent((unit) => void units.push(String(unit["unit"]))) };
}

describe("a paper that is found retracted when its turn comes", () => {
  test("is rejected by code: no agent, no tokens, no text, and what was found stands in its record", async () => {
    const { given, texts } = checking({ p1: standing, p2: { ...standing, updates: [retraction] } });
    const { units, agent } = counted();
    const folder = researchFolder(rrdWith([paper("p1"), paper("p2", { priority: 5 })]), given);
    const { rrd, ledger, events, verdict } = await folder.run(agent);
    expect(verdict.verdict).toBe("complete");
    expect(units).toEqual(["p1", "report", "ideas"]);
    expect(texts).toEqual(["p1"]);
    expect(rrd.papers_pool[1]).toMatchObject({
      status: "rejected",
      decision: "REJECT",
      score: null,
      retracted: true,
      updates: [retraction],
      updates_check: { checked_by: ["Crossref"] },
      warnings: ["Retracted on 2026-03-01, as Crossref (retraction-watch) says."],
      iteration: 1,
    });
    expect(rrd.papers_pool[0]).toMatchObject({ status: "presented" });
    expect(rrd.papers_pool[0]).not.toHaveProperty("updates");
    expect(ledger[0]).toMatchObject({ unit: "p2", outcome: "accepted", retracted: ["p2"], duration_seconds: 0 });
    for (const field of ["agent", "tokens", "cost_usd"]) expect(ledger[0]).not.toHaveProperty(field);
    expect(ledger.filter(({ unit }) => unit === "p2")).toHaveLength(1);
    expect(problemsOf("rrd", rrd)).toEqual([]);
    expect(rrd.statistics).toMatchObject({ total_retracted: 1, total_rejected: 1, total_presented: 1 });
    expect(events).toContainEqual(expect.objectContaining({ type: "prepared", unit: "p2", outcome: "settled" }));
    expect(events).toContainEqual(expect.objectContaining({ type: "settled", unit: "p2", iteration: 1 }));
    expect(readFileSync(join(folder.folder, "progress.txt"), "utf8")).toContain(`ID: p2\nStatus: REJECTED`);
    const report = readFileSync(join(folder.folder, "research-report.md"), "utf8");
    expect(report).toContain("RETRACTED: [On the matter of p2](#p2)");
    expect(report).toContain("Crossref (retraction-watch)");
  });

  test("asks nobody where its record says so already", async () => {
    const { given, texts, checked } = checking({});
    const { units, agent } = counted();
    const { rrd } = await researchFolder(rrdWith([paper("p1", { retracted: true })]), given).run(agent, 0);
    expect([units, texts, checked]).toEqual([[], [], []]);
    const done = await researchFolder(rrdWith([paper("p1", { retracted: true }), paper("p2")]), given).run(agent, 1);
    expect(rrd.papers_pool[0]?.status).toBe("pending");
    expect(done.rrd.papers_pool.map(({ status }) => status)).toEqual(["rejected", "presented"]);
    expect(done.rrd.papers_pool[0]).toMatchObject({ retracted: true, warnings: ["Retracted."] });
    expect([units, texts, checked]).toEqual([["p2"], ["p2"], ["p2"]]);
  });

  test("is looked for once while one agent works at a time, and kept for a day by the cache on disk", async () => {
    const clock = fakeClock();
    const file = join(temporaryFolder(), "updates.json");
    let asked = 0;
    const ask = async (works: readonly Identifiers[]): Promise<WorkUpdates[]> => {
      asked += works.length;
      return works.map(() => ({ updates: [], checkedBy: ["Crossref"], unchecked: [] }));
    };
    const updates: Library["updates"] = async (papers, within = 1000) =>
      await checkWorks(
        papers.map(({ id }) => ({ id, identifiers: { doi: `10.5555/${id}` } })),
        { file, ask, clock, signal: new AbortController().signal, within, anew: false },
      );
    // The first result is refused, so the paper is prepared twice.
    let tries = 0;
    const agent = goodAgent((unit) =>
      unit["kind"] === "paper" && (tries += 1) === 1 ? { result: reading("p1", { unit: "another" }) } : undefined,
    );
    const run = researchFolder(rrdWith([paper("p1")]), library({ updates })).run;
    const { ledger } = await run(agent, 3, { clock, jobs: 1 });
    expect(ledger.map(({ unit, outcome }) => `${unit} ${outcome}`)).toEqual([
      "p1 refused",
      "p1 accepted",
      "report accepted",
    ]);
    expect(asked).toBe(1);
  });
});

describe("a paper that is not found retracted", () => {
  test("is read where no service could say anything, and nothing is recorded of that", async () => {
    const { given } = checking({ p1: offline });
    const { units, agent } = counted();
    const { rrd } = await researchFolder(rrdWith([paper("p1")]), given).run(agent, 1);
    expect(units).toEqual(["p1"]);
    expect(rrd.papers_pool[0]).toMatchObject({ status: "presented" });
    for (const field of ["updates", "updates_check", "retracted"]) expect(rrd.papers_pool[0]).not.toHaveProperty(field);
  });

  test("is read with an expression of concern in its brief, and keeps it with its provenance", async () => {
    const concern = { type: "concern" as const, date: "2026-02-02", source: "Crossref" };
    const { given } = checking({ p1: { ...standing, updates: [concern] } });
    let told: unknown;
    const agent = scriptedAgent((unit) => {
      told = unit["since_published"];
      return { result: reading("p1") };
    });
    const { rrd } = await researchFolder(rrdWith([paper("p1")]), given).run(agent, 1);
    expect(told).toEqual([concern]);
    expect(rrd.papers_pool[0]).toMatchObject({
      status: "presented",
      updates: [concern],
      updates_check: { checked_by: ["Crossref"] },
      warnings: ["An expression of concern was published on 2026-02-02, as Crossref says."],
    });
  });
});

test("a corrupt cache of checks costs a question and no more", async () => {
  const file = join(temporaryFolder(), "updates.json");
  writeFileSync(file, "{ torn");
  const checks = await checkWorks([{ id: "p1", identifiers: { doi: "10.5555/p1" } }], {
    file,
    clock: fakeClock(),
    signal: new AbortController().signal,
    within: 1000,
    anew: false,
    ask: async (works) => works.map(() => ({ updates: [retraction], checkedBy: ["Crossref"], unchecked: [] })),
  });
  expect(checks.get("p1")?.updates).toEqual([retraction]);
});
