import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { PaperRecord } from "../../../src/research/papers/paper-record.js";
import { candidatesOf } from "../../../src/research/search/candidates.js";
import type { Listing } from "../../../src/research/search/result-list.js";
import { readSearchRecord, type SearchRecord, writeSearchRecord } from "../../../src/research/search/search-record.js";

const record = (id: string, source: string): PaperRecord => ({
  id,
  title: "Grasping soft objects by touch and sight alone",
  url: `https://example.org/${id}`,
  pdf_url: null,
  authors: ["Ada Sample"],
  date: "2026-01-01",
  source,
  abstract: null,
  identifiers: {},
});
const listing = (source: string, id: string): Listing => ({
  step: 0,
  source,
  asked: "grasping",
  status: "ok",
  records: [record(id, source)],
});
const searchWith = (listings: readonly Listing[]): SearchRecord => ({
  search: "grasping",
  day: "2026-03-01",
  steps: [],
  listings,
});

test("what is kept of a search is read once while its file is the same, and anew once it is another", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rr-search-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const read = async (name: string) => {
    const kept = await readSearchRecord(join(folder, name), "grasping");
    if (kept === undefined || kept === "broken") throw new Error("nothing was kept");
    return kept.listings;
  };
  await writeSearchRecord(join(folder, "one"), searchWith([listing("arXiv", "a")]));
  await writeSearchRecord(join(folder, "other"), searchWith([listing("arXiv", "b")]));
  const first = await read("one");
  expect(await read("one")).toBe(first);
  expect(await readSearchRecord(join(folder, "one"), "another search")).toBeUndefined();
  expect((await read("other"))[0]?.records[0]?.id).toBe("b");
  await writeSearchRecord(join(folder, "one"), searchWith([listing("arXiv", "c")]));
  expect((await read("one"))[0]?.records[0]?.id).toBe("c");
});

test("the works of one list of answers are put together once, and anew when a person says that two are apart", () => {
  const listings = [listing("arXiv", "a"), listing("Crossref", "b")];
  const works = candidatesOf(listings, []);
  expect(works.works).toHaveLength(1);
  expect(candidatesOf(listings, [])).toBe(works);
  expect(candidatesOf(structuredClone(listings), [])).toEqual(works);
  expect(candidatesOf(listings, [["a", "b"]]).works).toHaveLength(2);
  expect(candidatesOf(listings, []).works).toHaveLength(1);
});
