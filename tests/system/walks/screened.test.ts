import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import type { PaperRecord } from "../../../src/research/papers/paper-record.js";
import type { Source } from "../../../src/research/sources/shared/source.js";
import { decidedExamples } from "../../../src/research/derived/decided-examples.js";
import { recallOf } from "../../../src/research/units/screening/recall-claim.js";
import { runSearch } from "../../../src/research/units/screening/search-session.js";
import {
  goodAgent,
  library,
  paper,
  researchFolder,
  rrdWith,
  temporaryFolder,
} from "../../support/projects/research.js";
import { unwatched } from "../../support/network/unwatched-search.js";

const count = 400;
const isRelevant = (id: string) => Number(id.slice(1)) % 20 === 0;
/** A field of which one record in twenty is on soft grippers, in no order. */
const records = Array.from({ length: count }, (_, number): PaperRecord => {
  const about = isRelevant(`r${number}`)
    ? "pneumatic gripper of soft silicone"
    : `welded frame of steel type ${number % 7}`;
  return {
    id: `r${number}`,
    title: `Machine ${number} with a ${about}`,
    url: `https://example.org/r${number}`,
    pdf_url: null,
    authors: [`Ada Author${number}`],
    date: "2026-01-01",
    source: "One",
    abstract: `We built a ${about} and measured machine ${number}.`,
    identifiers: { doi: `10.5555/r${number}` },
  };
});

async function screen(requirements: Partial<Rrd["requirements"]>) {
  const folder = temporaryFolder();
  const signal = new AbortController().signal;
  const source = { name: "One", aliases: [], endpoint: "", search: async () => ({ status: "ok", value: records }) };
  const http = { get: () => Promise.reject(new Error("no network")) };
  const context = { http, endpoint: "", contextFor: () => ({ unavailable: "no network" }) };
  const open = () => ({ source: source as unknown as Source, context });
  const offering = library({
    serves: () => false,
    services: (name) => [name],
    search: (rrd, names) =>
      runSearch(rrd, names, { ...unwatched, folder, open, now: () => Date.parse("2026-03-01T00:00:00Z"), signal }),
  });
  const batches: string[][] = [];
  const agent = goodAgent((unit) => {
    if (unit["kind"] !== "discovery") return undefined;
    const ids = (unit["candidates"] as { id: string }[]).map(({ id }) => id);
    batches.push(ids);
    const kept = ids.filter(isRelevant).map((id) => ({ id, priority: 3, reason: "It is soft." }));
    const dropped = ids.filter((id) => !isRelevant(id)).map((id) => ({ id, reason: "It is steel." }));
    return { result: { unit: unit["unit"], kept, dropped, papers: [], sources: [] } };
  });
  const wanted: Rrd = {
    ...rrdWith([]),
    phase: "DISCOVERY",
    requirements: {
      keywords: ["measured machine"],
      focus_area: "machines",
      sources: ["One"],
      target_papers: 100,
      ...requirements,
    },
  };
  const place = researchFolder(wanted, offering);
  const { rrd } = await place.run(agent, 60);
  const log = readFileSync(join(place.folder, "progress.txt"), "utf8");
  return { rrd, log, batches: batches.filter((ids) => ids.length > 0), metrics: rrd.statistics?.discovery_metrics };
}

describe("screening towards a recall", () => {
  test("learns what is kept, ends once the rule says that it is enough, and states its risk", async () => {
    const { rrd, log, batches, metrics } = await screen({ screening: { target_recall: 0.95, confidence: 0.9 } });
    const screened = batches.flat().length;
    const kept = rrd.papers_pool.map(({ id }) => id);
    expect(kept).toHaveLength(count / 20);
    expect(screened).toBeLessThan(count);
    // Once the first ones are kept, the rest of them come at once.
    const sizes = batches.map((ids) => ids.filter(isRelevant).length);
    const first = sizes.findIndex((size, index) => size > 0 && batches.slice(0, index + 1).flat().length >= 10);
    expect(sizes.slice(0, first + 4).reduce((sum, size) => sum + size, 0)).toBe(kept.length);
    expect(rrd.papers_pool.some(({ found }) => /like the kept ones: /.test(found?.why ?? ""))).toBe(true);

    expect(metrics?.recall).toMatchObject({
      reached: true,
      says: expect.stringMatching(/^95 % .* 90 % confidence; the risk/),
    });
    expect(metrics?.recall?.risk).toBeLessThan(0.1);
    expect(log).toContain(`**Recall:** ${metrics?.recall?.says}.`);
    expect(metrics?.exhausted).toBe(metrics?.recall?.says);
    const curve = metrics?.screening ?? [];
    expect(curve.every(({ recall_at_least, risk }) => recall_at_least !== undefined && risk !== undefined)).toBe(true);
    expect(curve.reduce((sum, batch) => sum + batch.screened, 0)).toBe(screened);
    expect(metrics?.flow?.not_screened).toBe(count - screened);
  });

  test("screens every record where nothing less can be claimed, and ends then", async () => {
    const { batches, metrics } = await screen({ screening: { target_recall: 1, confidence: 0.999 } });
    expect(batches.flat()).toHaveLength(count);
    expect(metrics?.recall).toMatchObject({ at_least: 1, reached: true, says: expect.stringMatching(/^every record/) });
    expect(metrics?.flow?.not_screened).toBe(0);
  });

  test("is not spoken of where nobody asked for it", async () => {
    const { metrics } = await screen({});
    expect(metrics?.recall).toBeUndefined();
    expect(metrics?.screening?.every((batch) => Object.keys(batch).length === 3)).toBe(true);
  });
});

test("what was screened and what was read are examples; what only its form excluded is not", () => {
  const rrd: Rrd = {
    ...rrdWith([
      paper("waiting"),
      { ...paper("presented"), status: "presented" },
      { ...paper("rejected"), status: "rejected" },
      { ...paper("retracted"), status: "rejected", retracted: true },
    ]),
    excluded: [
      { id: "dropped", title: "Steel", reason: "It is steel.", stage: "screened" },
      { id: "older", reason: "An older file." },
      ...(["duplicate", "retracted", "window", "notice"] as const).map((stage) => ({
        id: stage,
        reason: stage,
        stage,
      })),
    ],
  };
  expect(decidedExamples(rrd).map(({ id, kept }) => [id, kept])).toEqual([
    ["waiting", true],
    ["presented", true],
    ["rejected", false],
    ["dropped", false],
    ["older", false],
  ]);
});

test("only batches after the last round of searching count as draws", () => {
  const requirements = { screening: { target_recall: 0.9, confidence: 0.9 } };
  const batches = Array.from({ length: 20 }, (_, index) => ({ screened: 10, kept: index < 3 ? 5 : 0, rounds: 1 }));
  const recall = (rounds: number) => recallOf(requirements, batches, { rounds, waiting: 60 });
  expect(recall(1)).toMatchObject({ reached: true });
  expect(recall(2)).toMatchObject({ reached: false, risk: 1 });
  const early = batches.slice(0, 5);
  expect(recallOf(requirements, early, { rounds: 1, waiting: 150 })?.statement).toMatch(
    /^at least [\d.]+ % of the relevant .* 90 % confidence; 90 % are asked for\. Now [\d.]+ % are likely; to reach the confidence, \d+ more of 150 records must be screened, if none of them is relevant$/,
  );
  const none = batches.map((batch) => ({ ...batch, kept: 0 }));
  expect(recallOf(requirements, none, { rounds: 1, waiting: 5 })).toMatchObject({ reached: false, atLeast: 0 });
  expect(recallOf({}, batches, { rounds: 1, waiting: 60 })).toBeUndefined();
});
