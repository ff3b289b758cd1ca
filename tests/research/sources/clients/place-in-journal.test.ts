import { expect, it } from "vitest";
import { readWork as readCrossref } from "../../../../src/research/sources/clients/crossref.js";
import { readWork as readOpenAlex } from "../../../../src/research/sources/clients/openalex.js";
import { mergeRecords } from "../../../../src/research/papers/dedup/merge-records.js";
import { paperRecord } from "../../../../src/research/papers/identifiers.js";

const crossref = { DOI: "10.1000/x", title: ["On hands"], type: "journal-article", "container-title": ["Hands"] };
const openAlex = {
  id: "https://openalex.org/W1",
  doi: "https://doi.org/10.1000/x",
  title: "On hands",
  type: "article",
};
const place = (record: ReturnType<typeof readCrossref>) => ({
  volume: record?.volume,
  issue: record?.issue,
  pages: record?.pages,
});

it("volume, issue and pages come from Crossref and OpenAlex, an article's number in place of pages", () => {
  expect(place(readCrossref({ ...crossref, volume: "12", issue: "3", page: "145-160" }))).toEqual({
    volume: "12",
    issue: "3",
    pages: "145-160",
  });
  expect(place(readCrossref({ ...crossref, volume: "12", "article-number": "e1002" }))).toMatchObject({
    volume: "12",
    pages: "e1002",
  });
  const biblio = { volume: "12", issue: "3", first_page: "145", last_page: "160" };
  expect(place(readOpenAlex({ ...openAlex, biblio }))).toEqual({ volume: "12", issue: "3", pages: "145-160" });
  expect(place(readOpenAlex({ ...openAlex, biblio: { first_page: "e1002", last_page: "e1002" } }))).toMatchObject({
    pages: "e1002",
  });
});

it("what is no such thing is left out, as the fields tell works apart", () => {
  const parts = { source: "One", title: "On hands", identifiers: { doi: "10.1000/x" } };
  for (const wrong of ["", " ", "-", "abs/2401.00010", "n/a", {}, [], null, true, "9".repeat(80)])
    expect(place(paperRecord({ ...parts, volume: wrong, issue: wrong, pages: wrong }))).toEqual({});
  expect(place(paperRecord({ ...parts, volume: 12 }))).toEqual({ volume: "12" });
});

it("a work put together of several records has the place that one of them knows", () => {
  const records = [readCrossref({ ...crossref, volume: "12", page: "145-160" }), readOpenAlex(openAlex)].flatMap(
    (record) => record ?? [],
  );
  const merged = mergeRecords(records, []).works;
  expect(merged.map(({ record }) => [record.volume, record.pages])).toEqual([["12", "145-160"]]);
});
