import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { analysePaper } from "../../src/research/baseline-agent/paper.js";
import { findQuote } from "../../src/text/evidence/find-quote.js";
import type { AnalysisResult } from "../../src/research/generated/result-analysis.js";
import type { DiscoveryResult } from "../../src/research/generated/result-discovery.js";
import { listSamples } from "../../src/research/full-text/local-folder.js";
import { samePaper } from "../support/documents/same-paper.js";
import { readDocument } from "../../src/text/documents/read-document.js";
import { findInstructions } from "../../src/text/documents/text/find-injections.js";
import type { DocumentText } from "../../src/text/documents/text/document-text.js";
import { briefOf, resultOf } from "../research/baseline-agent/brief-of.js";

const corpus = fileURLToPath(new URL("../../demo/corpus/", import.meta.url));
const files = readdirSync(corpus).toSorted();
const ids = Array.from({ length: 12 }, (_, index) => `sample_${String(index + 1).padStart(2, "0")}`);
const LABEL = "Sample paper written for the research-ralph demo; its numbers are invented.";

let candidates: Awaited<ReturnType<typeof listSamples>>;
const texts = new Map<string, DocumentText>();
const analyses = new Map<string, AnalysisResult>();

beforeAll(async () => {
  candidates = await listSamples(undefined);
  for (const { id, title, abstract, url } of candidates) {
    const name = basename(url.replace("sample:", ""));
    const read = await readDocument(readFileSync(corpus + name), { name });
    if (read.status !== "ok") continue;
    texts.set(id, read.text);
    analyses.set(
      id,
      analysePaper(
        { kind: "paper", unit: id, title, abstract: abstract ?? "", rubrics: ["execution", "blue_ocean"] },
        read.text.text,
      ),
    );
  }
});

const sum = (points: object | undefined): number =>
  Object.values(points ?? {}).reduce((total: number, value: number) => total + value, 0);

/** The decision by the default thresholds: 35, 25, and 18 with execution 18 or strategic 12. */
function decisionOf({ scores }: AnalysisResult): string {
  const execution = sum(scores?.execution);
  const strategic = sum(scores?.blue_ocean);
  const combined = execution + strategic;
  if (combined >= 25) return combined >= 35 ? "PRESENT (priority)" : "PRESENT";
  return combined >= 18 && (execution >= 18 || strategic >= 12) ? "EXTRACT_INSIGHTS" : "REJECT";
}

describe("the sample corpus", () => {
  it("has twelve papers with ids that say that they are samples", () => {
    expect(candidates.map(({ id }) => id)).toEqual(ids);
  });

  it("says of each readable text in its first line that it is a sample", () => {
    for (const [, { text }] of texts)
      expect(
        text
          .replace(/^\[p\. 1\]\s*/, "")
          .replace(/^> /, "")
          .startsWith(LABEL),
      ).toBe(true);
    expect(texts.size).toBe(11);
  });

  it("has no author and no DOI that anybody could take for real", () => {
    for (const { authors } of candidates)
      for (const author of authors) expect(author).toMatch(/^Sample Author [A-Z]{1,2}$/);
    const all = files.filter((name) => name.endsWith(".md")).map((name) => readFileSync(corpus + name, "utf8"));
    for (const doi of all.join("\n").match(/\b10\.\d{4,}\/\S+/g) ?? [])
      expect(doi).toMatch(/^10\.0000\/sample\.\d\d"?$/);
  });

  it("has papers of 500 to 900 words with the sections of a paper", () => {
    for (const [id, { text }] of texts) {
      const words = text.split(/\s+/).length;
      expect(words, id).toBeGreaterThanOrEqual(500);
      expect(words, id).toBeLessThanOrEqual(900);
      for (const section of ["1 Introduction", "2 Method", "3 Results", "4 Limitations", "References"])
        expect(text, id).toContain(section);
    }
  });

  it("has one pair that is the same paper, a preprint and its published version", () => {
    const pairs = candidates.flatMap((a, index) =>
      candidates
        .slice(index + 1)
        .filter((b) => samePaper(a, b))
        .map((b) => [a.id, b.id]),
    );
    expect(pairs).toEqual([["sample_02", "sample_12"]]);
  });

  it("has one retracted paper, one that can't be read and one that talks to reviewers", () => {
    expect([...texts].filter(([, { retracted }]) => retracted).map(([id]) => id)).toEqual(["sample_06"]);
    expect(ids.filter((id) => !texts.has(id))).toEqual(["sample_11"]);
    expect([...texts].filter(([, { text }]) => findInstructions(text).length > 0).map(([id]) => id)).toEqual([
      "sample_07",
    ]);
  });

  it("has a PDF in two columns that is read in the order of its text, over two pages", () => {
    const text = texts.get("sample_03")?.text.replace(/\s+/g, " ") ?? "";
    const places = [
      "1 Introduction",
      "The paper asks three questions.",
      "2 Method",
      "3 Results",
      "An ablation shows",
      "4 Limitations",
      "[p. 2]",
      "References",
    ].map((words) => text.indexOf(words));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places).not.toContain(-1);
  });
});

describe("the baseline agent on the sample corpus", () => {
  it("keeps every sample for the demo's topic", () => {
    const unit = {
      kind: "discovery",
      unit: "discovery-1",
      need: 12,
      sources: ["samples"],
      keywords: ["sample sim2real", "sim2real transfer", "dexterous manipulation"],
      candidates,
    };
    const { kept = [], sources } = resultOf<DiscoveryResult>(briefOf(unit));
    expect(sources).toMatchObject([{ name: "samples", status: "ok" }]);
    expect(kept.map(({ id }) => id)).toEqual(ids);
    expect(kept.find(({ id }) => id === "sample_11")?.priority).toBe(1);
  });

  it("brings out every decision", () => {
    expect(new Set([...analyses.values()].map(decisionOf))).toEqual(
      new Set(["PRESENT (priority)", "PRESENT", "EXTRACT_INSIGHTS", "REJECT"]),
    );
  });

  it("quotes nothing that does not stand in the text", () => {
    for (const [id, { evidence }] of analyses) {
      expect(evidence.length, id).toBeGreaterThanOrEqual(3);
      for (const { quote } of evidence)
        expect(findQuote(texts.get(id)!, quote), `${id}: ${quote}`).toMatchObject({ found: true });
    }
  });

  it("names the page or section where the quote stands", () => {
    for (const [id, { evidence }] of analyses) {
      for (const { quote, locator } of evidence)
        expect(findQuote(texts.get(id)!, quote), `${id}: ${quote}`).toMatchObject({ locator });
    }
  });

  it("does not do what the hidden instruction asks for", () => {
    const hostile = analyses.get("sample_07")!;
    expect(decisionOf(hostile)).toBe("REJECT");
    expect(hostile.limitations).toContain("toy task");
    expect(hostile.notes).toContain("addressed to its reviewers");
  });

  it("gives the retracted paper no point", () => {
    const retracted = analyses.get("sample_06")!;
    expect(sum(retracted.scores?.execution) + sum(retracted.scores?.blue_ocean)).toBe(0);
    expect(retracted.limitations).toContain("retracted");
  });
});
