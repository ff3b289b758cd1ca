import {
  crosses,
  type Gutter,
  guttersAsUsual,
  guttersOf,
  hasAll,
  areSamePositions,
  type PageGutters,
  usualGutters,
} from "./columns.js";
import { type LineNumbering, withoutLineNumbers } from "./line-numbers.js";
import { inReadingOrder, leaning } from "./right-to-left.js";
import { isProse, middle, type Row, rowsOf, type Run, segmentsOf } from "./rows.js";

/** Runs on one baseline, left to right. */
export interface Line {
  readonly text: string;
  readonly y: number;
  readonly height: number;
  /** What stands raised at its end: the mark of a footnote, or a power. */
  readonly mark?: string;
}
/** A page whose lines are still to be put in order. */
interface Sheet {
  readonly rows: readonly Row[];
  readonly own: PageGutters;
  readonly isRightToLeft: boolean;
}

/** Pages that wait for the others at the same time; they take memory. */
const maxWaiting = 200;

/** Puts the lines of a document's pages in order. A page that shows no clear columns gets those of the others. */
export class DocumentLayout {
  readonly #numbering: LineNumbering = {};
  readonly #pages: ((Sheet & { readonly others: readonly Line[] }) | readonly Line[])[] = [];
  readonly #gutters: (readonly Gutter[])[] = [];
  #waiting = 0;

  /** Adds a page: its runs by the direction of their writing, the most used first. */
  add([main = [], ...rest]: readonly (readonly Run[])[]): void {
    const sheet = sheetOf(main, this.#numbering);
    const others = rest.flatMap(linesOf);
    const { gutters, mayHaveOthers } = sheet.own;
    const isDoubtful = gutters.length === 0 ? mayHaveOthers : !areSamePositions(gutters, this.#gutters.at(-1) ?? []);
    this.#gutters.push(gutters);
    if (isDoubtful && this.#waiting < maxWaiting) {
      this.#waiting += 1;
      this.#pages.push({ ...sheet, others });
    } else this.#pages.push([...linesOn(sheet, gutters), ...others]);
  }

  /** The lines of each page. */
  pages(): (readonly Line[])[] {
    const usual = usualGutters(this.#gutters);
    return this.#pages.map((page) => {
      if (!("own" in page)) return page;
      const { gutters } = page.own;
      const isUsual = usual.some((set) => hasAll(gutters, set));
      const chosen = (isUsual ? undefined : guttersAsUsual(page.rows, gutters, usual)) ?? gutters;
      return [...linesOn(page, chosen), ...page.others];
    });
  }
}

/**
 * The lines of a page in reading order. A PDF sets text in any order; columns interleave unless they are told apart.
 * Columns are found by the lines of prose that begin at one place next to other prose, so a table, a plot or equations
 * on the page do not hide them. What stands left of a gutter is read before what stands right of it, between the lines
 * that cross it.
 */
export function linesOf(runs: readonly Run[]): Line[] {
  const sheet = sheetOf(runs, {});
  return linesOn(sheet, sheet.own.gutters);
}

function sheetOf(runs: readonly Run[], numbering: LineNumbering): Sheet {
  const shown = runs.filter((run) => run.text.trim() !== "").map(withoutLetterSpacing);
  const rows = rowsOf(withoutLineNumbers(shown, numbering));
  return { rows, own: guttersOf(rows), isRightToLeft: leaning(runs) < 0 };
}

function linesOn({ rows, isRightToLeft }: Sheet, gutters: readonly Gutter[]): Line[] {
  const lineOf = (row: Row) => asLine(row, isRightToLeft);
  if (gutters.length === 0) return rows.map(lineOf);

  const lines: Line[] = [];
  let band: Row[] = [];
  let around: readonly Gutter[] = [];
  let isBelowCrossing = false;
  const flush = (isAboveCrossing: boolean) => {
    for (const { region, isTable } of regionsOf(band, around, isBelowCrossing, isAboveCrossing))
      lines.push(...(isTable ? region : columnsOf(region, around, isRightToLeft)).map(lineOf));
    band = [];
  };
  for (const row of rows) {
    const here = gutters.filter(({ low, high }) => row.y >= low && row.y < high);
    if (here.length !== around.length || here.some((gutter, index) => gutter !== around[index])) {
      flush(false);
      around = here;
      isBelowCrossing = false;
    }
    if (!here.some((gutter) => crosses(row, gutter))) {
      band.push(row);
      continue;
    }
    flush(true);
    lines.push(lineOf(row));
    isBelowCrossing = true;
  }
  flush(false);
  return lines;
}

/** The rows of each column, one column after the other. Columns need not share baselines: each has its own rows. */
function columnsOf(rows: readonly Row[], gutters: readonly Gutter[], isRightToLeft: boolean): Row[] {
  const columns: Run[][] = Array.from({ length: gutters.length + 1 }, () => []);
  for (const segment of rows.flatMap(segmentsOf)) {
    // A label hung out into the gutter belongs to its line; a narrow gap may part two columns too.
    const isBridge = gutters.some(
      ({ x }) => x - segment.x > segment.height * 3 && segment.end - x > segment.height * 3,
    );
    for (const run of segment.runs)
      columns[columnOf(isBridge ? middle(run) : (segment.x + segment.end) / 2, gutters)]?.push(run);
  }
  return (isRightToLeft ? columns.toReversed() : columns).flatMap(rowsOf);
}

interface Region {
  readonly region: readonly Row[];
  /** Its rows belong together. */
  readonly isTable: boolean;
}

/**
 * A wide table has cells and no prose on either side of a gutter, stands apart from the text, and next to a line that
 * crosses the gutter: its caption. Of a band between crossing lines, such parts at its beginning and end keep their
 * rows.
 */
function regionsOf(
  band: readonly Row[],
  gutters: readonly Gutter[],
  isBelowCrossing: boolean,
  isAboveCrossing: boolean,
): Region[] {
  const parts = partsApart(band);
  const isTable = (part: readonly Row[] | undefined): boolean =>
    part !== undefined &&
    part.length >= 3 &&
    !part.some((row) => segmentsOf(row).some(isProse)) &&
    part.filter((row) =>
      gutters.some(({ x }) => row.runs.some((run) => run.x < x) && row.runs.some((run) => run.x >= x)),
    ).length >
      0.6 * part.length;
  let from = 0;
  let to = parts.length;
  while (isBelowCrossing && from < to && isTable(parts[from])) from += 1;
  while (isAboveCrossing && to > from && isTable(parts[to - 1])) to -= 1;
  const table = (rows: readonly Row[][]): Region[] =>
    rows.length === 0 ? [] : [{ region: rows.flat(), isTable: true }];
  return [
    ...table(parts.slice(0, from)),
    { region: parts.slice(from, to).flat(), isTable: false },
    ...table(parts.slice(to)),
  ];
}

/** Rows parted where more than a line's height is free over the whole width. */
function partsApart(rows: readonly Row[]): Row[][] {
  const parts: Row[][] = [];
  let above: Row | undefined;
  for (const row of rows) {
    const isApart = above === undefined || above.y - row.y > 2 * Math.max(above.height, row.height);
    if (isApart) parts.push([row]);
    else parts.at(-1)?.push(row);
    above = row;
  }
  return parts;
}
const columnOf = (x: number, gutters: readonly Gutter[]): number => gutters.filter((gutter) => gutter.x <= x).length;
/**
 * Headings are written with spaces between their letters. A sequence of genes or the letters of the alphabet are no
 * word.
 */
function withoutLetterSpacing(run: Run): Run {
  if (!/^(?:\p{L} ){4,}\p{L}$/u.test(run.text)) return run;
  const word = run.text.replaceAll(" ", "");
  const letters = Array.from(word.toLowerCase(), (letter) => letter.codePointAt(0) ?? 0);
  const isAlphabet = letters.some((_, at) =>
    [1, 2, 3].every((step) => letters[at + step] === (letters[at] ?? 0) + step),
  );
  const isSequence = letters.length >= 8 && new Set(letters).size <= 4;
  return isAlphabet || isSequence ? run : { ...run, text: word };
}

function asLine(row: Row, isRightToLeft: boolean): Line {
  const gaps = row.runs.slice(1).map((run, index) => run.x - (row.runs[index]?.x ?? 0) - (row.runs[index]?.width ?? 0));
  // "A B S T R A C T", letter by letter: only a wider gap parts words.
  const isSpacedOut = row.runs.length >= 5 && row.runs.every((run) => /^\p{L}$/u.test(run.text.trim()));
  const wide = isSpacedOut ? 1.6 * (gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? 0) : 0;
  const ordered = inReadingOrder(row.runs, isRightToLeft);
  let text = "";
  let end = Number.NEGATIVE_INFINITY;
  let last: Run | undefined;
  for (const run of ordered) {
    if (last !== undefined && isAgain(run, last)) continue;
    const gap =
      last === undefined || ordered === row.runs
        ? run.x - end
        : Math.max(run.x - last.x - last.width, last.x - run.x - run.width);
    const least = Math.max(wide, 0.17 * Math.min(run.height, row.height));
    // Of what was written the last character alone: to look at the whole text for each run takes quadratic time.
    // A footnote begins with its raised mark.
    const isMark =
      last !== undefined &&
      last === ordered[0] &&
      last.height < 0.8 * run.height &&
      /^[\d*∗†‡§¶]{1,3}$/u.test(last.text);
    if (
      last !== undefined &&
      (gap > least || (isMark && /^\p{L}/u.test(run.text))) &&
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

/** Bold letters are made by setting the same ones twice, next to no further apart. */
const isAgain = (run: Run, last: Run): boolean =>
  run.text === last.text &&
  Math.abs(run.x - last.x) < 0.1 * run.height &&
  Math.abs(run.width - last.width) < 0.1 * run.height &&
  Math.abs(run.y - last.y) < 0.1 * run.height;
