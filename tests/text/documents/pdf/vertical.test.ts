import { expect, test } from "vitest";
import { readPdf } from "../../../../src/text/documents/pdf/read-pdf.js";
import { type RawPlan, rawPdf } from "../../../fixtures/pdf/raw-pdf.js";
import { unicodeAt, unicodeFont } from "../../../fixtures/pdf/unicode-font.js";

const words = ["触覚", "把持", "計測", "実験", "装置", "方法", "結果", "考察"];
const numerals = [..."一二三四五六七八九十"];
/** Columns of a text, no two of them alike, each of 24 signs. */
const columns = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => {
    const at = from + index;
    const name = `${numerals[Math.floor(at / 10)] ?? ""}${numerals[at % 10] ?? ""}`;
    const word = (step: number) => words[(at + step) % words.length] ?? "";
    return `${name}では${word(0)}の${word(1)}を${word(3)}により${word(5)}とし${word(2)}した、。`.slice(0, 24);
  });

async function read(plan: RawPlan): Promise<string> {
  const result = await readPdf(rawPdf(plan));
  return result.status === "ok" ? result.text.text : result.reason;
}
const linesIn = (text: string) => text.split("\n").filter((line) => line !== "" && !line.startsWith("[p."));

const font = (characters: string, encoding: "H" | "V"): Pick<RawPlan, "objects" | "fonts"> => {
  const { objects = {}, fonts = "" } = unicodeFont(characters, 1000);
  const unicode = String(objects.unicode).replace("/Identity-H", `/Identity-${encoding}`);
  return { fonts, objects: { ...objects, unicode } };
};
/** Columns from the right of the page to its left, `size` points apart from `top` on, by a font for such writing. */
const asColumns = (texts: readonly string[], top: number): string =>
  texts.map((text, index) => unicodeAt(text, 540 - 18 * index, top)).join("");
/** The same, each sign set by itself. */
const signBySign = (texts: readonly string[], top: number): string =>
  texts
    .flatMap((text, index) => [...text].map((sign, row) => unicodeAt(sign, 540 - 18 * index, top - 10.5 * row)))
    .join("");

test.each([
  ["a font for it", "V", asColumns],
  ["each sign by itself", "H", signBySign],
] as const)(
  "writing from top to bottom, set by %s, is read column by column from the right",
  async (_, encoding, set) => {
    const texts = columns(0, 24);
    const text = await read({ pages: [set(texts, 700)], ...font(texts.join(""), encoding) });
    expect(linesIn(text)).toEqual(texts);
  },
);

test.each([
  ["a font for it", "V", asColumns],
  ["each sign by itself", "H", signBySign],
] as const)("of two tiers, set by %s, the upper one is read first", async (_, encoding, set) => {
  const [upper, lower] = [columns(0, 24), columns(24, 24)];
  const page = [...upper.keys()]
    .map((index) => {
      const one = (texts: readonly string[], top: number) =>
        set([texts[index] ?? ""], top).replaceAll("1 0 0 1 540", `1 0 0 1 ${540 - 18 * index}`);
      return one(upper, 740) + one(lower, 400);
    })
    .join("");
  const text = await read({ pages: [page], ...font([...upper, ...lower].join(""), encoding) });
  expect(linesIn(text)).toEqual([...upper, ...lower]);
});

test("digits that stand upright in a column, and Latin words that lie in it, keep their places", async () => {
  const texts = columns(0, 20);
  const [before, behind] = ["装置は", "に従い十二回の計測を行った。"];
  const x = 540 - 18 * 20;
  const mixed = [
    ...[...before].map((sign, row) => unicodeAt(sign, x, 700 - 10.5 * row)),
    // Turned by a quarter to the right.
    `BT /F1 10 Tf 0 -1 1 0 ${x + 1.5} ${700 - 10.5 * 3 + 7} Tm (ISO 9241) Tj ET\n`,
    ...[...behind].map((sign, row) => unicodeAt(sign, x, 643 - 10.5 * row)),
  ].join("");
  const dated = ["平", "成", "12", "年", "度", "の", "計", "測", "。"]
    .map((sign, row) =>
      sign === "12"
        ? `BT /F1 9 Tf 1 0 0 1 ${x - 18} ${700 - 10.5 * row} Tm (12) Tj ET\n`
        : unicodeAt(sign, x - 18, 700 - 10.5 * row),
    )
    .join("");
  const text = await read({
    pages: [signBySign(texts, 700) + mixed + dated],
    ...font([...texts, before, behind, "平成年度の計測。"].join(""), "H"),
  });
  expect(linesIn(text).slice(0, 20)).toEqual(texts);
  expect(text.replace(/ISO ?9241 ?/, "ISO 9241")).toMatch(new RegExp(`${before} ?ISO 9241${behind}`));
  expect(text).toContain("平成12年度の計測。");
});

test("writing from left to right is not turned, though each of its signs is set by itself", async () => {
  const texts = columns(0, 24);
  const signs = texts.flatMap((text, row) =>
    [...text].map((sign, index) => unicodeAt(sign, 60 + 14 * index, 740 - 20 * row)),
  );
  const text = await read({ pages: [signs.join("")], ...font(texts.join(""), "H") });
  expect(linesIn(text).map((line) => line.replaceAll(" ", ""))).toEqual(texts);
});

test("the narrow head of a table is read downwards, and the text beside it from left to right", async () => {
  const texts = columns(0, 20);
  const head = [..."測定値合計"].map((sign, row) => unicodeAt(sign, 300, 300 - 10.5 * row)).join("");
  const text = await read({
    pages: [texts.map((each, row) => unicodeAt(each, 60, 740 - 16 * row)).join("") + head],
    ...font(`${texts.join("")}測定値合計`, "H"),
  });
  expect(linesIn(text)).toEqual([...texts, "測定値合計"]);
});
