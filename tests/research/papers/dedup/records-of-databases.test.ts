import { expect, test } from "vitest";
import { mergeRecords } from "../../../../src/research/papers/dedup/merge-records.js";
import type { PaperRecord } from "../../../../src/research/papers/paper-record.js";

const record = (id: string, over: Partial<PaperRecord>): PaperRecord => ({
  id,
  title: "",
  url: `https://example.org/${id}`,
  pdf_url: null,
  authors: ["Sample, Ann"],
  date: "2014",
  source: "Embase",
  abstract: null,
  identifiers: {},
  ...over,
});
const worksOf = (...records: readonly PaperRecord[]): number => mergeRecords(records, []).works.length;

test("sister abstracts under the DOI of their supplement stay apart", () => {
  const supplement = { identifiers: { doi: "10.1000/supplement.28" }, venue: "Annals of Shrews", volume: "28" };
  const one = record("a", { ...supplement, title: "Zinc in the diet of shrews: a phase II trial", pages: "S12" });
  const two = record("b", { ...supplement, title: "Iron deficiency of moles after winter: a cohort", pages: "S97" });
  expect(worksOf(one, two)).toBe(2);
});

test("a title without its subtitle is one work where the place is the same", () => {
  const place = { venue: "Journal of Shrews", volume: "12", issue: "3", pages: "101-109" };
  const whole = record("a", { ...place, title: "Water and sleep of shrews in winter: a randomised controlled trial" });
  const short = record("b", { ...place, title: "Water and sleep of shrews in winter", source: "PubMed" });
  expect(worksOf(whole, short)).toBe(1);
});

test("a thesis and the article made of it are two works", () => {
  const title = "Water and sleep of shrews in the dry season of the north";
  const thesis = record("a", {
    title,
    publicationType: "dissertation",
    publication: { publisher: "University of Shrews" },
    date: "2013",
    pages: "212",
  });
  const article = record("b", {
    title,
    publicationType: "journal-article",
    venue: "Journal of Shrews",
    volume: "12",
    pages: "101-109",
    identifiers: { doi: "10.1000/shrews.1" },
  });
  expect(worksOf(thesis, article)).toBe(2);
});

test.each(["Editorial", "Introduction", "Letter to the editor", "Conclusion"])("'%s' alone merges nothing", (title) => {
  const bare = ["a", "b", "c"].map((id, at) => record(id, { title, authors: [`Sample${at}, Ann`] }));
  expect(worksOf(...bare)).toBe(3);
  expect(worksOf(record("a", { title, authors: [] }), record("b", { title, authors: [], date: null }))).toBe(2);
});
