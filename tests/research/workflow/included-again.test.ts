import { expect, test } from "vitest";
import { flowCounts } from "../../../src/research/derived/flow-counts.js";
import { searchKey } from "../../../src/research/derived/status.js";
import { withOverride, withOverrides } from "../../../src/research/derived/overrides.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import type { PaperRecord } from "../../../src/research/papers/paper-record.js";
import { searchFile } from "../../../src/research/project-files/layout.js";
import { commitSearch } from "../../../src/research/search/committed-search.js";
import { makeCompleter } from "../../../src/research/workflow/steering/kept-search.js";
import { paper, rrdWith, temporaryFolder } from "../../support/projects/research.js";
import { wanting, libraryOf } from "../../support/projects/searched-library.js";
import { nextBatch } from "../../../src/research/units/screening/screening-batch.js";

const record: PaperRecord = {
  id: "doi_10.5555_x",
  title: "On hands",
  url: "https://doi.org/10.5555/x",
  pdf_url: null,
  source: "OpenAlex",
  authors: ["Ada Author", "Bob Builder"],
  date: "2025-03-01",
  abstract: "We measured hands.",
  venue: "Hands",
  identifiers: { doi: "10.5555/x" },
};
const identified = { OpenAlex: 2 };
const project: Rrd = rrdWith([paper("p1", { source: "OpenAlex", found: { sources: ["OpenAlex"], why: "" } })], {
  excluded: [{ id: record.id, title: record.title, reason: "about feet", stage: "screened", source: "OpenAlex" }],
  statistics: { discovery_metrics: { flow: { identified, duplicates_removed: 0, not_screened: 0 } } },
});
const include = { decision: "include", why: "It is about hands." } as const;

test("a screened-out record that a person includes keeps all that the search knows of it, and its place", async () => {
  const folder = temporaryFolder();
  const step = { kind: "search" as const, sources: ["OpenAlex"], queries: ["hands"] };
  const listing = { step: 0, source: "OpenAlex", asked: "hands", status: "ok", records: [record] };
  await commitSearch(searchFile(folder), {
    search: searchKey(project),
    day: "2026-01-01",
    steps: [step] as never,
    listings: [listing] as never,
  });
  const complete = await makeCompleter(folder, project, new Set([record.id]));
  const after = withOverrides(withOverride(complete(project), record.id, include));
  expect(after.excluded).toEqual([]);
  expect(after.papers_pool.at(-1)).toMatchObject({
    authors: record.authors,
    date: record.date,
    abstract: record.abstract,
    venue: "Hands",
    source: "OpenAlex",
    status: "pending",
    found: { sources: ["OpenAlex"] },
  });
  const [before, now] = [flowCounts(project).searched, flowCounts(after).searched];
  expect([before.screened, before.sought, now.screened, now.sought]).toEqual([2, 1, 2, 2]);
  expect(now.identified).toEqual(new Map([["OpenAlex", 2]]));
});

test("without the search it comes back as it was kept, and counts in the same place", () => {
  const after = withOverrides(withOverride(project, record.id, include));
  expect(after.papers_pool.at(-1)).toMatchObject({ title: "On hands", source: "OpenAlex" });
  expect(flowCounts(after).other.sought).toBe(0);
});

test("dates bind the documents of folders too", async () => {
  const documents = ["1999-01-01", "2026-01-01", ""].map((date, index) => ({
    ...record,
    id: `d${index}`,
    title: `Subject ${index}`,
    url: `file:///p/${index}.pdf`,
    identifiers: {},
    authors: [`Author ${index}`],
    date,
    source: "folder:papers",
  }));
  const plain = wanting(["folder:papers"], 5);
  const rrd = { ...plain, requirements: { ...plain.requirements, published_from: "2020" } };
  const { candidates, listed } = await nextBatch(rrd, libraryOf(documents, {}));
  expect(candidates.map(({ id }) => id)).toEqual(["d1", "d2"]);
  expect(listed?.excluded).toMatchObject([
    { id: "d0", stage: "window", reason: "of 1999-01-01, outside 2020 to today" },
  ]);
});
