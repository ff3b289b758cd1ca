import { PDFDocument, StandardFonts } from "pdf-lib";
import { describe, expect, it } from "vitest";
import { readPdf } from "../../../../src/text/documents/pdf/read-pdf.js";

/** A line of a page and the number in its margin. */
type NumberedLine = readonly [number: number | string | undefined, text: string];

/** Pages of lines from top to bottom, with what stands in their margin, `gap` points left of the text. */
async function textOf(pages: readonly (readonly NumberedLine[])[], { gap = 20, size = 7 } = {}): Promise<string> {
  const document = await PDFDocument.create();
  const font = await document.embedFont(StandardFonts.TimesRoman);
  for (const lines of pages) {
    const page = document.addPage([612, 792]);
    for (const [index, [number, text]] of lines.entries()) {
      const y = 720 - index * 14;
      page.drawText(text, { x: 100, y, size: 10, font });
      if (number === undefined) continue;
      const x = 100 - gap - font.widthOfTextAtSize(String(number), size);
      page.drawText(String(number), { x, y, size, font });
    }
  }
  const result = await readPdf(await document.save());
  return result.status === "ok" ? result.text.text : result.reason;
}

const word = (index: number) => ["torque", "gripper", "measured", "tactile", "sensor"][index % 5] ?? "";
const line = (index: number) => `The ${word(index)} of trial ${index + 300} was seen in each ${word(index + 2)} again`;
/** Lines of text, the first of them the line `from` of the document, numbered where `isNumbered` says so. */
const lines = (from: number, count: number, isNumbered: (number: number) => boolean): NumberedLine[] =>
  Array.from({ length: count }, (_, index) => [
    isNumbered(from + index) ? from + index : undefined,
    line(from + index),
  ]);
const each = () => true;
const fifth = (number: number) => number % 5 === 0;
const numbersIn = (text: string) => text.match(/^\d+(?= |$)/gm) ?? [];
const trialsIn = (text: string) => [...text.matchAll(/trial (\d+)/g)].map(([, trial]) => Number(trial));

describe("numbers of lines in the margin are no text", () => {
  it.each([
    ["of each line", each, [30, 30, 3]],
    ["of each fifth line", fifth, [32, 32, 32]],
    ["of each fifth line, the last page with one number", fifth, [32, 32, 8]],
    ["of each line, the last page with two", each, [30, 30, 2]],
  ])("%s", async (_, isNumbered, counts) => {
    let from = 1;
    const pages = counts.map((count) => {
      const page = lines(from, count, isNumbered);
      from += count;
      // A last page has words beside its last lines.
      return page.length > 8 ? page : [...page, ...lines(900, 6, () => false)];
    });
    const text = await textOf(pages);
    expect(numbersIn(text)).toEqual([]);
    expect(trialsIn(text)).toEqual(pages.flatMap((page) => page.map(([, shown]) => trialsIn(shown)[0])));
  });

  it.each([
    ["each line", each],
    ["each fifth line", fifth],
  ])("where %s is counted anew on each page", async (_, isNumbered) => {
    const text = await textOf([30, 30, 12].map((count) => lines(1, count, isNumbered)));
    expect(numbersIn(text)).toEqual([]);
    expect(trialsIn(text).length).toBe(72);
  });
});

describe("numbers next to text that do not count its lines stay", () => {
  /** Entries of three lines, each with its number at the first of them. */
  const entries = (numbers: readonly number[], length: number): NumberedLine[] =>
    numbers.flatMap((number) =>
      Array.from({ length }, (_, index): NumberedLine => [
        index === 0 ? number : undefined,
        line(number * length + index),
      ]),
    );

  it.each([
    ["of a list of references", entries([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 3), 10],
    ["of rows of a table, each of two lines", entries([6, 7, 8, 9, 10, 11, 12], 2), 7],
    ["years, each before some lines", entries([1990, 1995, 2000, 2005, 2010, 2015], 3), 6],
    ["ages before paragraphs", entries([18, 23, 28, 33], 6), 4],
    ["a table's column of fives", entries([5, 10, 15, 20, 25, 30, 35], 1), 7],
  ])("%s", async (_, shown, count) => {
    expect(numbersIn(await textOf([shown], { gap: 12, size: 10 })).length).toBe(count);
  });

  it("on an axis of a plot beside the text", async () => {
    const axis = [2015, 2010, 2005, 2000, 1995];
    const page = lines(1, 30, () => false).map(([, text], index): NumberedLine => [
      index % 6 === 2 ? axis[(index - 2) / 6] : undefined,
      text,
    ]);
    expect(numbersIn(await textOf([page])).map(Number)).toEqual(axis);
  });

  it("where a page before it has numbered lines, and they go on from none of them", async () => {
    const pages = [lines(1, 30, each), entries([4, 9, 12, 40], 3)];
    expect(numbersIn(await textOf(pages))).toEqual(["4", "9", "12", "40"]);
  });
});
