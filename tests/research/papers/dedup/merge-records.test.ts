import fc from "../../../support/runner/fast-check.js";
import { describe, expect, it } from "vitest";
import { mergeRecords } from "../../../../src/research/papers/dedup/merge-records.js";
import type { PaperRecord } from "../../../../src/research/papers/paper-record.js";

const record = (id: string, source: string, more: Partial<PaperRecord> = {}): PaperRecord => ({
  id,
  title: "Learning Dexterous Manipulation from Touch",
  url: `https://example.org/${id}`,
  pdf_url: null,
  authors: ["Ada Sample", "Bo Other"],
  date: "2024",
  source,
  abstract: null,
  identifiers: {},
  ...more,
});

const preprint = record("arxiv_2401.12345", "arXiv", {
  identifiers: { arxiv: "2401.12345v2" },
  date: "2024-01-20",
  pdf_url: "https://arxiv.org/pdf/2401.12345v2",
  abstract: "We learn from touch.",
  kind: "preprint",
});
const article = record("doi_10.1000_xyz", "Crossref", {
  identifiers: { doi: "10.1000/xyz" },
  title: "Learning dexterous manipulation from touch",
  authors: ["Ada Sample", "Bo Other", "Cy Third"],
  date: "2025-02-01",
  venue: "Journal of Touch",
  kind: "published",
  citations: { count: 3, source: "Crossref" },
});
const both = record("openalex_W1", "OpenAlex", {
  identifiers: { openalex: "W1", doi: "10.1000/xyz", arxiv: "2401.12345" },
  citations: { count: 7, source: "OpenAlex" },
  retracted: true,
});

describe("mergeRecords", () => {
  it("makes one record of a preprint, its published version and what joins them, and keeps all three", () => {
    const { works, merges } = mergeRecords([article, preprint, both], []);
    expect(works).toHaveLength(1);
    expect(works[0]?.record).toMatchObject({
      id: "arxiv_2401.12345",
      title: "Learning dexterous manipulation from touch",
      pdf_url: "https://arxiv.org/pdf/2401.12345v2",
      authors: ["Ada Sample", "Bo Other", "Cy Third"],
      date: "2025-02-01",
      venue: "Journal of Touch",
      abstract: "We learn from touch.",
      citations: { count: 7, source: "OpenAlex" },
      identifiers: { doi: "10.1000/xyz", openalex: "W1" },
      retracted: true,
    });
    expect(works[0]?.mergedFrom.map(({ source }) => source).toSorted()).toEqual(["Crossref", "OpenAlex", "arXiv"]);
    expect(merges.map(({ into, from, source, why }) => [into, from, source, why])).toEqual([
      ["arxiv_2401.12345", "openalex_W1", "OpenAlex", "the same doi 10.1000/xyz"],
      ["arxiv_2401.12345", "doi_10.1000_xyz", "Crossref", "the same doi 10.1000/xyz"],
    ]);
  });

  it("keeps a preprint's DOI as another version of the published work", () => {
    const early = record("doi_10.1101_1", "Europe PMC", {
      identifiers: { doi: "10.1101/2024.01.02.123456" },
      kind: "preprint",
    });
    expect(mergeRecords([early, { ...article, date: "2024" }], []).works[0]?.record).toMatchObject({
      identifiers: { doi: "10.1000/xyz" },
      otherVersions: [{ relation: "preprint", doi: "10.1101/2024.01.02.123456" }],
      kind: "published",
    });
  });

  it("takes the date, like the journal and the DOI, from the article, and not from its preprint", () => {
    const early = record("doi_10.1101_1", "bioRxiv", {
      identifiers: { doi: "10.1101/2023.10.30.123456" },
      date: "2023-10-30",
      kind: "preprint",
    });
    const dateOf = (...records: readonly PaperRecord[]) =>
      mergeRecords(records, []).works.map((work) => work.record.date);
    expect(dateOf(early, article)).toEqual(["2025-02-01"]);
    // Another source knows the day.
    expect(dateOf(early, { ...article, date: "2025" }, { ...article, source: "PubMed" })).toEqual(["2025-02-01"]);
    // A record of both has the date of the preprint.
    expect(dateOf({ ...both, venue: "Journal of Touch", kind: "published" }, preprint, article)).toEqual([
      "2025-02-01",
    ]);
    // The issue counts, and not the day on which the article was online.
    const issue = { ...article, source: "PubMed", volume: "3", date: "2025-06" };
    expect(dateOf({ ...article, date: "2024-12-30" }, issue)).toEqual(["2025-06"]);
    // Nobody knows the article's date.
    expect(dateOf(early, { ...article, date: null })).toEqual([null]);
    expect(dateOf(early, preprint)).toEqual(["2023-10-30"]);
  });

  it("does not join two works through a third record that looks like both", () => {
    const meeting = {
      ...article,
      id: "doi_10.1000_conf",
      identifiers: { doi: "10.1000/conf" },
      date: "2024",
      venue: "Conference on Touch",
    };
    const { works } = mergeRecords([record("s2_1", "Semantic Scholar"), { ...article, date: "2024" }, meeting], []);
    expect(works.map(({ mergedFrom }) => mergedFrom.length).toSorted()).toEqual([1, 2]);
    expect(new Set(works.map((work) => work.record.identifiers.doi))).toEqual(new Set(["10.1000/xyz", "10.1000/conf"]));
  });

  it("gives two works that carry one DOI by mistake ids of their own", () => {
    const other = { ...article, title: "A history of lighthouses", authors: ["Di Fourth"], date: "1999" };
    const ids = mergeRecords([article, other], []).works.map((work) => work.record.id);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(2);
    expect(ids[0]).toBe("doi_10.1000_xyz");
  });

  it("is undone by saying that two records are two works", () => {
    const { works, merges } = mergeRecords([preprint, article], [["arxiv_2401.12345", "doi_10.1000_xyz"]]);
    expect(works).toHaveLength(2);
    expect(merges).toEqual([]);
    expect(mergeRecords([preprint, article], []).works[0]?.mergedFrom).toEqual([preprint, article]);
  });

  it("gives the same works in whatever order the records come", () => {
    const others = ["Grasping", "Walking", "Seeing"].flatMap((what, index) => [
      record(`doi_10.1000_${index}`, "Crossref", {
        title: `${what} with soft robots in the field`,
        identifiers: { doi: `10.1000/${index}` },
      }),
      record(`s2_${index}`, "Semantic Scholar", { title: `${what} with Soft Robots in the Field` }),
    ]);
    const all = [preprint, article, both, ...others];
    const works = (records: readonly PaperRecord[]) =>
      mergeRecords(records, [])
        .works.map((work) => JSON.stringify(work.record))
        .toSorted();
    fc.assert(
      fc.property(fc.shuffledSubarray(all, { minLength: all.length }), (shuffled) => {
        expect(works(shuffled)).toEqual(works(all));
      }),
      { numRuns: 30 },
    );
  });

  it("loses no record and doubles none", () => {
    const some = fc.record({
      title: fc.constantFrom(
        "Editorial",
        "Soft robots that grasp in the field",
        "Soft robots that grasp in a field",
        "UNKNOWN",
        "Touch",
      ),
      doi: fc.constantFrom(undefined, "10.1000/a", "10.1000/b", "10.1101/2024.01.02.123456"),
      arxiv: fc.constantFrom(undefined, "2401.00001", "2401.00001v2", "2401.00002"),
      author: fc.constantFrom("Ada Sample", "Sample, A.", "Bo Other", ""),
      date: fc.constantFrom("2023", "2024-01-01", null),
    });
    fc.assert(
      fc.property(fc.array(some, { maxLength: 12 }), (written) => {
        const records = written.map(({ title, doi, arxiv, author, date }, index) =>
          record(`r${index}`, "x", {
            title,
            authors: author === "" ? [] : [author],
            date,
            identifiers: { ...(doi === undefined ? {} : { doi }), ...(arxiv === undefined ? {} : { arxiv }) },
          }),
        );
        const { works: merged, merges } = mergeRecords(records, []);
        expect(merged.flatMap(({ mergedFrom }) => mergedFrom.map(({ id }) => id)).toSorted()).toEqual(
          records.map(({ id }) => id).toSorted(),
        );
        expect(merges).toHaveLength(records.length - merged.length);
        expect(merges.every(({ why }) => why !== "")).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});
