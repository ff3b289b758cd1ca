/** A run of text on a line, in points from the bottom left. */
export interface SpacedRun {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** One glyph as it is drawn. */
export interface PlacedGlyph {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  /** A space that the document itself sets. */
  readonly isSpace: boolean;
}

/** Pieces of a line that is set letter by letter, at least; shorter ones may be formulas or cells. */
const minPieces = 8;
/** Characters of such a piece, on average: pdf.js leaves some letters together. */
const maxPiece = 1.4;
/** Ordinary words seldom begin so, and no line of them is short of longer ones. */
const startsSpaced = /^\S{1,2} \S{1,2} \S{1,2}(?: |$)/;
/** Share of the characters that are letters; formulas have fewer. */
const minLetters = 0.75;
/** Gaps of which the usual one can be told; of a run with fewer it is that of the line. */
const minGaps = 5;
/**
 * How much wider than between letters a gap between words is, as a share of the font's height: on a line that pdf.js
 * has taken for one run, and on one that it has parted into several at its widest gaps.
 */
const [wordGap, furtherGap] = [0.15, 0.35];

/**
 * The words of lines whose letters are set apart ("T h e  g r i p p e r"), which pdf.js takes for spaces between words.
 * Words end where the document sets a space, or where a gap is wider than those between the line's letters. A line on
 * which neither tells words apart stays as it is. Gives the texts of the runs, as many as there are.
 */
export function withoutLetterSpacing(
  runs: readonly SpacedRun[],
  glyphsOf: (run: SpacedRun) => readonly PlacedGlyph[],
): readonly string[] {
  const texts = runs.map(({ text }) => text);
  const spaced = new Set(runs.filter(({ text }) => startsSpaced.test(text)).map(({ y }) => Math.round(y)));
  if (spaced.size === 0) return texts;
  const lines = new Map<number, number[]>();
  for (const [index, { y, text }] of runs.entries()) {
    if (!spaced.has(Math.round(y)) || text.trim() === "") continue;
    const there = lines.get(Math.round(y));
    if (there === undefined) lines.set(Math.round(y), [index]);
    else there.push(index);
  }
  for (const line of lines.values()) {
    if (!isSpacedOut(line.map((index) => texts[index] ?? ""))) continue;
    const spelled = line.map((index) => ({ index, run: runs[index], glyphs: glyphsIn(runs[index], glyphsOf) }));
    const all = spelled.flatMap(({ glyphs }) => gapsOf(glyphs));
    for (const { index, run, glyphs } of spelled) {
      if (run === undefined || glyphs.length === 0) continue;
      const own = gapsOf(glyphs);
      const letterGap = median(own.length >= minGaps ? own : all);
      const least = letterGap + (line.length > 1 ? furtherGap : wordGap) * run.height;
      const text = wordsOf(glyphs, Math.max(least, 2 * letterGap));
      const isOneWord = line.length === 1 && !text.includes(" ");
      // With a space typed between all letters, none of them ends a word.
      const isTyped = text.length === run.text.trim().length;
      if (!isOneWord && !isTyped) texts[index] = text;
    }
  }
  return texts;
}

function isSpacedOut(texts: readonly string[]): boolean {
  const pieces = texts.flatMap((text) => text.trim().split(/\s+/));
  const all = pieces.join("");
  const letters = all.match(/[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]/gu)?.length ?? 0;
  return pieces.length >= minPieces && all.length <= maxPiece * pieces.length && letters >= minLetters * all.length;
}

/** The glyphs of a run from left to right; none where they are not those of its text. */
function glyphsIn(
  run: SpacedRun | undefined,
  glyphsOf: (run: SpacedRun) => readonly PlacedGlyph[],
): readonly PlacedGlyph[] {
  if (run === undefined) return [];
  const glyphs = glyphsOf(run)
    .filter(({ from, to }) => (from + to) / 2 > run.x && (from + to) / 2 < run.x + run.width)
    .toSorted((a, b) => a.from - b.from);
  const text = glyphs.map((glyph) => (glyph.isSpace ? "" : glyph.text)).join("");
  return plain(text) === plain(run.text) ? glyphs : [];
}

const plain = (text: string): string => text.normalize("NFKC").replace(/\s+/g, "");

/** The gaps between glyphs between which no space is set. */
const gapsOf = (glyphs: readonly PlacedGlyph[]): number[] =>
  glyphs.slice(1).flatMap((glyph, index) => {
    const before = glyphs[index];
    return before === undefined || before.isSpace || glyph.isSpace ? [] : [glyph.from - before.to];
  });

function wordsOf(glyphs: readonly PlacedGlyph[], least: number): string {
  let text = "";
  let end = Number.POSITIVE_INFINITY;
  for (const glyph of glyphs) {
    if ((glyph.isSpace || glyph.from - end > least) && text !== "" && !text.endsWith(" ")) text += " ";
    if (!glyph.isSpace) text += glyph.text;
    end = glyph.to;
  }
  return text.trim();
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
