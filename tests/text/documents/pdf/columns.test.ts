import { describe, expect, it } from "vitest";
import { DocumentLayout, linesOf } from "../../../../src/text/documents/pdf/layout.js";
import type { Run } from "../../../../src/text/documents/pdf/rows.js";

const size = 10;
const leading = 12;
const [left, right, width] = [60, 315, 240];

/** One line of a width; its text tells its column and number. */
const line = (text: string, x: number, y: number, long = width): Run => ({ text, x, y, width: long, height: size });
/** Lines of running text below one another. */
const column = (name: string, x: number, top: number, count: number): Run[] =>
  Array.from({ length: count }, (_, at) =>
    line(`runs on in column ${name}, line ${at}, of the text`, x, top - leading * at),
  );
/** Short lines, such as those of a list of contents, each with its page next to the gutter. */
const contents = (x: number, top: number, count: number): Run[] =>
  Array.from({ length: count }, (_, at) => [
    line(`Section ${at}`, x, top - 19 * at, 45),
    line(`${at}`, x + width - 8, top - 19 * at, 5),
  ]).flat();
const twoColumns = (): Run[] => [...column("A", left, 700, 40), ...column("B", right, 700, 40)];
const textOf = (lines: readonly { readonly text: string }[]): string[] => lines.map(({ text }) => text);
const laidOut = (...pages: readonly (readonly Run[])[]): string[][] => {
  const layout = new DocumentLayout();
  for (const page of pages) layout.add([page]);
  return layout.pages().map(textOf);
};
const splices = (lines: readonly string[]): string[] =>
  lines.filter((text) => text.includes("column B") && !/^runs on in column B, line \d+, of the text$/.test(text));

describe("a page that does not show its columns", () => {
  const first = [...contents(left, 697, 20), ...column("B", right, 700, 40)];

  it("has those of the other pages", () => {
    const [lines = []] = laidOut(first, twoColumns(), twoColumns());
    expect(splices(lines)).toEqual([]);
    expect(lines.indexOf("Section 19 19")).toBeLessThan(lines.indexOf("runs on in column B, line 0, of the text"));
  });

  it("has them also below a stamp or above a watermark that is turned", () => {
    const layout = new DocumentLayout();
    const stamp = [line("arXiv:2101.00001v1 [cs.DL] 1 Jan 2021", 200, -20, 300)];
    layout.add([first, stamp]);
    for (const _ of [2, 3]) layout.add([twoColumns()]);
    const [lines = []] = layout.pages().map(textOf);
    expect(splices(lines)).toEqual([]);
    expect(lines.at(-1)).toBe(stamp[0]?.text);
  });

  it("has one column where its lines cross the others'", () => {
    const wide = Array.from({ length: 30 }, (_, at) =>
      line(`runs over the whole width of the page, line ${at}`, left, 700 - leading * at, 495),
    );
    const cells = Array.from({ length: 4 }, (_, at) => [
      line(`a cell of a table, ${at}`, left, 300 - leading * at, 100),
      line(`another cell of the table, ${at}`, right, 300 - leading * at, 110),
    ]).flat();
    const [, lines = []] = laidOut(twoColumns(), [...wide, ...cells], twoColumns());
    expect(lines.slice(-4)).toEqual(
      [0, 1, 2, 3].map((at) => `a cell of a table, ${at} another cell of the table, ${at}`),
    );
  });
});

describe("a page whose pieces have columns of their own", () => {
  const body = [...column("A", left, 500, 30), ...column("B", right, 500, 30)];

  it.each([
    ["names of authors in three columns", [60, 262, 430], 110],
    ["an address next to the abstract", [60, 215], 130],
  ])("is read piece by piece: %s", (_, places, long) => {
    const head = places.flatMap((x) =>
      [0, 1, 2, 3].map((at) => line(`of the department number ${at} at ${x}`, x, 660 - leading * at, long)),
    );
    const lines = textOf(linesOf([...head, ...body]));
    expect(lines.slice(-60)).toEqual(textOf(body));
  });

  it("keeps its two columns where a few lines of one begin below one another in its middle", () => {
    const items = Array.from({ length: 6 }, (_, at) =>
      line(`of an item in the list, number ${at}`, 440, 128 - leading * at, 115),
    );
    const notes = Array.from({ length: 6 }, (_, at) =>
      line(`of its own part of it, number ${at}`, right, 128 - leading * at, 110),
    );
    const lines = textOf(linesOf([...body, ...notes, ...items]));
    expect(lines.slice(0, 60)).toEqual(textOf(body));
  });

  it("reads keywords that are set next to the abstract before it", () => {
    const abstract = Array.from({ length: 14 }, (_, at) =>
      line(`tells what the trial did and found, line ${at}`, 215, 690 - 10 * at, 340),
    );
    const keywords = [
      "Article history:",
      "Received 1 May 2020",
      "Accepted 2 June 2020",
      "Keywords:",
      "Sleep",
      "Lungs",
    ].map((text, at) => line(text, left, 687 - 13 * at, 60));
    const lines = textOf(linesOf([...keywords, ...abstract, ...body]));
    expect(lines).toEqual(textOf([...keywords, ...abstract, ...body]));
  });

  it("keeps the rows of a table whose last column runs on", () => {
    const rows = Array.from({ length: 8 }, (_, at) => [
      line(`Term ${at}`, left, 690 - 14 * at, 40),
      line(`its meaning, which is told at length, ${at}`, 215, 690 - 14 * at, 300),
    ]);
    expect(textOf(linesOf(rows.flat()))).toEqual(
      rows.map((_, at) => `Term ${at} its meaning, which is told at length, ${at}`),
    );
  });
});
