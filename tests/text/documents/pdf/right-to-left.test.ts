import { describe, expect, it } from "vitest";
import { linesOf } from "../../../../src/text/documents/pdf/layout.js";
import { withAccents } from "../../../../src/text/documents/pdf/pages.js";

/** A line of pieces from left to right, as a page shows them. */
function lineOf(pieces: readonly string[]): string | undefined {
  let x = 60;
  const runs = pieces.map((piece) => {
    const text = piece.trim();
    x += piece.startsWith(" ") ? 4 : 0;
    const run = { text, x, y: 700, width: text.length * 5, height: 10 };
    x += run.width + (piece.endsWith(" ") ? 4 : 0);
    return run;
  });
  return linesOf(runs)[0]?.text;
}

describe("a line written from right to left", () => {
  it.each([
    ["a number behind a hyphen", ["החפצים", " 12-", "יותר מ"], "יותר מ-12 החפצים"],
    ["the number of a heading", ["בחפצים", " .", "1"], "1. בחפצים"],
    ["percent in Hebrew", ["הנתונים", " 95%", " עם"], "עם 95% הנתונים"],
    ["percent in Arabic", ["البيانات", " %95", " بنسبة"], "بنسبة 95% البيانات"],
    ["two numbers", ["החפצים", " 40 12", " בין"], "בין 12 40 החפצים"],
    ["a range in Hebrew", ["שנה", " 2020-2021", " בין"], "בין 2020-2021 שנה"],
    ["words in brackets", ["רואה", " (Smith et al., 2021)", " המצלמה"], "המצלמה (Smith et al., 2021) רואה"],
    ["words of several runs", ["הנתונים", " BERT", "-base", " 3.5", " במודל"], "במודל BERT-base 3.5 הנתונים"],
    ["the end of a sentence", [".", "החפצים"], "החפצים."],
    [
      "words in brackets that are named as they are written",
      ["רואה", " )Smith, 2021(", " המצלמה"],
      "המצלמה (Smith, 2021) רואה",
    ],
    ["a number in brackets", ["רואה", " (40)", " המצלמה"], "המצלמה (40) רואה"],
  ])("keeps %s in its place", (_, pieces, text) => expect(lineOf(pieces)).toBe(text));

  it("has plain letters for those of a form of its own, and its marks on them", () => {
    expect(withAccents("ﺟﺴﻤﺎ ً ﻓﻲ اﻟﻤﺨﺘﺒﺮ")).toBe("جسماً في المختبر");
    expect(withAccents("⼿指的⼒")).toBe("手指的力");
  });
});
