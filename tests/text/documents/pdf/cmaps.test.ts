import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { packageFile } from "../../../../src/engine/lib/package-root.js";
import { readPdf } from "../../../../src/text/documents/pdf/read-pdf.js";
import { rawPdf } from "../../../fixtures/pdf/raw-pdf.js";

const pdfjs = packageFile("node_modules", "pdfjs-dist");

test("the tables of characters are those of the pdf.js that unpdf holds", () => {
  const { version } = JSON.parse(readFileSync(`${pdfjs}/package.json`, "utf8")) as { version: string };
  const held = readFileSync(packageFile("node_modules/unpdf/dist/pdfjs.mjs"), "utf8");
  const versions = new Set([...held.matchAll(/\b5\.\d+\.\d+\b/g)].map(([found]) => found));
  expect([...versions]).toEqual([version]);
  expect(readdirSync(`${pdfjs}/cmaps`).length).toBeGreaterThan(160);
});

/**
 * Codes of Adobe-Japan1 in the encoding that Japanese Windows programs write; nothing in the document says which
 * characters they are.
 */
const japanese = {
  触: "9047",
  覚: "8a6f",
  セ: "835a",
  ン: "8393",
  サ: "8354",
  で: "82c5",
  物: "95a8",
  体: "91cc",
  を: "82f0",
  つ: "82c2",
  か: "82a9",
  む: "82de",
};

test("a Japanese font without a map to Unicode is read", async () => {
  const codes = Object.values(japanese).join("");
  const line = (y: number) => `BT /F2 10 Tf 1 0 0 1 60 ${y} Tm <${codes}> Tj ET\n`;
  const result = await readPdf(
    rawPdf({
      pages: [Array.from({ length: 10 }, (_, index) => line(700 - 14 * index)).join("")],
      fonts: "/F2 @japanese",
      objects: {
        japanese:
          "<< /Type /Font /Subtype /Type0 /BaseFont /Ryumin-Light /Encoding /90ms-RKSJ-H /DescendantFonts [@descendant] >>",
        descendant:
          "<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Ryumin-Light /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> /DW 1000 /FontDescriptor @descriptor >>",
        descriptor:
          "<< /Type /FontDescriptor /FontName /Ryumin-Light /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>",
      },
    }),
  );
  expect(result.status === "ok" ? result.text.text : result.reason).toContain(Object.keys(japanese).join(""));
});
