import { describe, expect, it } from "vitest";
import { authorsOf } from "../../../src/research/papers/authors.js";
import { mergeRecords } from "../../../src/research/papers/dedup/merge-records.js";
import type { PaperRecord, TitledPaper } from "../../../src/research/papers/paper-record.js";
import { samePaper } from "../../support/documents/same-paper.js";
import { otherPairs, samePairs } from "../../fixtures/pairs/labelled-pairs.js";
import { otherInDatabases, sameInDatabases } from "../../fixtures/pairs/database-pairs.js";
import { fourthOther, fourthSame } from "../../fixtures/pairs/fourth-labelled-pairs.js";
import { moreOther, moreSame } from "../../fixtures/pairs/more-labelled-pairs.js";
import { thirdOther, thirdSame } from "../../fixtures/pairs/third-labelled-pairs.js";

const given = <Value>(name: string, value: Value | null | undefined) => (value == null ? {} : { [name]: value });
const asRecord = (paper: TitledPaper, number: number): PaperRecord => ({
  id: `x_${number}`,
  title: paper.title,
  url: paper.url ?? `https://x.test/${number}`,
  pdf_url: null,
  authors: authorsOf(paper.authors),
  date: paper.date ?? null,
  source: `Source ${number}`,
  abstract: null,
  identifiers: paper.identifiers ?? {},
  ...given("kind", paper.kind),
  ...given("venue", paper.venue),
  ...given("volume", paper.volume),
  ...given("issue", paper.issue),
  ...given("pages", paper.pages),
});
const worksOf = (a: TitledPaper, b: TitledPaper) => mergeRecords([asRecord(a, 1), asRecord(b, 2)], []).works.length;

describe("pairs of records of which it is known whether they are one work", () => {
  it.each([...samePairs, ...moreSame, ...thirdSame, ...fourthSame, ...sameInDatabases])("are one: %s", (_, a, b) => {
    expect([samePaper(a, b), samePaper(b, a), worksOf(a, b)]).toEqual([true, true, 1]);
  });

  it("are hundreds in the forms of databases", () => {
    expect(sameInDatabases.length).toBeGreaterThanOrEqual(150);
    expect(otherInDatabases.length).toBeGreaterThanOrEqual(500);
  });

  it.each([...otherPairs, ...moreOther, ...thirdOther, ...fourthOther, ...otherInDatabases])(
    "are two: %s",
    (_, a, b) => {
      expect([samePaper(a, b), samePaper(b, a), worksOf(a, b)]).toEqual([false, false, 2]);
    },
  );
});
