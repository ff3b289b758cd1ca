import type { OperatorList } from "./drawn-text.js";
import type { Run } from "./rows.js";

const rightToLeft = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/gu;
const leftToRight =
  /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;
const arabic = /[\u0600-\u08ff\ufb50-\ufdff\ufe70-\ufefc]/;

/**
 * The blocks of Unicode with right-to-left scripts. They are tested first, because they are faster than \p{Script=…},
 * and most lines contain none of these characters.
 */
const rightToLeftBlocks = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;
/**
 * The number of left-to-right letters minus the number of right-to-left letters. 0 if there are no right-to-left
 * letters.
 */
export const directionBalance = (runs: readonly Run[]): number =>
  !runs.some(({ text }) => rightToLeftBlocks.test(text))
    ? 0
    : runs.reduce(
        (sum, { text }) => sum + (text.match(leftToRight)?.length ?? 0) - (text.match(rightToLeft)?.length ?? 0),
        0,
      );

/**
 * The runs of a line in the order in which they are read. Hebrew and Arabic words are read from right to left, and
 * words of other scripts between them from left to right. `runs` are sorted from left to right.
 */
export function inReadingOrder(runs: readonly Run[], isRightToLeft: boolean): readonly Run[] {
  if (!runs.some(({ text }) => rightToLeftBlocks.test(text))) return runs;
  const hasRightToLeft = (run: Run) => run.text.search(rightToLeft) !== -1;
  if (!runs.some(hasRightToLeft) || (!isRightToLeft && directionBalance(runs) > 0)) return runs;
  const isArabic = runs.some(({ text }) => arabic.test(text));
  const ordered: Run[] = [];
  let otherRuns: Run[] = [];
  for (const run of runs.toReversed()) {
    if (!hasRightToLeft(run)) {
      otherRuns.push(run);
      continue;
    }
    ordered.push(...joinInReadingOrder(otherRuns.toReversed(), isArabic), run);
    otherRuns = [];
  }
  return ordered.concat(joinInReadingOrder(otherRuns.toReversed(), isArabic));
}

/** Minimum gap between words, as a share of the font's height. */
const wordGap = 0.17;
/** A number in Hebrew text: "%" and currency signs are part of it. */
const hebrewNumber = /[%$€£°]?\d+(?:[.,:/+-]\d+)*[%$€£°]?/gu;
/** A number in Arabic text, without "%" and currency signs. */
const arabicNumber = /[\d\u0660-\u0669\u06f0-\u06f9]+(?:[.,:/][\d\u0660-\u0669\u06f0-\u06f9]+)*/gu;

/**
 * Joins the runs between Hebrew or Arabic runs to one run in reading order. A part that begins and ends with letters or
 * digits of a left-to-right script keeps its order. If there are no letters, only each number keeps its order.
 * Everything else goes from right to left, with mirrored brackets. This is the inverse of Unicode's bidirectional
 * algorithm (UAX 9).
 */
function joinInReadingOrder(runs: readonly Run[], isArabic: boolean): Run[] {
  const [first] = runs;
  if (first === undefined) return [];
  let text = "";
  let end = first.x;
  for (const run of runs) {
    const needsSpace = run.x - end > wordGap * run.height && !/\s$/.test(text) && !/^\s/.test(run.text);
    text += needsSpace && text !== "" ? ` ${run.text}` : run.text;
    end = Math.max(end, run.x + run.width);
  }
  const number = isArabic ? arabicNumber : hebrewNumber;
  const unchanged = /\p{L}/u.test(text) ? /[\p{L}\p{N}][^]*[\p{L}\p{N}]|[\p{L}\p{N}]/gu : number;
  const height = Math.max(...runs.map((run) => run.height));
  return [{ ...first, text: reverseWithBrackets(text, unchanged), width: end - first.x, height }];
}

/**
 * Reverses a text except the matches of `unchanged`. Some programs write a bracket as it looks ("(" for an open one on
 * the left), others by its meaning. If the first bracket of the result closes, the brackets must not be mirrored.
 */
function reverseWithBrackets(text: string, unchanged: RegExp): string {
  const mirrored = reverseExcept(text, unchanged, mirrorText);
  const beginsWithClosing = /^[^([{]*[)\]}]/.test(mirrored) && /[([{]/.test(mirrored);
  return beginsWithClosing ? reverseExcept(text, unchanged, reverseText) : mirrored;
}

/** Reverses the order of a text's parts; the parts between the matches of `unchanged` are changed by `reverse`. */
function reverseExcept(text: string, unchanged: RegExp, reverse: (between: string) => string): string {
  let result = "";
  let end = 0;
  for (const match of text.matchAll(unchanged)) {
    result = match[0] + reverse(text.slice(end, match.index)) + result;
    end = match.index + match[0].length;
  }
  return reverse(text.slice(end)) + result;
}

const reverseText = (text: string): string => Array.from(text).toReversed().join("");
/** Pairs of brackets: the partner of the bracket at index i is at i ^ 1. */
const brackets = "()[]{}<>«»";
const mirrorText = (text: string): string =>
  reverseText(text).replace(/[()[\]{}<>«»]/g, (bracket) => brackets[brackets.indexOf(bracket) ^ 1] ?? bracket);

/** Glyphs whose letters were already reversed; pdf.js uses the same object for each use of a glyph. */
const reversedGlyphs = new WeakSet<object>();

/**
 * Reverses the letters of glyphs that stand for several Arabic or Hebrew letters (لا). pdf.js later reverses each line
 * letter by letter, and the letters in such a glyph too; then they are in the right order again.
 */
export function reverseLigatures(
  { fnArray, argsArray }: OperatorList,
  operatorNames: readonly (string | undefined)[],
): void {
  for (const [index, operation] of fnArray.entries()) {
    if (operatorNames[operation] !== "showText") continue;
    const [glyphs] = (argsArray[index] ?? []) as readonly ({ unicode?: string } | number | null)[][];
    for (const glyph of glyphs ?? []) {
      if (glyph === null || typeof glyph === "number" || (glyph.unicode?.length ?? 0) < 2) continue;
      if (reversedGlyphs.has(glyph) || !rightToLeftBlocks.test(glyph.unicode ?? "")) continue;
      reversedGlyphs.add(glyph);
      glyph.unicode = Array.from(glyph.unicode ?? "")
        .toReversed()
        .join("");
    }
  }
}
