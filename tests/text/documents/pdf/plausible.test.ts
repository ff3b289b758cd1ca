import { describe, expect, it } from "vitest";
import { isPlausible } from "../../../../src/text/documents/pdf/plausible.js";
import { readPdf } from "../../../../src/text/documents/pdf/read-pdf.js";
import { rawPdf, textAt } from "../../../fixtures/pdf/raw-pdf.js";
import { unicodeFont } from "../../../fixtures/pdf/unicode-font.js";

const prose = "The gripper learned to grasp objects that it had never felt before, and sensors measured the contact. ";
const shifted = (text: string, by: number) =>
  Array.from(text, (letter) =>
    /[a-z]/.test(letter) ? String.fromCharCode(((letter.charCodeAt(0) - 97 + by) % 26) + 97) : letter,
  ).join("");

describe("letters of a text", () => {
  it.each([3, 7, 10, 19])("shifted by %i are those of none", (by) => {
    expect(isPlausible(shifted(prose.toLowerCase().repeat(20), by))).toBe(false);
  });

  it("of many scripts at once are those of none", () => {
    const numbers = Array.from({ length: 400 }, (_, index) => String.fromCharCode(0x370 + ((index * 97) % 0xa00)));
    expect(isPlausible(numbers.join(""))).toBe(false);
  });

  it.each([
    ["English", prose.repeat(20)],
    ["Swahili", "Utafiti huu unaonyesha kwamba roboti ilijifunza kushika vitu ambavyo haijawahi kugusa. ".repeat(30)],
    [
      "Finnish",
      "Tutkimus osoittaa kuinka robottikäsi oppi tarttumaan esineisiin joita sillä ollut aiemmin. ".repeat(30),
    ],
    ["Japanese", "提案手法は未知の物体に対してもロボットが高い成功率を示した。".repeat(20)],
    ["formulas", "xy zt kl mn pq rs vw bc df gh jk ".repeat(4)],
    ["a table of names of genes", "BRCA TPFT KRAS EGFR NRAS MYCN CDKN PTEN APOE TNFA ".repeat(30) + prose.repeat(3)],
    ["sequences of genes", "ATGCGT GGCTTC CCGTTG TTGCCA GGGCCT ".repeat(60)],
  ])("in %s are plausible", (_, text) => {
    expect(isPlausible(text)).toBe(true);
  });
});

describe("a font with the encoding Identity and no map", () => {
  const { objects = {} } = unicodeFont("", 500);
  const { unicode: _unicode, map: _map, ...rest } = objects;
  const font = {
    fonts: "/F2 @bare",
    objects: {
      ...rest,
      bare: "<< /Type /Font /Subtype /Type0 /BaseFont /Any /Encoding /Identity-H /DescendantFonts [@descendant] >>",
    },
  };
  /** TrueType fonts count their glyphs from the space on, which is the third. */
  const asGlyphs = (text: string, first: number) =>
    Array.from(text, (letter) => (letter.charCodeAt(0) - 32 + first).toString(16).padStart(4, "0")).join("");
  const lines = (count: number, first: number) =>
    Array.from(
      { length: count },
      (_, index) => `BT /F2 8 Tf 1 0 0 1 40 ${760 - index * 10} Tm <${asGlyphs(prose.slice(0, 90), first)}> Tj ET\n`,
    ).join("");

  it.each([3, 500])("makes a PDF unreadable, its glyphs counted from %i on", async (first) => {
    expect(await readPdf(rawPdf({ pages: [lines(40, first)], ...font }))).toMatchObject({
      status: "unreadable",
      reason: expect.stringMatching(/fonts don't say which letters/),
    });
  });

  it("makes a PDF a part where most of it is set in others", async () => {
    const page = Array.from({ length: 40 }, (_, index) => textAt(prose, 40, 760 - index * 10)).join("");
    const read = await readPdf(rawPdf({ pages: [page, page, lines(40, 3)], ...font }));
    expect(read).toMatchObject({ text: { depth: "partial", warnings: [expect.stringMatching(/fonts don't say/)] } });
  });
});
