import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { LedgerLine } from "../../../../src/engine/generated/ledger.js";
import { countContextOverflows } from "../../../../src/research/derived/status.js";
import { line } from "../../../support/projects/research-folder.js";
import {
  goodAgent,
  library,
  paper,
  paperText,
  researchFolder,
  rrdWith,
  scriptedAgent,
} from "../../../support/projects/research.js";

const tooFull = (iteration: number, unit: string, more: Partial<LedgerLine> = {}) =>
  line(iteration, unit, { outcome: "failed", failure: "context", ...more });

/** The unit of the next brief of a research whose ledger says this, and the brief's text. */
async function nextBrief(rrd: Parameters<typeof researchFolder>[0], ledger: readonly LedgerLine[], given = library()) {
  const at = researchFolder(rrd, given);
  writeFileSync(join(at.folder, "ledger.jsonl"), ledger.map((each) => `${JSON.stringify(each)}\n`).join(""));
  let seen: { unit: Record<string, unknown>; text: string } | undefined;
  const agent = scriptedAgent((unit, { text }) => {
    seen = { unit, text };
    return {};
  });
  await at.run(agent, 1);
  if (seen === undefined) throw new Error("no agent was started");
  return seen;
}

test("how often a unit's context was too full is counted over all runs, until it is accepted or reset, and four times at most", () => {
  const times = (...ledger: LedgerLine[]) => countContextOverflows(ledger, "a");
  expect(times(tooFull(1, "a"), tooFull(2, "b"), tooFull(3, "a", { failure: "crashed" }), tooFull(4, "a"))).toBe(2);
  expect(times(tooFull(1, "a"), line(2, "a", { outcome: "refused" }))).toBe(1);
  expect(times(tooFull(1, "a"), line(2, "a"), tooFull(3, "a"))).toBe(1);
  expect(times(tooFull(1, "a"), line(2, "a", { outcome: "reset" }))).toBe(0);
  expect(times(tooFull(1, "a"), line(2, "*", { outcome: "reset", to: 0 }))).toBe(0);
  expect(times(...Array.from({ length: 9 }, (_, n) => tooFull(n + 1, "a")))).toBe(4);
});

test("a paper that filled the context in an earlier run is given in part, by half as much each time", async () => {
  const body = "The method reached 87.5 % accuracy on 1,200 samples. It needs 14 minutes on one machine. ".repeat(
    1_500,
  );
  const given = library({ text: async ({ id }) => ({ text: paperText(id, body) }) });
  const of = async (ledger: readonly LedgerLine[]) => nextBrief(rrdWith([paper("p1")]), ledger, given);
  const [whole, half, quarter] = [
    await of([]),
    await of([tooFull(1, "p1")]),
    await of([tooFull(1, "p1"), tooFull(2, "p1")]),
  ];
  expect(half.text.length / whole.text.length).toBeLessThan(0.65);
  expect(quarter.text.length / half.text.length).toBeLessThan(0.65);
  expect(half.text).toContain("# The last attempt was closed");
  expect(whole.text).not.toContain("# The last attempt was closed");
});

test("a batch that filled the context offers half as many candidates, and the others with the next one", async () => {
  const offered = Array.from({ length: 60 }, (_, n) => ({
    id: `c${n}`,
    title: `Candidate ${n} is about matter ${n * 7}`,
    authors: [],
    date: "2026-01-01",
    url: `https://example.org/c${n}`,
    pdf_url: null,
    identifiers: {},
    source: "samples",
    abstract: `Abstract ${n}. `.repeat(20),
  }));
  const rrd = rrdWith([], { requirements: { ...rrdWith([]).requirements, sources: ["samples"], target_papers: 60 } });
  const given = library({ offered });
  const candidates = (unit: Record<string, unknown>) => (unit["candidates"] as { id: string }[]).map(({ id }) => id);
  const whole = candidates((await nextBrief(rrd, [], given)).unit);
  const half = candidates((await nextBrief(rrd, [tooFull(1, "discovery-1", { phase: "DISCOVERY" })], given)).unit);
  expect(half.length).toBeGreaterThan(whole.length * 0.3);
  expect(half.length).toBeLessThan(whole.length * 0.7);
  expect(half).toEqual(whole.slice(0, half.length));

  const at = researchFolder(rrd, given);
  writeFileSync(
    join(at.folder, "ledger.jsonl"),
    `${JSON.stringify(tooFull(1, "discovery-1", { phase: "DISCOVERY" }))}\n`,
  );
  const batches: string[][] = [];
  const agent = goodAgent((unit) => {
    const given = unit["candidates"] as { id: string; title: string; url: string }[];
    batches.push(given.map(({ id }) => id));
    const papers = given.map(({ id, title, url }) => ({ id, title, url, priority: 3, reason: "It fits." }));
    return { result: { unit: unit["unit"], papers, dropped: [], sources: [] } };
  });
  await at.run(agent, 2);
  expect(batches[0]).toEqual(half);
  expect(batches[1]?.[0]).toBe(whole[half.length]);
  expect(batches[1]?.length).toBeGreaterThan(half.length * 1.5);
});

test("a report that filled the context is given half as much of the records", async () => {
  const decided = {
    status: "presented" as const,
    decision: "PRESENT" as const,
    score: 30,
    analysis: { summary: "It works. ".repeat(20), results: "Good. ".repeat(20) },
  };
  const papers = Array.from({ length: 60 }, (_, n) => paper(`p${n}`, decided));
  const shown = async (ledger: readonly LedgerLine[]) =>
    ((await nextBrief(rrdWith(papers), ledger)).unit["papers"] as unknown[]).length;
  const [whole, half] = [await shown([]), await shown([tooFull(1, "report")])];
  expect(half).toBeGreaterThan(0);
  expect(half).toBeLessThan(whole * 0.7);
});
