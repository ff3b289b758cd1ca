import { describe, expect, it } from "vitest";
import { linesOf } from "../../../../src/text/documents/pdf/layout.js";
import type { Run } from "../../../../src/text/documents/pdf/rows.js";

/** Runs side by side from a place on, each half as wide as high a letter; a number in front is the rise of the next. */
function runsAt(x: number, y: number, height: number, parts: readonly (string | readonly [string, number])[]): Run[] {
  const runs: Run[] = [];
  let end = x;
  for (const part of parts) {
    const [text, rise] = typeof part === "string" ? [part, 0] : part;
    const size = rise === 0 ? height : 0.83 * height;
    const width = 0.5 * size * text.length;
    runs.push({ text, x: end, y: y + rise, width, height: size });
    end += width;
  }
  return runs;
}
const textOf = (runs: readonly Run[]): string[] => linesOf(runs).map(({ text }) => text);

describe("raised and lowered runs", () => {
  const above = runsAt(60, 720, 11, ["The trial explains the torque of each hand."]);
  const below = runsAt(60, 680, 11, ["It then falls again, as every trial shows."]);

  it.each([
    [
      "powers",
      ["against 10", ["−5", 4.5], " and 3 × 10", ["−3", 4.5], " in the two arms."],
      "against 10−5 and 3 × 10−3 in the two arms.",
    ],
    [
      "citations",
      ["as before.", ["12,13", 4.5], " Ours", ["4", 4.5], ["–6", 4.5], " disagrees."],
      "as before.12,13 Ours4–6 disagrees.",
    ],
    ["letters", ["the 1", ["st", 4.5], " of n", ["k", 4.5], " and the rest."], "the 1st of nk and the rest."],
    [
      "raised and lowered",
      ["12 m", ["2", 4.5], " of CO", ["2", -3], " and H", ["2", -3], "O."],
      "12 m2 of CO2 and H2O.",
    ],
  ] as const)("that are several on a line belong to it: %s", (_, parts, line) => {
    const runs = runsAt(60, 700, 11, parts);
    const expected = [above, below].map(([run]) => run?.text ?? "");
    expect(textOf([...above, ...runs, ...below])).toEqual([expected[0], line, expected[1]]);
    expect(textOf([...below, ...runs.toReversed(), ...above])).toEqual([expected[0], line, expected[1]]);
  });

  it("that touch nothing of a line are a line of their own", () => {
    const labels = [100, 140, 180].map((x, index) => ({ text: String(index), x, y: 704.5, width: 5, height: 9 }));
    const line = runsAt(300, 700, 11, ["beside a plot stand these words."]);
    expect(textOf([...labels, ...line])).toEqual(["0 1 2", "beside a plot stand these words."]);
  });

  it("are smaller than their line: rows of one size that are set close stay apart", () => {
    const rows = [704.5, 700].map((y, index) =>
      [60, 71, 82].map((x) => ({ text: `${index}5`, x, y, width: 10, height: 10 })),
    );
    expect(textOf(rows.flat()).length).toBe(2);
  });
});

describe("letters that are set twice to look bold", () => {
  it("are read once", () => {
    const once = runsAt(60, 700, 14, ["Proceedings of the Trial"]);
    expect(textOf([...once, ...once.map((run) => ({ ...run, x: run.x + 0.3 }))])).toEqual(["Proceedings of the Trial"]);
  });

  it("are not taken for a word that is written twice", () => {
    expect(textOf(runsAt(60, 700, 14, ["that ", "that "]))).toEqual(["that that"]);
  });
});
