/** A run of characters as a PDF sets it. The origin is at the bottom left of the page; lengths are in points. */
export interface Run {
  readonly text: string;
  readonly x: number;
  /** Of the baseline. */
  readonly y: number;
  readonly width: number;
  /** Of the font. */
  readonly height: number;
}

/** Runs on one baseline, left to right. */
export interface Line {
  readonly text: string;
  readonly y: number;
  readonly height: number;
}

interface Row {
  runs: Run[];
  y: number;
  height: number;
}

/**
 * The lines of a page in reading order. A PDF sets text in any order; columns interleave unless they are told apart: where most rows leave
 * the same gutter free, what stands left of it is read before what stands right of it, between the lines that cross it.
 */
export function linesOf(runs: readonly Run[]): Line[] {
  const rows = rowsOf(runs.filter((run) => run.text.trim() !== "").map(withoutLetterSpacing));
  const gutters = guttersOf(rows);
  const isRightToLeft = leaning(runs) < 0;
  const lineOf = (row: Row) => asLine(row, isRightToLeft);
  if (gutters.length === 0) return rows.map(lineOf);

  const lines: Line[] = [];
  let columns: Row[][] = [];
  const flush = () => {
    lines.push(...(isRightToLeft ? columns.toReversed() : columns).flat().map(lineOf));
    columns = Array.from({ length: gutters.length + 1 }, () => []);
  };
  flush();
  for (const row of rows) {
    if (gutters.some((gutter) => crosses(row, gutter))) {
      flush();
      lines.push(lineOf(row));
      continue;
    }
    for (const [index, column] of columns.entries()) {
      const own = row.runs.filter((run) => columnOf(run, gutters) === index);
      // Columns need not share baselines: each has its own rows.
      if (own.length > 0)
        column.push({ runs: own, y: weightedY(own), height: Math.max(...own.map((run) => run.height)) });
    }
  }
  flush();
  return lines;
}

const columnOf = (run: Run, gutters: readonly Gutter[]): number => gutters.filter(({ x }) => x <= middle(run)).length;

/** Headings are set with space between their letters, which pdf.js takes for spaces between words. */
const withoutLetterSpacing = (run: Run): Run =>
  /^(?:\p{L} ){4,}\p{L}$/u.test(run.text) ? { ...run, text: run.text.replaceAll(" ", "") } : run;

const middle = (run: Run) => run.x + run.width / 2;

/** Groups runs by baseline, top to bottom. A superscript, which is smaller, is raised by up to half of its line's height and belongs to it. */
function rowsOf(runs: readonly Run[]): Row[] {
  const rows: Row[] = [];
  for (const run of runs.toSorted((a, b) => b.y - a.y)) {
    // Neighbouring columns may be set a few points apart, so the last few rows are tried.
    const row = rows
      .slice(-3)
      .findLast(
        ({ y, height }) => Math.abs(y - run.y) < reach(Math.min(height, run.height), Math.max(height, run.height)),
      );
    if (row === undefined) rows.push({ runs: [run], y: run.y, height: run.height });
    else {
      row.runs.push(run);
      if (run.height > row.height) Object.assign(row, { y: run.y, height: run.height });
    }
  }
  for (const row of rows) row.runs.sort((a, b) => a.x - b.x);
  return rows;
}

const reach = (small: number, large: number): number => (small < 0.8 * large ? 0.48 * large : 0.45 * small);

const weightedY = (runs: readonly Run[]) => runs.reduce((widest, run) => (run.width > widest.width ? run : widest)).y;

interface Gutter {
  readonly x: number;
  readonly left: number;
  readonly right: number;
}

/** Where the page's columns part; empty where it has one. Three are looked for first: of two, the outer thirds are never free. */
function guttersOf(rows: readonly Row[]): readonly Gutter[] {
  if (rows.length < 6) return [];
  const runs = rows.flatMap((row) => row.runs);
  const left = Math.min(...runs.map((run) => run.x));
  const right = Math.max(...runs.map((run) => run.x + run.width));
  const share = (part: number) => left + part * (right - left);
  const places: readonly (readonly (readonly [number, number])[])[] = [
    [
      [0.25, 0.42],
      [0.58, 0.75],
    ],
    [[0.35, 0.65]],
  ];
  for (const columns of places) {
    const found = columns.map(([from, to]) => freest(rows, share(from), share(to)));
    if (found.some((each) => each.crossing > 0.6 * rows.length)) continue;
    const gutters = found.map(({ x }) => ({ x, left, right }));
    const free = rows.filter((row) => gutters.every(({ x }) => !touches(row, x)));
    const sides = Array.from({ length: gutters.length + 1 }, (_, index) =>
      free.map((row) => row.runs.filter((run) => columnOf(run, gutters) === index)).filter((own) => own.length > 0),
    );
    const areSet = sides.every((side) => side.length >= 4 && looksSet(side, (right - left) / sides.length));
    if (areSet && sides.slice(1).every((side, index) => overlap([sides[index] ?? [], side]))) return gutters;
  }
  return [];
}

/** The place that the fewest rows cross; of several the one nearest to the middle. */
function freest(rows: readonly Row[], from: number, to: number): { readonly x: number; readonly crossing: number } {
  let best = { x: from, crossing: Number.POSITIVE_INFINITY };
  const off = (x: number) => Math.abs(x - (from + to) / 2);
  for (let x = from; x <= to; x += 2) {
    const crossing = rows.filter((row) => touches(row, x)).length;
    if (crossing < best.crossing || (crossing === best.crossing && off(x) < off(best.x))) best = { x, crossing };
  }
  return best;
}

/** A column of prose fills its width; a table's column, which must not be torn from its rows, does not. */
function looksSet(rows: readonly (readonly Run[])[], width: number): boolean {
  const fills = rows.map((runs) => runs.reduce((sum, run) => sum + run.width, 0) / width).toSorted((a, b) => a - b);
  return (fills[Math.floor(fills.length / 2)] ?? 0) > 0.55;
}

/** Columns stand side by side; a page whose lower half is merely indented has none. */
function overlap(sides: readonly (readonly (readonly Run[])[])[]): boolean {
  const ranges = sides
    .map((side) => side.map((runs) => runs[0]?.y ?? 0))
    .map((ys) => ({ low: Math.min(...ys), high: Math.max(...ys) }));
  const [a, b] = ranges;
  if (a === undefined || b === undefined) return false;
  const shared = Math.min(a.high, b.high) - Math.max(a.low, b.low);
  return shared > 0.4 * Math.min(a.high - a.low, b.high - b.low);
}

/** Whether text stands at `x` or so near to both its sides that only a word space is free: columns part by more than 0.6 of the font's height. */
function touches(row: Row, x: number): boolean {
  const before = Math.max(
    ...row.runs.filter((run) => middle(run) < x).map((run) => run.x + run.width),
    Number.NEGATIVE_INFINITY,
  );
  const after = Math.min(...row.runs.filter((run) => middle(run) >= x).map((run) => run.x), Number.POSITIVE_INFINITY);
  return before > x || after < x || after - before < 0.6 * row.height;
}

/** Whether a row spans both columns. One that only sticks out a little (an overfull line, a page number in the middle) does not. */
function crosses(row: Row, gutter: Gutter): boolean {
  if (!touches(row, gutter.x)) return false;
  const start = Math.min(...row.runs.map((run) => run.x));
  const end = Math.max(...row.runs.map((run) => run.x + run.width));
  const least = 0.08 * (gutter.right - gutter.left);
  return gutter.x - start > least && end - gutter.x > least;
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
    const gap =
      last === undefined || ordered === row.runs
        ? run.x - end
        : Math.max(run.x - last.x - last.width, last.x - run.x - run.width);
    const least = Math.max(wide, 0.17 * Math.min(run.height, row.height));
    if (text !== "" && gap > least && !/\s$/.test(text) && !/^\s/.test(run.text)) text += " ";
    text += run.text;
    end = Math.max(end, run.x + run.width);
    last = run;
  }
  return { text: text.replace(/\s+/g, " ").trim(), y: row.y, height: row.height };
}

const rightToLeft = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/gu;
const leftToRight =
  /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/** Letters of scripts that run to the right, less those that run to the left. */
const leaning = (runs: readonly Run[]): number =>
  runs.reduce(
    (sum, { text }) => sum + (text.match(leftToRight)?.length ?? 0) - (text.match(rightToLeft)?.length ?? 0),
    0,
  );

/** In Hebrew and Arabic lines words stand from right to left, and those of other scripts among them from left to right. */
function inReadingOrder(runs: readonly Run[], isRightToLeft: boolean): readonly Run[] {
  const holds = (run: Run) => run.text.search(rightToLeft) !== -1;
  if (!runs.some(holds) || (!isRightToLeft && leaning(runs) > 0)) return runs;
  const ordered: Run[] = [];
  let others: Run[] = [];
  for (const run of runs.toReversed()) {
    if (holds(run)) {
      ordered.push(...others, run);
      others = [];
    } else others.unshift(run);
  }
  return [...ordered, ...others];
}
