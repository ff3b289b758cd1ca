import {
  crosses,
  type Gutter,
  guttersAtUsualPositions,
  guttersOf,
  includesPositions,
  areSamePositions,
  type PageGutters,
  usualGutters,
} from "./columns.js";
import { type LineNumbering, withoutLineNumbers } from "./line-numbers.js";
import { inReadingOrder, directionBalance } from "./right-to-left.js";
import { isProse, median, middle, type Row, rowsOf, type Run, segmentsOf } from "./rows.js";

/** The text on one baseline. */
export interface Line {
  readonly text: string;
  readonly y: number;
  readonly height: number;
  /** The superscript at the end of the line: a footnote mark or a power. */
  readonly mark?: string;
}
/** A page whose lines are not in reading order yet. */
interface UnorderedPage {
  readonly rows: readonly Row[];
  readonly pageGutters: PageGutters;
  readonly isRightToLeft: boolean;
}

/** Maximum number of pages whose columns are decided at the end. They take memory. */
const maxUndecided = 200;

/**
 * Puts the lines of a document's pages in reading order. A page without clear columns gets those of the other pages.
 */
export class DocumentLayout {
  readonly #numbering: LineNumbering = {};
  /** Pages whose columns are not decided, and the lines of the others. */
  readonly #pages: ((UnorderedPage & { readonly rotatedLines: readonly Line[] }) | readonly Line[])[] = [];
  readonly #gutters: (readonly Gutter[])[] = [];
  #undecidedCount = 0;

  /** Adds a page: one list of runs for each direction of writing, that of the most used direction first. */
  add([mainRuns = [], ...rotatedRuns]: readonly (readonly Run[])[]): void {
    const page = unorderedPage(mainRuns, this.#numbering);
    const rotatedLines = rotatedRuns.flatMap(linesOf);
    const { gutters, mayHaveOthers } = page.pageGutters;
    const isUndecided = gutters.length === 0 ? mayHaveOthers : !areSamePositions(gutters, this.#gutters.at(-1) ?? []);
    this.#gutters.push(gutters);
    if (isUndecided && this.#undecidedCount < maxUndecided) {
      this.#undecidedCount += 1;
      this.#pages.push({ ...page, rotatedLines });
    } else this.#pages.push([...orderLines(page, gutters), ...rotatedLines]);
  }

  /** The lines of each page. */
  pages(): (readonly Line[])[] {
    const usualSets = usualGutters(this.#gutters);
    return this.#pages.map((page) => {
      if (!("pageGutters" in page)) return page;
      const { gutters } = page.pageGutters;
      const isUsual = usualSets.some((set) => includesPositions(gutters, set));
      const chosenGutters = (isUsual ? undefined : guttersAtUsualPositions(page.rows, gutters, usualSets)) ?? gutters;
      return [...orderLines(page, chosenGutters), ...page.rotatedLines];
    });
  }
}

/**
 * The lines of a page in reading order. A PDF may contain its text in any order, and the lines of columns are at the
 * same heights. A column is recognised by lines of prose that begin at the same x beside other prose. So a table, a
 * plot or equations on the page do not hide it. The lines that cross a gutter divide the page; between two of them, the
 * text left of the gutter comes before the text right of it.
 */
export function linesOf(runs: readonly Run[]): Line[] {
  const page = unorderedPage(runs, {});
  return orderLines(page, page.pageGutters.gutters);
}

function unorderedPage(runs: readonly Run[], numbering: LineNumbering): UnorderedPage {
  const nonEmptyRuns = runs.filter((run) => run.text.trim() !== "").map(withoutSpacing);
  const rows = rowsOf(withoutLineNumbers(nonEmptyRuns, numbering));
  return { rows, pageGutters: guttersOf(rows), isRightToLeft: directionBalance(runs) < 0 };
}

function orderLines({ rows, isRightToLeft }: UnorderedPage, gutters: readonly Gutter[]): Line[] {
  const lineOf = (row: Row) => asLine(row, isRightToLeft);
  if (gutters.length === 0) return rows.map(lineOf);

  const lines: Line[] = [];
  /** Rows that cross no gutter and have the same gutters. */
  let band: Row[] = [];
  let bandGutters: readonly Gutter[] = [];
  let isBelowCrossing = false;
  const addBand = (isAboveCrossing: boolean) => {
    for (const { rows: regionRows, isTable } of regionsOf(band, bandGutters, isBelowCrossing, isAboveCrossing))
      lines.push(...(isTable ? regionRows : columnsOf(regionRows, bandGutters, isRightToLeft)).map(lineOf));
    band = [];
  };
  for (const row of rows) {
    const rowGutters = gutters.filter(({ low, high }) => row.y >= low && row.y < high);
    if (rowGutters.length !== bandGutters.length || rowGutters.some((gutter, index) => gutter !== bandGutters[index])) {
      addBand(false);
      bandGutters = rowGutters;
      isBelowCrossing = false;
    }
    if (!rowGutters.some((gutter) => crosses(row, gutter))) {
      band.push(row);
      continue;
    }
    addBand(true);
    lines.push(lineOf(row));
    isBelowCrossing = true;
  }
  addBand(false);
  return lines;
}

/** The rows of each column, one column after the other. Each column gets rows of its own, as baselines may differ. */
function columnsOf(rows: readonly Row[], gutters: readonly Gutter[], isRightToLeft: boolean): Row[] {
  const columns: Run[][] = Array.from({ length: gutters.length + 1 }, () => []);
  for (const segment of rows.flatMap(segmentsOf)) {
    // A segment far into both columns has a narrow gutter in it, and is divided. A segment that only begins in the
    // gutter, such as a label with its line, is not.
    const containsGutter = gutters.some(
      ({ x }) => x - segment.x > segment.height * 3 && segment.end - x > segment.height * 3,
    );
    for (const run of segment.runs)
      columns[columnOf(containsGutter ? middle(run) : (segment.x + segment.end) / 2, gutters)]?.push(run);
  }
  return (isRightToLeft ? columns.toReversed() : columns).flatMap(rowsOf);
}

/** A part of a band. */
interface Region {
  readonly rows: readonly Row[];
  /** Whether its rows must not be divided at the gutters. */
  readonly isTable: boolean;
}

/**
 * Finds wide tables at the beginning and the end of a band. A wide table has cells on both sides of a gutter, no prose,
 * a gap between it and the text, and beside it a line that crosses the gutter: its caption.
 */
function regionsOf(
  band: readonly Row[],
  gutters: readonly Gutter[],
  isBelowCrossing: boolean,
  isAboveCrossing: boolean,
): Region[] {
  const parts = splitAtGaps(band);
  const isTable = (part: readonly Row[] | undefined): boolean =>
    part !== undefined &&
    part.length >= 3 &&
    !part.some((row) => segmentsOf(row).some(isProse)) &&
    part.filter((row) =>
      gutters.some(({ x }) => row.runs.some((run) => run.x < x) && row.runs.some((run) => run.x >= x)),
    ).length >
      0.6 * part.length;
  let textStart = 0;
  let textEnd = parts.length;
  while (isBelowCrossing && textStart < textEnd && isTable(parts[textStart])) textStart += 1;
  while (isAboveCrossing && textEnd > textStart && isTable(parts[textEnd - 1])) textEnd -= 1;
  const tableRegions = (tables: readonly Row[][]): Region[] =>
    tables.length === 0 ? [] : [{ rows: tables.flat(), isTable: true }];
  return [
    ...tableRegions(parts.slice(0, textStart)),
    { rows: parts.slice(textStart, textEnd).flat(), isTable: false },
    ...tableRegions(parts.slice(textEnd)),
  ];
}

/** Divides rows at each empty space that is higher than a line. */
function splitAtGaps(rows: readonly Row[]): Row[][] {
  const parts: Row[][] = [];
  let above: Row | undefined;
  for (const row of rows) {
    const hasGapAbove = above === undefined || above.y - row.y > 2 * Math.max(above.height, row.height);
    if (hasGapAbove) parts.push([row]);
    else parts.at(-1)?.push(row);
    above = row;
  }
  return parts;
}
const columnOf = (x: number, gutters: readonly Gutter[]): number => gutters.filter((gutter) => gutter.x <= x).length;

/**
 * Removes the spaces between the letters of a word, as in some headings. A gene sequence, or letters in the order of
 * the alphabet, are not a word and keep their spaces.
 */
function withoutSpacing(run: Run): Run {
  if (!/^(?:\p{L} ){4,}\p{L}$/u.test(run.text)) return run;
  const word = run.text.replaceAll(" ", "");
  const letters = Array.from(word.toLowerCase(), (letter) => letter.codePointAt(0) ?? 0);
  const isAlphabet = letters.some((_, index) =>
    [1, 2, 3].every((step) => letters[index + step] === (letters[index] ?? 0) + step),
  );
  const isGeneSequence = letters.length >= 8 && new Set(letters).size <= 4;
  return isAlphabet || isGeneSequence ? run : { ...run, text: word };
}

function asLine(row: Row, isRightToLeft: boolean): Line {
  const gaps = row.runs.slice(1).map((run, index) => run.x - (row.runs[index]?.x ?? 0) - (row.runs[index]?.width ?? 0));
  // In a letter-spaced line such as "A B S T R A C T", only a wider gap separates words.
  const isLetterSpaced = row.runs.length >= 5 && row.runs.every((run) => /^\p{L}$/u.test(run.text.trim()));
  const spacedWordGap = isLetterSpaced ? 1.6 * median(gaps) : 0;
  const ordered = inReadingOrder(row.runs, isRightToLeft);
  let text = "";
  let end = Number.NEGATIVE_INFINITY;
  let last: Run | undefined;
  for (const run of ordered) {
    if (last !== undefined && isDuplicate(run, last)) continue;
    const gap =
      last === undefined || ordered === row.runs
        ? run.x - end
        : Math.max(run.x - last.x - last.width, last.x - run.x - run.width);
    const minWordGap = Math.max(spacedWordGap, 0.17 * Math.min(run.height, row.height));
    // A footnote begins with its superscript mark.
    const isAfterMark =
      last !== undefined &&
      last === ordered[0] &&
      last.height < 0.8 * run.height &&
      /^[\d*∗†‡§¶]{1,3}$/u.test(last.text);
    // Only the last run is tested for a space: a test of the whole text for each run would take quadratic time.
    if (
      last !== undefined &&
      (gap > minWordGap || (isAfterMark && /^\p{L}/u.test(run.text))) &&
      !/\s/.test(last.text.at(-1) ?? "") &&
      !/\s/.test(run.text[0] ?? "")
    )
      text += " ";
    text += run.text;
    end = Math.max(end, run.x + run.width);
    last = run;
  }
  const line = { text: text.replace(/\s+/g, " ").trim(), y: row.y, height: row.height };
  if (last === undefined || last.height >= 0.85 * row.height || last.y <= row.y + 0.1 * row.height) return line;
  return { ...line, mark: last.text.trim() };
}

/** Whether a run has the same text and position as the last one. Some programs draw text twice to make it bold. */
const isDuplicate = (run: Run, last: Run): boolean =>
  run.text === last.text &&
  Math.abs(run.x - last.x) < 0.1 * run.height &&
  Math.abs(run.width - last.width) < 0.1 * run.height &&
  Math.abs(run.y - last.y) < 0.1 * run.height;
