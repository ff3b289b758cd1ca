import { describe, expect, it } from "vitest";
import { matchFeaturesOf } from "../../../../src/research/papers/dedup/match-features.js";
import { mergeRecords } from "../../../../src/research/papers/dedup/merge-records.js";
import { isSameUpdate } from "../../../../src/research/papers/dedup/companions.js";
import { type PaperRecord, sourcesOf } from "../../../../src/research/papers/paper-record.js";

const title = "Slow release insulin after kidney transplantation in adults with chronic infection";
const record = (id: string, more: Partial<PaperRecord> = {}): PaperRecord => ({
  id,
  title,
  url: `https://records.test/${id}`,
  pdf_url: null,
  authors: ["Moreau, L.", "Okafor, C.", "Brandt, J.", "Sato, Y."],
  date: "2011",
  source: "Medline",
  abstract: null,
  identifiers: {},
  venue: "Journal of Transplant Medicine",
  volume: "36",
  issue: "5",
  pages: "542-549",
  ...more,
});
const works = (...records: readonly PaperRecord[]) =>
  [records, records.toReversed()].map((each) =>
    mergeRecords(each, [])
      .works.map(({ mergedFrom }) =>
        mergedFrom
          .map(({ id }) => id)
          .toSorted()
          .join("+"),
      )
      .toSorted(),
  );
const both = (...ids: readonly string[]) => [ids, ids];

describe("companion reports", () => {
  const article = record("article", {
    title: `${title}.[Erratum appears in J Transplant Med. 2011 Sep 4;36(9):987 Note: Sato, Y. [added]]`,
  });
  const place = { issue: "9", pages: "987-987" };

  it("a correction goes with the article whose record names its place, and is noted as an update of it", () => {
    const correction = record("correction", {
      ...place,
      title: `Erratum: ${title} (Journal of Transplant Medicine (2011) 36 (542-549))`,
      authors: ["Sato, Y."],
      kind: "notice",
      date: "2011-09-04",
      identifiers: { doi: "10.1000/correction" },
    });
    const { works: found, merges } = mergeRecords([correction, article], []);
    expect(found.map(({ record: one }) => one)).toMatchObject([
      {
        id: "article",
        title: article.title,
        authors: article.authors,
        date: "2011",
        updates: [
          { type: "correction", date: "2011-09-04", source: "a search of Medline", notice: "10.1000/correction" },
        ],
      },
    ]);
    expect(found[0]?.record.identifiers).toEqual({});
    expect(merges).toEqual([
      {
        into: "article",
        from: "correction",
        source: "Medline",
        why: "a correction of it, which its own record names",
        companion: "correction",
      },
    ]);
  });

  it("a correction under the article's own title goes with it too, with all records of both", () => {
    const correction = record("correction", place);
    const again = record("again", { ...place, pages: "987", source: "Embase" });
    const other = record("other", { source: "Embase" });
    expect(works(article, correction, again, other)).toEqual(both("again+article+correction+other"));
  });

  it("a second correction goes with it where the database cut its title within the note of that one", () => {
    const cut = record("cut", { title: `${article.title}.[Erratum` });
    const second = record("second", { issue: "11", pages: "1244-1244" });
    expect(works(cut, second)).toEqual(both("cut+second"));
    expect(works(article, second)).toEqual(both("article", "second"));
    expect(works(cut, { ...second, pages: "1244-1251" })).toEqual(both("cut", "second"));
    expect(works(cut, { ...second, volume: "38" })).toEqual(both("cut", "second"));
  });

  it("a correction goes with the article whose record names its DOI", () => {
    const named = record("named", {
      kind: "published",
      identifiers: { doi: "10.1000/article" },
      updates: [{ type: "correction", source: "Crossref", notice: "10.1000/Correction" }],
    });
    const correction = record("correction", {
      title: `Correction to: ${title}`,
      kind: "notice",
      volume: "37",
      identifiers: { doi: "10.1000/correction" },
    });
    expect(works(named, correction)).toEqual(both("correction+named"));
    const [work] = mergeRecords([named, correction], []).works;
    expect(work?.record).toMatchObject({ identifiers: { doi: "10.1000/article" }, kind: "published" });
    expect(work?.record.updates).toHaveLength(1);
  });

  it("a correction that the article's record does not name stays a notice, whatever it says itself", () => {
    const silent = record("silent");
    const correction = record("correction", { ...place, title: `${title} (vol 36, pg 542, 2011)` });
    expect(works(silent, correction)).toEqual(both("correction", "silent"));
    const elsewhere = record("elsewhere", { ...place, volume: "37", title: `Erratum: ${title}` });
    expect(works(article, elsewhere)).toEqual(both("article", "elsewhere"));
  });

  it("an abstract goes with the article that its authors published later in the same volume", () => {
    const full = record("full", { issue: "12", pages: "2129-2135" });
    const abstract = record("abstract", { pages: "1514-1514", authors: full.authors.slice(0, 3) });
    expect(works(full, abstract)).toEqual(both("abstract+full"));
    expect(mergeRecords([abstract, full], []).works[0]?.record).toMatchObject({ id: "full", pages: "2129-2135" });
  });

  it.each<[string, Partial<PaperRecord>]>([
    ["behind the article, where a correction stands", { issue: "12", pages: "2647-2647" }],
    ["in another volume", { volume: "35" }],
    ["in another journal", { venue: "Transplantation Letters" }],
    ["of other authors", { authors: ["Lind, A.", "Berg, B.", "Voss, C."] }],
    ["of another year", { date: "2010" }],
    ["under a title that says little", { title: "Annual report" }],
  ])("a page %s stays a work of its own", (_, more) => {
    const full = record("full", { issue: "9", pages: "2129-2135", title: more.title ?? title });
    const page = record("page", { pages: "1514-1514", ...more });
    expect(works(full, page)).toEqual(both("full", "page"));
  });

  it("a reply goes with the record that holds the whole exchange of letters", () => {
    const exchange = record("exchange", {
      title: `${title} (multiple letters) [1]`,
      authors: ["Lind, A.", "Berg, B.", "Voss, C.", "Shaw, A. B.", "Palm, A. L."],
      pages: "943-945",
    });
    const letter = record("letter", { authors: ["Lind, A.", "Berg, B.", "Voss, C."], pages: "943-944" });
    const reply = record("reply", { title: `${title} - Reply`, authors: ["Shaw, A. B.", "Palm, A. L."], pages: "945" });
    expect(works(exchange, letter, reply)).toEqual(both("exchange+letter+reply"));
    expect(works(letter, reply)).toEqual(both("letter", "reply"));
    expect(works(exchange, { ...reply, pages: "1201" })).toEqual(both("exchange", "reply"));
  });

  it("is no title that only begins like one", () => {
    const erratic = matchFeaturesOf(
      record("erratic", { title: "Erratic release of insulin after kidney transplantation" }),
    );
    expect(erratic).toMatchObject({ isNotice: false, title: { isCorrection: false } });
    const erratum = matchFeaturesOf(
      record("erratum", { title: "Erratum: Release of insulin after kidney transplantation" }),
    );
    expect(erratum).toMatchObject({ isNotice: true, title: { isCorrection: true } });
  });

  it("lends the article no source that lists the correction alone", () => {
    const correction = record("correction", { ...place, source: "Crossref" });
    const [work] = mergeRecords([article, correction], []).works;
    expect(work?.mergedFrom.map(({ source }) => source)).toEqual(["Medline", "Crossref"]);
    expect(work === undefined ? [] : sourcesOf(work)).toEqual(["Medline"]);
  });

  it("is the same correction under one day or one notice, and no other", () => {
    const one = { type: "correction", date: "2026-01-02", notice: "10.1000/a" };
    expect(isSameUpdate(one, { type: "correction", date: "2026-01-02" })).toBe(true);
    expect(isSameUpdate(one, { type: "correction", notice: "10.1000/A" })).toBe(true);
    expect(isSameUpdate(one, { ...one, type: "concern" })).toBe(false);
    const undated = { type: "correction", notice: "10.1000/a" };
    expect(isSameUpdate(undated, { ...undated, notice: "10.1000/b" })).toBe(false);
    const version = { type: "version", date: "2026-01-02", notice: "https://arxiv.org/abs/2601.00001" };
    expect(isSameUpdate(version, { ...version, date: "2026-02-02" })).toBe(false);
  });

  it("stays apart where a person says so", () => {
    const correction = record("correction", place);
    const { works: found, merges } = mergeRecords([article, correction], [["correction", "article"]]);
    expect([found.length, merges]).toEqual([2, []]);
  });
});
