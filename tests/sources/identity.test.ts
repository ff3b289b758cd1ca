import { describe, expect, it } from "vitest";
import { authorsOf, isDocumentOf, samePaper } from "../../src/sources/identity.js";
import { recorded } from "../fixtures/recorded.js";

const base = {
  title: "Learning Dexterous Manipulation from Touch",
  authors: ["Ada Sample", "Bo Other"],
  date: "2024-05-01",
  url: "https://example.org/a",
};

describe("samePaper", () => {
  it("knows a DOI and an arXiv id in whatever form and version", () => {
    expect(
      samePaper(
        { ...base, url: "https://doi.org/10.1000/ABC" },
        { ...base, title: "Dexterous Manipulation by Touch", url: null, identifiers: { doi: "10.1000/abc" } },
      ),
    ).toBe(true);
    expect(samePaper({ ...base, url: "https://arxiv.org/abs/2401.12345v1" }, { title: "Touch", pdf_url: "https://arxiv.org/pdf/2401.12345v3" })).toBe(
      true,
    );
    expect(
      samePaper(
        { ...base, url: "https://arxiv.org/abs/2401.12345" },
        { ...base, title: "Something else at all", url: "https://arxiv.org/abs/2401.12346" },
      ),
    ).toBe(false);
  });

  it("knows a preprint and its published version by title, first author and year", () => {
    const published = {
      ...base,
      title: "Learning dexterous manipulation from touch.",
      authors: "Sample, Ada and Other, Bo",
      date: "2025",
      url: "https://doi.org/10.1000/xyz",
    };
    expect(samePaper(base, published)).toBe(true);
    expect(samePaper(base, { ...published, authors: [] })).toBe(true);
    expect(samePaper(base, { ...published, authors: ["Cy Stranger"] })).toBe(false);
    expect(samePaper(base, { ...published, date: "2019" })).toBe(false);
  });

  it("does not take two works for one because their titles say next to nothing", () => {
    expect(samePaper({ title: "Book review" }, { title: "Book review" })).toBe(false);
  });

  const labelled = recorded("dedupe");
  it.skipIf(labelled === undefined)("finds every labelled duplicate and takes at most three of fifteen other pairs for one", () => {
    interface Record {
      title: string;
      author?: string;
      year?: string;
      doi?: string;
    }
    const { cases } = JSON.parse(labelled?.("bib-dedupe-test-cases.json") ?? "") as {
      cases: { id: string; record_a: Record; record_b: Record; expected_duplicate: boolean }[];
    };
    const asPaper = ({ title, author, year, doi }: Record) => ({
      title,
      authors: author,
      date: year,
      identifiers: doi === undefined ? undefined : { doi },
    });
    const said = cases.map((each) => ({ ...each, said: samePaper(asPaper(each.record_a), asPaper(each.record_b)) }));
    expect(said.filter((each) => each.expected_duplicate && !each.said).map((each) => each.id)).toEqual([]);
    // Same title and first author, told apart by the venue or a co-author alone, and a yearly introduction to a track.
    expect(said.filter((each) => !each.expected_duplicate && each.said).length).toBeLessThanOrEqual(3);
  });
});

describe("isDocumentOf", () => {
  const text = "Journal of Hands 12 (2024)\nLearning Dexterous Manip-\nulation from Touch\nAda Sample and Bo Other\nAbstract. We study hands.";

  it("accepts the title in spite of line breaks, case and hyphenation, and a changed title with a known author", () => {
    expect(isDocumentOf(text, base)).toBe(true);
    expect(isDocumentOf(text, { title: "Hands That Feel", authors: ["Ada Sample"] })).toBe(true);
    expect(isDocumentOf(text, { title: null })).toBe(true);
  });

  it("refuses another paper", () => {
    expect(isDocumentOf(text, { title: "Graph neural networks for protein folding", authors: ["Cy Stranger"] })).toBe(false);
    expect(isDocumentOf("干细胞研究综述", { title: "机器人灵巧操作研究" })).toBe(false);
    expect(isDocumentOf("机器人灵巧操作研究 摘要", { title: "机器人灵巧操作研究" })).toBe(true);
  });

  it("refuses another paper of the same author, and one that only cites the author further on", () => {
    expect(isDocumentOf(text, { title: "Graph neural networks for protein folding", authors: ["Ada Sample"] })).toBe(false);
    const citing = `Hands in theory\nCy Stranger\n${"We study theory. ".repeat(200)}\n[1] Ada Sample.`;
    expect(isDocumentOf(citing, { title: "Hands that feel", authors: ["Ada Sample"] })).toBe(false);
    expect(isDocumentOf(citing, { title: "Hands that feel", authors: ["Cy Stranger"] })).toBe(true);
  });
});

describe("authorsOf", () => {
  it.each([
    ["Paré, Guy; Smith, John", ["Paré, Guy", "Smith, John"]],
    ["A. Lee and B. Kim", ["A. Lee", "B. Kim"]],
    ["A. Lee, B. Kim, and C. Wu", ["A. Lee", "B. Kim", "C. Wu"]],
    ["Ada Sample, Bo Other", ["Ada Sample", "Bo Other"]],
    ["Sauer, Philipp C. and Van Slyke, Craig", ["Sauer, Philipp C.", "Van Slyke, Craig"]],
    ["Lee, A., Kim, B. & Wu, C.-D.", ["Lee, A.", "Kim, B.", "Wu, C.-D."]],
    ["Stahl, Bernd Carsten", ["Stahl, Bernd Carsten"]],
    ["A. Lee, B. Kim et al.", ["A. Lee", "B. Kim"]],
    ["", []],
  ])("reads '%s'", (written, names) => {
    expect(authorsOf(written)).toEqual(names);
  });

  it("leaves a list as it is, and takes nothing for none", () => {
    expect(authorsOf(["Lee, A."])).toEqual(["Lee, A."]);
    expect(authorsOf(null)).toEqual([]);
  });
});
