import type { Operators } from "./ink.js";
import type { Run } from "./rows.js";

const rightToLeft = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/gu;
const leftToRight =
  /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;
const arabic = /[\u0600-\u08ff\ufb50-\ufdff\ufe70-\ufefc]/;

/** Where Unicode has them; to ask for a script takes longer, and next to no line of a document holds one of these. */
const maybeRightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;
/** Letters of scripts that run to the right, less those that run to the left. */
export const leaning = (runs: readonly Run[]): number =>
  !runs.some(({ text }) => maybeRightToLeft.test(text))
    ? 0
    : runs.reduce(
        (sum, { text }) => sum + (text.match(leftToRight)?.length ?? 0) - (text.match(rightToLeft)?.length ?? 0),
        0,
      );

/**
 * In Hebrew and Arabic lines words stand from right to left, and those of other scripts among them from left to right.
 * `runs` are given from left to right.
 */
export function inReadingOrder(runs: readonly Run[], isRightToLeft: boolean): readonly Run[] {
  if (!runs.some(({ text }) => maybeRightToLeft.test(text))) return runs;
  const holds = (run: Run) => run.text.search(rightToLeft) !== -1;
  if (!runs.some(holds) || (!isRightToLeft && leaning(runs) > 0)) return runs;
  const isArabic = runs.some(({ text }) => arabic.test(text));
  const ordered: Run[] = [];
  let others: Run[] = [];
  for (const run of runs.toReversed()) {
    if (!holds(run)) {
      others.push(run);
      continue;
    }
    ordered.push(...asWritten(others.toReversed(), isArabic), run);
    others = [];
  }
  return ordered.concat(asWritten(others.toReversed(), isArabic));
}

/** Words further apart than this, in heights of the font, have a space between them. */
const wordGap = 0.17;
/** Digits with what stands between those of one number; Hebrew numbers keep their signs, Arabic ones do not. */
const hebrewNumber = /[%$€£°]?\d+(?:[.,:/+-]\d+)*[%$€£°]?/gu;
const arabicNumber = /[\d\u0660-\u0669\u06f0-\u06f9]+(?:[.,:/][\d\u0660-\u0669\u06f0-\u06f9]+)*/gu;

/**
 * Runs between Hebrew or Arabic ones, as one run in the order in which it is written: what begins and ends with letters
 * or digits of a left-to-right script stays so; numbers alone, and signs around either, go from right to left, brackets
 * turned. That is Unicode's algorithm (UAX 9) backwards.
 */
function asWritten(runs: readonly Run[], isArabic: boolean): Run[] {
  const [first] = runs;
  if (first === undefined) return [];
  let text = "";
  let end = first.x;
  for (const run of runs) {
    const isApart = run.x - end > wordGap * run.height && !/\s$/.test(text) && !/^\s/.test(run.text);
    text += isApart && text !== "" ? ` ${run.text}` : run.text;
    end = Math.max(end, run.x + run.width);
  }
  const numbers = isArabic ? arabicNumber : hebrewNumber;
  const kept = /\p{L}/u.test(text) ? /[\p{L}\p{N}][^]*[\p{L}\p{N}]|[\p{L}\p{N}]/gu : numbers;
  const height = Math.max(...runs.map((run) => run.height));
  return [{ ...first, text: turnedAround(text, kept), width: end - first.x, height }];
}

/**
 * Some programs name a bracket by how it looks, others by how it is written: a bracket that closes what was never
 * opened tells.
 */
function turnedAround(text: string, kept: RegExp): string {
  const turned = backwards(text, kept, mirrored);
  return /^[^([{]*[)\]}]/.test(turned) && /[([{]/.test(turned) ? backwards(text, kept, reversed) : turned;
}

/** A text from its end to its beginning, but for what matches. */
function backwards(text: string, kept: RegExp, turn: (between: string) => string): string {
  let turned = "";
  let at = 0;
  for (const match of text.matchAll(kept)) {
    turned = match[0] + turn(text.slice(at, match.index)) + turned;
    at = match.index + match[0].length;
  }
  return turn(text.slice(at)) + turned;
}

const reversed = (text: string): string => Array.from(text).toReversed().join("");
const brackets = "()[]{}<>«»";
const mirrored = (text: string): string =>
  reversed(text).replace(/[()[\]{}<>«»]/g, (sign) => brackets[brackets.indexOf(sign) ^ 1] ?? sign);

/** Glyphs that stand for several letters, as they have been turned. */
const turnedGlyphs = new WeakSet<object>();

/**
 * A glyph may stand for several Arabic or Hebrew letters (لا). pdf.js turns each line letter by letter, and these with
 * it; turned before, they come out as they are written. The glyphs are those that pdf.js keeps.
 */
export function turnLigatures({ fnArray, argsArray }: Operators, names: readonly (string | undefined)[]): void {
  for (const [at, operation] of fnArray.entries()) {
    if (names[operation] !== "showText") continue;
    const [glyphs] = (argsArray[at] ?? []) as readonly ({ unicode?: string } | number | null)[][];
    for (const glyph of glyphs ?? []) {
      if (glyph === null || typeof glyph === "number" || (glyph.unicode?.length ?? 0) < 2) continue;
      if (turnedGlyphs.has(glyph) || !maybeRightToLeft.test(glyph.unicode ?? "")) continue;
      turnedGlyphs.add(glyph);
      glyph.unicode = Array.from(glyph.unicode ?? "")
        .toReversed()
        .join("");
    }
  }
}
