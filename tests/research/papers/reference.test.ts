import { mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { paperId, parseReference } from "../../../src/research/papers/reference.js";

const idOf = (input: string) => {
  const reference = parseReference(input);
  return reference.kind === "unknown" ? reference.reason : paperId(reference);
};

describe("parseReference", () => {
  it.each([
    ["2401.12345", "2401.12345", undefined],
    ["2401.00010v2", "2401.00010", 2],
    ["arXiv:2401.12345", "2401.12345", undefined],
    ["cs/0112017", "cs/0112017", undefined],
    ["math.GT/0309136v1", "math.GT/0309136", 1],
    ["https://arxiv.org/abs/2401.12345v3", "2401.12345", 3],
    ["http://www.arxiv.org/pdf/2401.12345.pdf", "2401.12345", undefined],
    ["arxiv.org/html/2401.12345v1?x=1#S2", "2401.12345", 1],
    ["https://arxiv.org/abs/cs/0112017", "cs/0112017", undefined],
    ["arXiv 2401.12345", "2401.12345", undefined],
    ["10.48550/arXiv.2304.05376", "2304.05376", undefined],
    ["https://doi.org/10.48550/arXiv.2304.05376", "2304.05376", undefined],
  ])("reads '%s' as an arXiv id", (input, id, version) => {
    expect(parseReference(input)).toEqual({ kind: "arxiv", id, version });
  });

  it.each([
    "10.1371/Journal.pone.0033693",
    "doi:10.1371/journal.pone.0033693",
    "https://doi.org/10.1371%2Fjournal.pone.0033693",
    "http://dx.doi.org/10.1371/journal.pone.0033693",
  ])("reads '%s' as a DOI", (input) => {
    expect(parseReference(input)).toEqual({ kind: "doi", doi: "10.1371/journal.pone.0033693" });
  });

  it.each([
    ["pubmed.ncbi.nlm.nih.gov/12345678/?format=ris", "pmid_12345678"],
    ["https://www.ncbi.nlm.nih.gov/pubmed/?term=12345678", "pmid_12345678"],
    ["https://pmc.ncbi.nlm.nih.gov/articles/PMC123/pdf/main.pdf", "pmcid_PMC123"],
    ["www.ncbi.nlm.nih.gov/pmc/articles/PMC123", "pmcid_PMC123"],
  ])("reads '%s' as the number of PubMed or PubMed Central", (input, id) => {
    expect(idOf(input)).toBe(id);
  });

  it("refuses what can't be a file in one sentence: a link to itself, a name that is too long", () => {
    const folder = mkdtempSync(join(tmpdir(), "reference-"));
    symlinkSync("loop", join(folder, "loop"));
    for (const text of ["loop", "a".repeat(100_000)])
      expect(parseReference(text, folder)).toEqual({
        kind: "unknown",
        reason: expect.stringMatching(/^'(?:loop|a+…)' is neither an arXiv id/),
      });
  });

  it("reads URLs, samples, file URLs and paths", () => {
    expect(parseReference("https://example.org/paper?id=1")).toEqual({
      kind: "url",
      url: "https://example.org/paper?id=1",
    });
    expect(parseReference("sample:sample_01.md")).toEqual({ kind: "sample", name: "sample_01.md" });
    expect(parseReference("file:///tmp/a%20b.pdf")).toEqual({ kind: "file", path: "/tmp/a b.pdf" });
    expect(parseReference("not/there/paper.PDF")).toEqual({ kind: "file", path: resolve("not/there/paper.PDF") });
    const file = join(mkdtempSync(join(tmpdir(), "reference-")), "no-ending");
    writeFileSync(file, "text");
    expect(parseReference(file)).toEqual({ kind: "file", path: file });
  });

  it.each(["", "hello", "ftp://example.org/x.pdf", "sample:../../etc/passwd", "https://", "/tmp"])(
    "says what could be meant by '%s'",
    (input) => {
      expect(parseReference(input)).toMatchObject({
        kind: "unknown",
        reason: expect.stringMatching(/'.*' is (neither|not)/),
      });
    },
  );
});

describe("paperId", () => {
  it("is the same for every spelling of one paper, and safe as a file name", () => {
    expect(idOf("arXiv:2401.12345v2")).toBe("arxiv_2401.12345");
    expect(idOf("https://arxiv.org/abs/cs/0112017")).toBe("arxiv_cs_0112017");
    expect(idOf("https://doi.org/10.1000/X")).toBe("doi_10.1000_x");
    expect(idOf("https://example.org/a#part")).toBe(idOf("https://example.org/a"));
    expect(idOf("https://example.org/a")).toMatch(/^url_[0-9a-f]{8}$/);
    expect(idOf("some/paper.pdf")).toMatch(/^file_[0-9a-f]{8}$/);
    expect(idOf("sample:sample_03.pdf")).toBe("sample_03");
    expect(idOf(`10.1000/${"x".repeat(300)}`).length).toBeLessThan(120);
  });
});
