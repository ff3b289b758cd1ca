import { describe, expect, it } from "vitest";
import { authorsOf, authorsText, isDocumentOf } from "../../../src/research/papers/authors.js";

const base = {
  title: "Learning Dexterous Manipulation from Touch",
  authors: ["Ada Sample", "Bo Other"],
  date: "2024-05-01",
  url: "https://example.org/a",
};

describe("isDocumentOf", () => {
  const text =
    "Journal of Hands 12 (2024)\nLearning Dexterous Manip-\nulation from Touch\nAda Sample and Bo Other\nAbstract. We study hands.";

  it("accepts the title in spite of line breaks, case and hyphenation, and a changed title with a known author", () => {
    expect(isDocumentOf(text, base)).toBe(true);
    expect(isDocumentOf(text, { title: "Hands That Feel", authors: ["Ada Sample"] })).toBe(true);
    expect(isDocumentOf(text, { title: null })).toBe(true);
  });

  it("refuses another paper", () => {
    expect(isDocumentOf(text, { title: "Graph neural networks for protein folding", authors: ["Cy Stranger"] })).toBe(
      false,
    );
    expect(isDocumentOf("干细胞研究综述", { title: "机器人灵巧操作研究" })).toBe(false);
    expect(isDocumentOf("机器人灵巧操作研究 摘要", { title: "机器人灵巧操作研究" })).toBe(true);
  });

  it("refuses a paper with nearly the same title that none of the authors wrote, where they are known", () => {
    const near = "Learning Dexterous Bimanual Manipulation from Touch";
    expect(isDocumentOf(text, { title: near, authors: ["Cy Stranger"] })).toBe(false);
    expect(isDocumentOf(text, { title: near, authors: ["Cy Stranger", "Bo Other"] })).toBe(true);
    expect(isDocumentOf(text, { title: near })).toBe(true);
    expect(isDocumentOf(text.replace("Ada Sample", "Ada M¨uller"), { title: near, authors: "Müller, Ada" })).toBe(true);
  });

  it("refuses another paper of the same author, and one that only cites the author further on", () => {
    expect(isDocumentOf(text, { title: "Graph neural networks for protein folding", authors: ["Ada Sample"] })).toBe(
      false,
    );
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

describe("authorsText", () => {
  it.each([
    [["Ann Lee"], "Ann Lee"],
    [["Ann Lee", "Ben Roe", "Cy Poe"], "Ann Lee, Ben Roe, Cy Poe"],
    [["Lee, Ann", "The Group", "Roe, Ben"], "Lee, Ann; The Group; Roe, Ben"],
    [["Lee, Ann", "Roe, Ben", "Poe, Cy", "Doe, Di"], "Lee, Ann; Roe, Ben and 2 others"],
  ])("of %j", (names, text) => expect(authorsText(names, 3)).toBe(text));
});
