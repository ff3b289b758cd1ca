import { describe, expect, it } from "vitest";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import type { Paper, ProjectUpdate, Rrd } from "../../../src/research/generated/rrd.js";
import type { UpdateCheck } from "../../../src/research/paper-lookups/kept-retraction-checks.js";
import type { PaperRecord } from "../../../src/research/papers/paper-record.js";
import { newUpdate, withFindings, openingFold } from "../../../src/research/update/opening.js";
import { hasFindings, type UpdateSources, findChanges } from "../../../src/research/update/new-and-changed.js";
import { buildText, type DocumentText } from "../../../src/text/documents/text/document-text.js";
import { temporaryFolder } from "../../support/projects/research.js";
import { checkedFields } from "../../../src/research/units/retractions.js";

const title = "Slow release of alpha matter after transplantation in adults with infection";
const listed = (id: string, more: Partial<PaperRecord>): PaperRecord => ({
  id,
  title,
  url: `https://example.org/${id}`,
  pdf_url: null,
  authors: ["Ada Sample", "Bo Other"],
  date: "2026-01-01",
  source: "Crossref",
  abstract: null,
  identifiers: {},
  venue: "Journal of Matter",
  volume: "36",
  issue: "5",
  pages: "542-549",
  ...more,
});
const article = listed("article", { title: `${title}.[Erratum appears in J Matter. 2026 Nov 4;36(9):987]` });
const correction = listed("correction", {
  title: `Erratum: ${title}`,
  kind: "notice",
  issue: "9",
  pages: "987",
  date: "2026-11-04",
  identifiers: { doi: "10.1000/correction" },
});
const noted = {
  type: "correction" as const,
  date: "2026-11-04",
  source: "a search of Crossref",
  notice: "10.1000/correction",
};
const read = { iteration: 3, at: "2026-03-01T10:00:00Z", unit: "article", phase: "ANALYSIS", outcome: "accepted" };

/** What an update says of a paper that was read and whose correction its window brought. */
async function cameOf(
  over: Partial<Paper> = {},
  updates: UpdateCheck["updates"] = [],
  found = correction,
  currentText?: DocumentText,
) {
  const paper: Paper = {
    id: "article",
    title,
    url: "https://example.org/article",
    status: "presented",
    decision: "PRESENT",
    date: "2026-01-01",
    text_sha256: "0".repeat(64),
    read_depth: "full",
    iteration: 3,
    ...over,
  };
  const before = { requirements: { sources: [] }, papers_pool: [paper] } as unknown as Rrd;
  const ledger = [read] as unknown as LedgerLine[];
  const window = { since: "2026-10-01", until: "2026-11-20", sources: {} };
  const now = Date.parse("2026-11-20T10:00:00Z");
  const update: ProjectUpdate = newUpdate({ rrd: before, ledger }, window, now);
  const first = { kind: "search", queries: [], sources: ["Crossref"] };
  const check = { at: update.at, updates, checked_by: ["Crossref"], unchecked: [] };
  const outside = {
    sources: { serves: () => false, services: () => [], candidates: async () => [], substitution: () => undefined },
    searchRecord: () => ({
      search: "",
      day: "2026-02-01",
      steps: [first, { ...first, update: update.id }],
      listings: [
        { step: 0, source: "Crossref", asked: "a", status: "ok", records: [article] },
        { step: 1, source: "Crossref", asked: "a", status: "ok", records: [found] },
      ],
    }),
    updates: async () => new Map([["article", check]]),
    currentText: async () => currentText,
    readText: async () => undefined,
  } as unknown as UpdateSources;
  const rrd = { ...before, updates: [update] };
  const came = await findChanges({ rrd, ledger }, update, outside);
  const opened = withFindings(before, update, came, []);
  return { before, came, check, opened, fold: openingFold(before, opened, came, []) };
}

describe("a correction that an update finds of a paper that was read", () => {
  it("is a change of the paper, noted in its updates", async () => {
    const { came, opened, fold } = await cameOf();
    expect(hasFindings(came)).toBe(true);
    expect(came.changed).toMatchObject([
      { id: "article", says: "a correction of 2026-11-04", comparison: "unknown", corrections: [noted] },
    ]);
    expect(opened.papers_pool[0]?.updates).toEqual([noted]);
    expect(fold.changes).toContainEqual(expect.objectContaining({ id: "article", set: { updates: [noted] } }));
    expect(opened.updates?.at(-1)?.changed).toMatchObject([{ id: "article", says: "a correction of 2026-11-04" }]);
  });

  it("is news once, also where a service told of it with another day", async () => {
    expect((await cameOf({ updates: [noted] })).came.changed).toEqual([]);
    const told = { type: "correction" as const, date: "2026-11-05", source: "Crossref", notice: "10.1000/Correction" };
    expect((await cameOf({ updates: [told] })).came.changed).toEqual([]);
    expect((await cameOf({ updates: [noted] }, [told])).came.changed).toEqual([]);
    const { came, opened } = await cameOf({}, [told]);
    expect(came.changed[0]?.says).toBe("a correction of 2026-11-05");
    expect(came.changed[0]?.corrections).toBeUndefined();
    expect(opened.papers_pool[0]?.updates).toEqual([told]);
  });

  it("says nothing where it came out before the paper was read, or its record is of another update", async () => {
    const early = { ...correction, date: "2026-02-01" };
    expect((await cameOf({}, [], early)).came.changed).toEqual([]);
    const other = { ...correction, pages: "12", issue: "1" };
    expect((await cameOf({}, [], other)).came.changed).toEqual([]);
  });

  it("stays noted when a service is asked that does not know of it", async () => {
    const { opened, check } = await cameOf();
    const [paper] = opened.papers_pool;
    if (paper === undefined) throw new Error("there is no paper");
    expect(checkedFields(paper, check).updates).toEqual([noted]);
    // What the service itself said before and takes back is gone.
    const taken = { type: "concern" as const, source: "Crossref" };
    expect(checkedFields({ ...paper, updates: [taken, noted] }, check).updates).toEqual([noted]);
  });
});

describe("the document of a paper that was read, on this machine", () => {
  const ownText = (text: string) => buildText([{ text }], { kind: "text", depth: "full" });
  const old = ownText("Shrews drank four millilitres of water a day.");
  const file = () => {
    const path = join(temporaryFolder(), "shrews.txt");
    writeFileSync(path, "as it is today");
    return { url: pathToFileURL(path).href, text_sha256: old.sha256, updates: [noted] };
  };

  it("is a change of the paper where its text is another one now", async () => {
    const { came } = await cameOf(file(), [], correction, ownText("Voles drank nine litres of wine."));
    expect(came.changed).toMatchObject([{ id: "article", says: "its document was changed", comparison: "another" }]);
  });

  it("is no change where it was only put there anew", async () => {
    expect((await cameOf(file(), [], correction, old)).came.changed).toEqual([]);
  });
});
