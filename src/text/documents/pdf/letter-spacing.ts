/** A run of text on a line, in points from the bottom left of the page. */
export interface SpacedRun {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A glyph and its position on the line, in points. */
export interface PlacedGlyph {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  /** Whether the document contains a space here; a gap alone is not a space. */
  readonly isSpace: boolean;
}

/** Minimum number of pieces in a letter-spaced line. Shorter lines may be formulas or cells of tables. */
const minPieces = 8;
/** Maximum average length of a piece. It is more than 1 because pdf.js may leave some letters together. */
const maxPieceChars = 1.4;
/** The beginning of a letter-spaced line. Few ordinary lines begin with three such short words. */
const letterSpacedStart = /^\S{1,2} \S{1,2} \S{1,2}(?: |$)/;
/** Minimum share of letters among the characters. Formulas have fewer. */
const minLetterShare = 0.75;
/** For a run with fewer gaps, the median gap of the whole line is used. */
const minGaps = 5;
/** Minimum difference between a gap between words and a gap between letters, as a share of the font's height. */
const minWordGap = 0.15;
/** The same if pdf.js split the line into several runs at its widest gaps. */
const minWordGapInSplitLine = 0.35;

/**
 * Joins the letters of letter-spaced lines ("T h e  g r i p p e r") to words; pdf.js takes the spacing for spaces. A
 * word ends at a space of the document, or at a gap that is wider than the gaps between the letters of the line. A line
 * that has neither is not changed.
 * @returns a text for each run, in the same order.
 */
export function withoutLetterSpacing(
  runs: readonly SpacedRun[],
  glyphsOf: (run: SpacedRun) => readonly PlacedGlyph[],
): readonly string[] {
  const texts = runs.map(({ text }) => text);
  const candidateYs = new Set(runs.filter(({ text }) => letterSpacedStart.test(text)).map(({ y }) => Math.round(y)));
  if (candidateYs.size === 0) return texts;
  /** The indexes of the runs of each line. */
  const lines = new Map<number, number[]>();
  for (const [index, { y, text }] of runs.entries()) {
    if (!candidateYs.has(Math.round(y)) || text.trim() === "") continue;
    const indexes = lines.get(Math.round(y));
    if (indexes === undefined) lines.set(Math.round(y), [index]);
    else indexes.push(index);
  }
  for (const line of lines.values()) {
    if (!isLetterSpaced(line.map((index) => texts[index] ?? ""))) continue;
    const runsWithGlyphs = line.map((index) => ({ index, run: runs[index], glyphs: glyphsIn(runs[index], glyphsOf) }));
    const gapsOfLine = runsWithGlyphs.flatMap(({ glyphs }) => gapsOf(glyphs));
    for (const { index, run, glyphs } of runsWithGlyphs) {
      if (run === undefined || glyphs.length === 0) continue;
      const gapsOfRun = gapsOf(glyphs);
      const letterGap = median(gapsOfRun.length >= minGaps ? gapsOfRun : gapsOfLine);
      const wordGap = letterGap + (line.length > 1 ? minWordGapInSplitLine : minWordGap) * run.height;
      const text = wordsOf(glyphs, Math.max(wordGap, 2 * letterGap));
      const isOneWord = line.length === 1 && !text.includes(" ");
      // If the document has a space after each letter, its spaces do not show where words end. Then the text has the
      // same length as before.
      const hasSpacesBetweenLetters = text.length === run.text.trim().length;
      if (!isOneWord && !hasSpacesBetweenLetters) texts[index] = text;
    }
  }
  return texts;
}

function isLetterSpaced(texts: readonly string[]): boolean {
  const pieces = texts.flatMap((text) => text.trim().split(/\s+/));
  const characters = pieces.join("");
  const letterCount = characters.match(/[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]/gu)?.length ?? 0;
  return (
    pieces.length >= minPieces &&
    characters.length <= maxPieceChars * pieces.length &&
    letterCount >= minLetterShare * characters.length
  );
}

/** The glyphs of a run from left to right; empty if they do not form the text of the run. */
function glyphsIn(
  run: SpacedRun | undefined,
  glyphsOf: (run: SpacedRun) => readonly PlacedGlyph[],
): readonly PlacedGlyph[] {
  if (run === undefined) return [];
  const glyphs = glyphsOf(run)
    .filter(({ left, right }) => (left + right) / 2 > run.x && (left + right) / 2 < run.x + run.width)
    .toSorted((a, b) => a.left - b.left);
  const text = glyphs.map((glyph) => (glyph.isSpace ? "" : glyph.text)).join("");
  return withoutSpaces(text) === withoutSpaces(run.text) ? glyphs : [];
}

const withoutSpaces = (text: string): string => text.normalize("NFKC").replace(/\s+/g, "");

/** The widths of the gaps between neighbouring glyphs, without those beside a space. */
const gapsOf = (glyphs: readonly PlacedGlyph[]): number[] =>
  glyphs.slice(1).flatMap((glyph, index) => {
    const before = glyphs[index];
    return before === undefined || before.isSpace || glyph.isSpace ? [] : [glyph.left - before.right];
  });

/** The text of glyphs, with a space at each space glyph and at each gap wider than `wordGap`. */
function wordsOf(glyphs: readonly PlacedGlyph[], wordGap: number): string {
  let text = "";
  let end = Number.POSITIVE_INFINITY;
  for (const glyph of glyphs) {
    if ((glyph.isSpace || glyph.left - end > wordGap) && text !== "" && !text.endsWith(" ")) text += " ";
    if (!glyph.isSpace) text += glyph.text;
    end = glyph.right;
  }
  return text.trim();
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
