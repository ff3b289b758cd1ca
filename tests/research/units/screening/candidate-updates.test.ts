import { expect, test } from "vitest";
import type { Update } from "../../../../src/research/papers/paper-record.js";
import { acceptDiscovery } from "../../../../src/research/units/screening/judge-batch.js";
import { searchResults } from "../../../../src/research/units/screening/search-results.js";
import { statusOf } from "../../../../src/research/workflow/next-unit.js";
import { prepareBatch } from "../../../../src/research/units/screening/prepare.js";
import { library, rrdWith } from "../../../support/projects/research.js";

const record = (id: string) => ({
  id,
  title: `On the matter of ${id}`,
  url: `https://example.org/${id}`,
  pdf_url: null,
  identifiers: {},
  authors: ["Ada Author"],
  date: "2026-01-02",
  source: "Crossref",
  abstract: null,
});
const retraction: Update = { type: "retraction", date: "2026-03-01", source: "Crossref", notice: "10.1000/notice" };
const correction: Update = { type: "correction", date: "2026-02-01", source: "Crossref" };
const rrd = { ...rrdWith([]), requirements: { target_papers: 5, sources: ["samples"], keywords: ["k"] } };
const judging = { iteration: 1, agent: "scripted", at: new Date("2026-03-04T05:06:07.890Z") };

test("a paper that was retracted before it was found enters the pool with the day of its retraction, and one that was corrected with that", async () => {
  const found = { a: retraction, b: correction };
  const check = (update: Update) => ({
    at: "2026-03-04T00:00:00Z",
    updates: [update],
    checked_by: ["Crossref"],
    unchecked: [],
  });
  const checking = library({
    offered: ["a", "b", "c"].map(record),
    updates: async () => new Map(Object.entries(found).map(([id, update]) => [id, check(update)])),
  });
  const prepared = await prepareBatch(
    { library: checking, now: () => 0 },
    { rrd, ledger: [], status: statusOf(rrd, []), agentNotes: new Map() },
    { kind: "discovery", id: "discovery-1", phase: "DISCOVERY", title: "Find papers" },
  );
  if ("until" in prepared) throw new Error(prepared.reason);
  const { batch } = prepared;
  const kept = ["a", "b", "c"].map((id) => ({ id, priority: 3, reason: "It fits." }));
  const accepted = acceptDiscovery(
    rrd,
    "discovery-1",
    { unit: "discovery-1", kept, papers: [], sources: [] },
    batch,
    judging,
  );
  if ("reasons" in accepted) throw new Error(accepted.reasons.join("; "));
  const added = Object.fromEntries(
    accepted.changes.filter((change) => change.in === "papers_pool").map(({ id, set }) => [id, set]),
  );
  expect(added["a"]).toMatchObject({ retracted: true, updates: [retraction] });
  expect(added["b"]).toMatchObject({ updates: [correction] });
  expect(added["b"]).not.toHaveProperty("retracted");
  expect(added["c"]).not.toHaveProperty("updates");
});

test("what a service says of a work's corrections goes with the candidate that it becomes", async () => {
  const found = { ...record("a"), identifiers: {}, updates: [correction] };
  const offering = library({
    services: () => ["Crossref"],
    search: async () => ({
      works: [{ record: found, provenance: { mergedFrom: [found], places: [] }, priority: 3, why: "" }],
      excludedWorks: [],
      steps: [],
      listings: [],
      candidates: { works: [], merges: [], lookAlikes: [] },
      candidatesSha256: "",
      skippedCount: 0,
      mayLeadOn: false,
    }),
  });
  expect((await searchResults(rrd, offering, ["Crossref"], new Map()))?.works[0]?.updates).toEqual([correction]);
});
