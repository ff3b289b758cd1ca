import type { LedgerLine } from "../../src/engine/generated/ledger.js";
import type { DiscoveryResult } from "../../src/research/generated/result-discovery.js";
import type { Rrd } from "../../src/research/generated/rrd.js";
import { completeChange, mergeChanges, type Change } from "../support/projects/rrd-merge.js";
import { acceptDiscovery } from "../../src/research/units/screening/judge-batch.js";
import { acceptRead } from "../support/projects/accept-read.js";
import type { Batch } from "../../src/research/units/screening/screening-batch.js";
import { derive } from "../../src/research/workflow/derive.js";
import { ideas, narrative, paper, paperText, reading, rrdWith } from "../support/projects/research.js";
import { paperOf } from "../../src/research/derived/status.js";

export const judging = {
  iteration: 9,
  agent: "scripted",
  at: new Date("2026-03-04T05:06:07.890Z"),
  redact: (text: string) => text,
};
export const material = (id: string) => ({ text: paperText(id) });

/** Merges changes as a fold does, and derives what follows. */
export function folded(rrd: Rrd, changes: readonly Change[], ledger: readonly LedgerLine[] = []): Rrd {
  const complete = changes.map((change) => completeChange(change, rrd));
  return derive(mergeChanges(rrd, complete, true).rrd, ledger);
}

const ledgerLine = (iteration: number, unit: string): LedgerLine => ({
  iteration,
  at: `2026-03-04T05:0${iteration}:00.000Z`,
  unit,
  phase: unit === "ideas" ? "IDEATION" : "ANALYSIS",
  outcome: "accepted",
  agent: "scripted",
  confinement: "workspace",
  duration_seconds: 12.5,
  tokens: { input: 1000, cached: 0, output: 50, requests: 2 },
  brief_tokens: 3000,
});

export const ledger: readonly LedgerLine[] = [ledgerLine(1, "p1"), ledgerLine(2, "p2")];

function read(rrd: Rrd, id: string, lines: readonly LedgerLine[]): Rrd {
  const pending = paperOf(rrd, id);
  const judged = pending === undefined ? undefined : acceptRead(rrd, pending, reading(id), material(id), judging);
  if (judged === undefined || "reasons" in judged) throw new Error(`the reading of ${id} is refused`);
  return folded(rrd, judged.changes, lines);
}

/** A research in the middle: two papers read, two to read, one of them refused once. */
export function midway(): Rrd {
  let rrd = rrdWith([
    paper("p1"),
    paper("p2", { priority: 5 }),
    paper("p3", { refusals: [{ iteration: 3, at: "2026-03-04T05:03:00.000Z", reasons: ["no quote was found"] }] }),
    paper("p4"),
  ]);
  for (const id of ["p1", "p2"]) rrd = read(rrd, id, ledger);
  return {
    ...rrd,
    excluded: [{ id: "x1", title: "Something else", reason: "off topic" }],
    refusals: [{ unit: "report", iteration: 4, at: "2026-03-04T05:04:00.000Z", reasons: ["x"] }],
  };
}

/** A research that is done to the last unit, with its ledger. */
export function finished(): { readonly rrd: Rrd; readonly ledger: readonly LedgerLine[] } {
  const lines = ["p1", "p2", "p3", "p4", "report", "ideas"].map((unit, index) => ledgerLine(index + 1, unit));
  let rrd = { ...midway(), refusals: [] };
  for (const id of ["p3", "p4"]) rrd = { ...read(rrd, id, lines), refusals: [] };
  return { rrd: derive(rrd, lines), ledger: lines };
}

/** The oldest shape: no mission, points side by side, texts where lists are now. */
export const oldest = (): Rrd =>
  ({
    project: "Research: old",
    branchName: "research/old",
    requirements: { focus_area: "matter", keywords: ["a"], target_papers: 2, min_score_to_present: 18 },
    phase: "ANALYSIS",
    papers_pool: [
      {
        id: "p1",
        title: "Old",
        authors: "Ada Author, Bo Author",
        status: "presented",
        score: 22,
        score_breakdown: { novelty: 4, feasibility: 4, time_to_poc: 4, value_market: 4, defensibility: 3, adoption: 3 },
        analysis: {
          summary: "It works.",
          methodology: ["a", "b"],
          results: "x",
          limitations: "y",
          implementations_found: [],
          commercialized: "no",
        },
      },
      { id: "p3", title: "New", status: "analyzing", priority: 4 },
    ],
    insights: [{ id: "insight_001", paper_id: "p1", insight: "Old insight", tags: ["t"] }],
    visited_urls: [],
    statistics: null,
  }) as unknown as Rrd;

/** A research that has searched once and found nothing yet; most of the file is what a person writes. */
export const searching = (): Rrd => {
  const rrd = rrdWith([], { custom: { kept: 1 } });
  const judged = acceptDiscovery(
    rrd,
    "discovery-1",
    { unit: "discovery-1", papers: [], sources: [{ name: "arXiv", status: "empty" }] },
    batch,
    judging,
  );
  if ("reasons" in judged) throw new Error("the empty batch is refused");
  return folded(rrd, judged.changes);
};

const found = (id: string) => ({
  id,
  title: `A candidate ${id}`,
  url: `file:///samples/${id}.md`,
  pdf_url: null,
  authors: [],
  date: null,
  source: "samples",
  abstract: null,
  identifiers: {},
});

/** What code offers with `goodResults.discovery`. */
export const batch: Batch = {
  candidates: [found("c1"), found("c2")],
  sources: [{ name: "samples", status: "ok" }],
  duplicates: [{ candidate: found("c3"), of: "p1" }],
};

const discovery: DiscoveryResult = {
  unit: "discovery-1",
  papers: [
    { id: "c1", title: "A candidate paper", url: "https://example.org/c1", priority: 4, reason: "On topic." },
    {
      title: "Found on the web",
      url: "https://arxiv.org/abs/2401.12345",
      priority: 2,
      reason: "Near.",
      authors: ["B"],
      date: "2026-01",
      doi: "10.1/x",
    },
  ],
  dropped: [{ id: "c2", reason: "off topic" }],
  sources: [
    { name: "arXiv", status: "ok", queries: ["matter"] },
    { name: "web", status: "blocked", reason: "403" },
  ],
  visited_urls: ["https://example.org"],
  patterns: ["Search by author."],
};

/** A good result of each kind of unit for `midway`. */
export const goodResults = {
  discovery: { unit: discovery.unit, result: discovery },
  paper: {
    unit: "p3",
    result: reading("p3", {
      market: "blue",
      commercialized_by: "Acme",
      patterns: ["Read the tables."],
      visited_urls: ["https://example.org"],
    }),
  },
  report: {
    unit: "report",
    result: narrative({
      gaps: [{ text: "Nobody says what it costs." }],
      comparison: { approaches: ["a", "b"], rows: [{ aspect: "time", cells: [{ text: "1" }, { text: "2" }] }] },
    }),
  },
  ideas: { unit: "ideas", result: ideas() },
} as const;
