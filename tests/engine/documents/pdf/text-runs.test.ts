import { describe, expect, it } from "vitest";
import { openDocument } from "../../../../src/engine/documents/pdf/open-document.js";
import type { Operators } from "../../../../src/engine/documents/pdf/ink.js";
import { textRunsOf } from "../../../../src/engine/documents/pdf/text-runs.js";
import { type RawPlan, rawPdf, textAt } from "../../../fixtures/pdf/raw-pdf.js";

/** The runs of a page's text, by us and by pdf.js. */
async function runsOf(content: string, plan: Partial<RawPlan> = {}) {
  const { document, names, fonts } = await openDocument(rawPdf({ pages: [content], ...plan }));
  const page = await document.getPage(1);
  const drawn = (await page.getOperatorList()) as Operators;
  const own = textRunsOf(drawn, { names, view: page.view, fonts });
  const { items } = await page.getTextContent();
  await document.destroy();
  const plain = (some: readonly object[] | undefined) =>
    some?.map((item) => {
      const { str, dir, width, height, transform, fontName, hasEOL } = item as NonNullable<typeof own>[number];
      const places = [width, height, ...transform].map((value) => Math.round(value * 1000) / 1000 + 0);
      return { str, dir, fontName, hasEOL, places };
    });
  return { own: plain(own), theirs: plain(items) };
}

const form = {
  dictionary:
    "/Type /XObject /Subtype /Form /Matrix [1 0 0 1 0 -90] /BBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>",
  content: textAt("Within a form", 60, 300),
};

describe("the runs of a page's text", () => {
  it.each<[string, string, Partial<RawPlan>?]>([
    ["lines one below the other", textAt("First line", 60, 700) + textAt("Second line", 60, 686)],
    ["words set apart by numbers", "BT /F1 10 Tf 60 700 Td [(First)-250(second)-900(third)0(fourth)20 -30(f)]TJ ET"],
    ["spaces that a document types", "BT /F1 10 Tf 60 700 Td (First  second )Tj (third)Tj ( )Tj (fourth)Tj ET"],
    ["spacing of letters and words", "BT /F1 10 Tf 2 Tc 4 Tw 60 700 Td (First second)Tj 0 Tc 80 Tz (third)Tj ET"],
    ["raised and lowered text", "BT /F1 10 Tf 60 700 Td (x)Tj 4 Ts (2)Tj 0 Ts ( next)Tj 0 -14 Td (y)Tj -3 Ts (i)Tj ET"],
    [
      "lines by leading",
      "BT /F1 10 Tf 14 TL 60 700 Td (First)Tj T* (Second)Tj (Third)' 1 2 (Fourth)\" 0 -20 TD (Fifth)Tj ET",
    ],
    [
      "text turned by a quarter",
      "BT /F1 10 Tf 0 1 -1 0 60 300 Tm (Upwards now)Tj 0 -1 1 0 300 600 Tm (Downwards)Tj ET",
    ],
    ["text turned by some degrees", "BT /F1 10 Tf 0.9 0.43 -0.43 0.9 60 300 Tm (Slanted text)Tj 12 0 Td (more)Tj ET"],
    ["text upside down", "BT /F1 10 Tf -1 0 0 -1 400 300 Tm (Upside down)Tj (more)Tj ET"],
    [
      "matrices that scale",
      "q 2 0 0 2 10 10 cm BT /F1 1 Tf 5 0 0 5 60 300 Tm (Twice)Tj 7 0 0 7 90 300 Tm (larger)Tj ET Q",
    ],
    ["another size and font within a line", "BT /F1 10 Tf 60 700 Td (Ten)Tj /F1 7 Tf (seven)Tj /F1 10 Tf ( ten)Tj ET"],
    ["what is saved and restored", "q BT /F1 10 Tf 60 700 Td (One)Tj ET Q BT /F1 12 Tf 90 700 Td (Two)Tj ET"],
    [
      "a form",
      `${textAt("Before", 60, 320)}/Fm Do\n${textAt("Behind", 60, 290)}`,
      { objects: { form }, resources: "/XObject << /Fm @form >>" },
    ],
    ["marked contents", `BT /F1 10 Tf 60 700 Td /Span BMC (One)Tj EMC ( two)Tj ET`],
    ["text outside of the page", textAt("Outside", -90, 700) + textAt("Inside", 60, 700)],
    ["what runs back over a line", "BT /F1 10 Tf 60 700 Td (Above and long)Tj 1 0 0 1 60 700 Tm (Over)Tj ET"],
  ])("are those of pdf.js: %s", async (_, content, plan) => {
    const { own, theirs } = await runsOf(content, plan);
    expect(own?.length).toBeGreaterThan(0);
    expect(own).toEqual(theirs);
  });

  it("are left to pdf.js where a font draws its glyphs itself", async () => {
    const glyph = { dictionary: "", content: "500 0 0 0 500 500 d1 0 0 500 500 re f" };
    const drawn =
      "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 500 500] /FontMatrix [0.001 0 0 0.001 0 0] /FirstChar 97 /LastChar 97 /Widths [500] /Encoding << /Type /Encoding /Differences [97 /a] >> /CharProcs << /a @glyph >> /Resources << >> >>";
    const plan = { objects: { glyph, drawn }, fonts: "/F9 @drawn" };
    const { own } = await runsOf("BT /F9 10 Tf 60 700 Td (aaa)Tj ET", plan);
    expect(own).toBeUndefined();
  });
});
