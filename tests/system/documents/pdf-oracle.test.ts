import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findQuote } from "../../../src/text/evidence/find-quote.js";
import { readPdf } from "../../../src/text/documents/pdf/read-pdf.js";
import { paperPdf } from "../../fixtures/pdf/paper-pdf.js";

const poppler = spawnSync("pdftotext", ["-v"]).error === undefined;
if (!poppler)
  console.warn(
    "Skipped: pdftotext is not installed (Debian: poppler-utils); our reading of PDFs is not compared with it.",
  );

async function ours(bytes: Uint8Array): Promise<string> {
  const result = await readPdf(bytes);
  if (result.status !== "ok") throw new Error(result.reason);
  return result.text.text;
}

function theirs(bytes: Uint8Array): string {
  const folder = mkdtempSync(join(tmpdir(), "poppler-"));
  try {
    writeFileSync(join(folder, "a.pdf"), bytes);
    const { stdout, status } = spawnSync("pdftotext", ["-enc", "UTF-8", join(folder, "a.pdf"), "-"], {
      encoding: "utf8",
    });
    expect(status).toBe(0);
    return stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const wordsOf = (text: string): string[] =>
  text
    .replace(/-\n/g, "")
    .replace(/\[p\. \d+\]/g, " ")
    .normalize("NFKC")
    .toLowerCase()
    .match(/[\p{L}\p{N}.%]+/gu) ?? [];
const gramsOf = (text: string): Set<string> => {
  const words = wordsOf(text);
  return new Set(words.slice(4).map((_, index) => words.slice(index, index + 5).join(" ")));
};

const papers = { 1: await paperPdf({ columns: 1 }), 2: await paperPdf({ columns: 2, compressed: true }) };

describe("a PDF of a paper", () => {
  it.runIf(poppler).each([1, 2] as const)(
    "reads as poppler reads it, but for what we leave out on purpose, in columns: %i",
    async (columns) => {
      const { bytes } = papers[columns];
      const [own, other] = [gramsOf(await ours(bytes)), gramsOf(theirs(bytes))];
      const shared = [...other].filter((gram) => own.has(gram)).length;
      expect(shared / other.size).toBeGreaterThan(0.9);
    },
  );

  it.each([1, 2] as const)(
    "holds every sentence so that it is found as a quote, over line ends, hyphens, kerned numbers, columns and pages: %i",
    async (columns) => {
      const { bytes, sentences } = papers[columns];
      const text = await ours(bytes);
      expect(sentences.filter((sentence) => !findQuote(text, sentence).found)).toEqual([]);
    },
  );

  it("keeps running heads and page numbers out of sentences, and the rows of a table together", async () => {
    const text = await ours(papers[2].bytes);
    expect(text).not.toContain("Journal of Invented Results");
    expect(text).toContain("Cube 94.2 600\nPen 71.0 480");
  });
});
