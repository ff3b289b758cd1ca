import { describe, expect, it } from "vitest";
import type { Paper } from "../../../../src/research/generated/rrd.js";
import type { PaperRecord } from "../../../../src/research/papers/paper-record.js";
import { withMissingFacts } from "../../../../src/research/papers/records/known-paper.js";

const paper = {
  id: "listed_1",
  title: "Learning Loss in the North",
  url: "",
  pdf_url: null,
  authors: ["Per Engström"],
  date: "2020-10-30",
  source: "list.ris",
  abstract: null,
  publication_type: "preprint",
  status: "pending",
} as unknown as Paper;

const article: PaperRecord = {
  id: "doi_10.5555_pnas.1",
  title: "Learning Loss in the North",
  url: "https://doi.org/10.5555/pnas.1",
  pdf_url: null,
  authors: ["Per Engström"],
  date: "2021-04-12",
  source: "Crossref",
  abstract: null,
  identifiers: { doi: "10.5555/pnas.1" },
  venue: "PNAS",
  volume: "118",
  kind: "published",
};

describe("withMissingFacts", () => {
  it("gives a preprint the date of its article with its journal and DOI", () => {
    const arxiv = { ...paper, id: "arxiv_2010.12345", url: "https://arxiv.org/abs/2010.12345", publication_type: "" };
    for (const preprint of [paper, arxiv])
      expect(withMissingFacts(preprint, article)).toMatchObject({
        id: preprint.id,
        venue: "PNAS",
        volume: "118",
        identifiers: { doi: "10.5555/pnas.1" },
        date: "2021-04-12",
      });
    expect(withMissingFacts(paper, { ...article, date: null }).date).toBe("2020-10-30");
  });

  it("keeps the date of an article if the record is its preprint, or the same article in another source", () => {
    const published = { ...paper, ...article, publication_type: "journal-article" } as unknown as Paper;
    const preprint: PaperRecord = { ...article, id: "x", identifiers: {}, date: "2020-10-30", kind: "preprint" };
    expect(withMissingFacts(published, preprint).date).toBe("2021-04-12");
    expect(withMissingFacts(published, { ...article, date: "2021-05" }).date).toBe("2021-04-12");
  });

  it("keeps the date of a preprint if nothing says that the record is its article", () => {
    const { venue: _, volume: __, kind: ___, ...bare } = article;
    const notes = { ...bare, id: "file_1", url: "file:///notes.md", identifiers: {}, date: "2024-01-09" };
    expect(withMissingFacts(paper, notes).date).toBe("2020-10-30");
  });
});
