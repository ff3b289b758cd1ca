import { expect, it } from "vitest";
import type { Paper, ProjectUpdate, Rrd } from "../../../src/research/generated/rrd.js";
import { matchFeaturesOf } from "../../../src/research/papers/dedup/match-features.js";
import type { PaperRecord } from "../../../src/research/papers/paper-record.js";
import { type UpdateSources, findChanges } from "../../../src/research/update/new-and-changed.js";

const update: ProjectUpdate = { id: "update-1", since: "2026-10-01", until: "2026-11-20", at: "2026-11-20T10:00:00Z" };
const printed: PaperRecord = {
  id: "doi_10.5555_inv.99",
  title: "Holding Sponges",
  url: "https://doi.org/10.5555/inv.99",
  pdf_url: null,
  authors: ["Ada Author"],
  date: "2025-06-25",
  source: "Crossref",
  abstract: null,
  kind: "published",
  venue: "Journal of Invented Robotics",
  identifiers: { doi: "10.5555/inv.99" },
};

/** What an update says of a paper of which a service knows the printed record. */
async function cameOf(over: Partial<Paper>) {
  const paper: Paper = {
    id: "p1",
    title: "Holding Sponges",
    url: "https://example.org/p1",
    status: "presented",
    date: "2024-02-01",
    decision: "PRESENT",
    text_sha256: "0".repeat(64),
    read_depth: "full",
    ...over,
  };
  const rrd = { requirements: { sources: [] }, papers_pool: [paper], updates: [update] } as unknown as Rrd;
  const fetched: Paper[] = [];
  const check = { at: update.at, updates: [], checked_by: ["Crossref"], unchecked: [], published: printed };
  const outside = {
    sources: { serves: () => false, services: () => [], candidates: async () => [], substitution: () => undefined },
    searchRecord: () => undefined,
    updates: async () => new Map([["p1", check]]),
    currentText: async (each: Paper) => void fetched.push(each),
    readText: async () => undefined,
  } as unknown as UpdateSources;
  return { came: await findChanges({ rrd, ledger: [] }, update, outside), paper, fetched };
}

it("a preprint that was printed long ago is news as long as its record lacks the DOI", async () => {
  const { came, paper, fetched } = await cameOf({ identifiers: { doi: "10.1101/2024.02.01.123456" } });
  expect(came.changed).toMatchObject([
    { id: "p1", says: "published in Journal of Invented Robotics as 10.5555/inv.99", comparison: "unknown" },
  ]);
  const after = { ...paper, ...came.changed[0]?.set };
  expect(after).toMatchObject({ date: "2025-06-25", identifiers: { doi: "10.5555/inv.99" } });
  // The preprint's own record is still known to be this work.
  expect(matchFeaturesOf(after).keys).toContain("doi 10.1101/2024.02.01.123456");
  expect(fetched[0]).toMatchObject({ id: "doi_10.5555_inv.99", url: printed.url });
});

it("a paper that is no preprint is not said to be published because its record has no DOI", async () => {
  for (const over of [{ identifiers: { pmid: "123" } }, { url: "file:///papers/sponges.pdf" }])
    expect((await cameOf(over)).came.changed).toEqual([]);
});
