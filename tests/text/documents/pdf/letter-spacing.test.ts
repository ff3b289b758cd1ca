import { describe, expect, it } from "vitest";
import { readPdf } from "../../../../src/text/documents/pdf/read-pdf.js";
import { rawPdf, textAt } from "../../../fixtures/pdf/raw-pdf.js";

const sentences = [
  "The gripper learned to grasp objects that it had never felt before.",
  "In a trial of 40 hands, it was as good as a person at 3 of 5 tasks.",
  "I am of an age to do it, so we go on as is.",
  "Robots fail, if no light is on; a lamp of 20 watts will do.",
  "Sie lernt in zwei Stunden, was ein Kind in einem Jahr lernt.",
];

async function linesOf(lines: readonly string[]): Promise<readonly string[]> {
  const result = await readPdf(rawPdf({ pages: [lines.join("")] }));
  if (result.status !== "ok") throw new Error(result.reason);
  return result.text.text.split(/\n+/).slice(1);
}

const heights = sentences.map((_, index) => 700 - 15 * index);
const set = (how: (sentence: string, y: number) => string) =>
  linesOf(sentences.map((sentence, index) => how(sentence, heights[index] ?? 0)));

describe("text whose letters are set apart", () => {
  it.each([0.9, 1.2, 1.6, 2, 3, 4])("by %d points between all characters is read in words", async (space) => {
    const lines = await set((sentence, y) => `BT /F1 9 Tf ${space} Tc 20 ${y} Td (${sentence}) Tj ET\n`);
    expect(lines).toEqual(sentences);
  });

  it.each([
    [1.5, 2],
    [2, 6],
    [2.5, 9],
  ])("by %d points, and %d more between words, is read in words", async (space, more) => {
    const lines = await set((sentence, y) => `BT /F1 8 Tf ${space} Tc ${more} Tw 20 ${y} Td (${sentence}) Tj ET\n`);
    expect(lines).toEqual(sentences);
  });

  it.each([
    [120, 450],
    [200, 700],
    [300, 900],
  ])("by moves of %d thousandths, and of %d between words, is read in words", async (gap, word) => {
    const drawn = (sentence: string) =>
      Array.from(sentence, (each) => (each === " " ? `-${word - gap}` : `(${each}) -${gap}`)).join(" ");
    const lines = await set((sentence, y) => `BT /F1 9 Tf 20 ${y} Td [${drawn(sentence)}] TJ ET\n`);
    expect(lines).toEqual(sentences);
  });

  it("glyph by glyph at places of their own is read in words", async () => {
    const lines = await set((sentence, y) => {
      let x = 20;
      return Array.from(sentence, (each) => {
        const glyph = each === " " ? "" : textAt(each, x, y, "/F1 8 Tf");
        x += each === " " ? 6 : 6.5;
        return glyph;
      }).join("");
    });
    expect(lines).toEqual(sentences);
  });
});

describe("text that is set as usual", () => {
  it.each([-0.3, 0, 0.3, 0.6])("with %d points between its characters keeps its words", async (space) => {
    const lines = await set((sentence, y) => `BT /F1 10 Tf ${space} Tc 20 ${y} Td (${sentence}) Tj ET\n`);
    expect(lines).toEqual(sentences);
  });

  it.each([
    "Let a b c d e f g h be points and x y z u v w their images.",
    "a = b + c and d = e - f or g h = i j k l m n",
    "p q r s t u v w x y z a b c",
    "1 2 3 4 5 6 7 8 9 10 11 12",
    "A C G T A C G T A C G T A A C C",
    "x 1 y 2 z 3 a 4 b 5 c 6",
    "I a m",
  ])("keeps single letters between typed spaces apart: %s", async (line) => {
    const lines = await set((sentence, y) => textAt(y === heights[2] ? line : sentence, 20, y));
    expect(lines[2]).toBe(line);
  });
});
