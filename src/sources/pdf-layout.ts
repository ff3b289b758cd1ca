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
 * The lines of a page in reading order. A PDF sets text in any order; two columns interleave unless they are told apart: where most rows
 * leave the same gutter free, what stands left of it is read before what stands right of it, between the lines that cross it.
 */
export function linesOf(runs: readonly Run[]): Line[] {
  const rows = rowsOf(runs.filter((run) => run.text.trim() !== ""));
  const gutter = gutterOf(rows);
  if (gutter === undefined) return rows.map(lineOf);

  const lines: Line[] = [];
  let columns: [Row[], Row[]] = [[], []];
  const flush = () => {
    lines.push(...columns[0].map(lineOf), ...columns[1].map(lineOf));
    columns = [[], []];
  };
  for (const row of rows) {
    if (crosses(row, gutter)) {
      flush();
      lines.push(lineOf(row));
      continue;
    }
    for (const [side, column] of columns.entries()) {
      const own = row.runs.filter((run) => (middle(run) < gutter.x ? 0 : 1) === side);
      // Columns need not share baselines: each has its own rows.
      if (own.length > 0) column.push({ runs: own, y: weightedY(own), height: Math.max(...own.map((run) => run.height)) });
    }
  }
  flush();
  return lines;
}

const middle = (run: Run) => run.x + run.width / 2;

/** Groups runs by baseline, top to bottom. A superscript is raised by up to 0.4 of its line's height and belongs to it. */
function rowsOf(runs: readonly Run[]): Row[] {
  const rows: Row[] = [];
  for (const run of runs.toSorted((a, b) => b.y - a.y)) {
    // Neighbouring columns may be set a few points apart, so the last few rows are tried.
    const row = rows
      .slice(-3)
      .findLast(({ y, height }) => Math.abs(y - run.y) < 0.45 * Math.max(Math.min(height, run.height), 0.6 * Math.max(height, run.height)));
    if (row === undefined) rows.push({ runs: [run], y: run.y, height: run.height });
    else {
      row.runs.push(run);
      if (run.height > row.height) Object.assign(row, { y: run.y, height: run.height });
    }
  }
  for (const row of rows) row.runs.sort((a, b) => a.x - b.x);
  return rows;
}

const weightedY = (runs: readonly Run[]) => runs.reduce((widest, run) => (run.width > widest.width ? run : widest)).y;

interface Gutter {
  readonly x: number;
  readonly left: number;
  readonly right: number;
}

/** Where the page's two columns part, or undefined where it has one. */
function gutterOf(rows: readonly Row[]): Gutter | undefined {
  const runs = rows.flatMap((row) => row.runs);
  if (rows.length < 6) return undefined;
  const left = Math.min(...runs.map((run) => run.x));
  const right = Math.max(...runs.map((run) => run.x + run.width));
  const width = right - left;
  let best: { x: number; crossing: number } | undefined;
  for (let x = left + 0.35 * width; x <= left + 0.65 * width; x += 2) {
    const crossing = rows.filter((row) => touches(row, x)).length;
    // Of several free places the one nearest to the middle is the gutter.
    const nearer = best === undefined || Math.abs(x - left - width / 2) < Math.abs(best.x - left - width / 2);
    if (best === undefined || crossing < best.crossing || (crossing === best.crossing && nearer)) best = { x, crossing };
  }
  if (best === undefined || best.crossing > 0.6 * rows.length) return undefined;

  const gutter = { x: best.x, left, right };
  const free = rows.filter((row) => !touches(row, gutter.x));
  const sides = [0, 1].map((side) =>
    free.map((row) => row.runs.filter((run) => (middle(run) < gutter.x ? 0 : 1) === side)).filter((own) => own.length > 0),
  );
  return sides.every((side) => side.length >= 4 && looksSet(side, width / 2)) && overlap(sides) ? gutter : undefined;
}

/** A column of prose fills its width; a table's column, which must not be torn from its rows, does not. */
function looksSet(rows: readonly (readonly Run[])[], width: number): boolean {
  const fills = rows.map((runs) => runs.reduce((sum, run) => sum + run.width, 0) / width).toSorted((a, b) => a - b);
  return (fills[Math.floor(fills.length / 2)] ?? 0) > 0.55;
}

/** Columns stand side by side; a page whose lower half is merely indented has none. */
function overlap(sides: readonly (readonly (readonly Run[])[])[]): boolean {
  const ranges = sides.map((side) => side.map((runs) => runs[0]?.y ?? 0)).map((ys) => ({ low: Math.min(...ys), high: Math.max(...ys) }));
  const [a, b] = ranges;
  if (a === undefined || b === undefined) return false;
  const shared = Math.min(a.high, b.high) - Math.max(a.low, b.low);
  return shared > 0.4 * Math.min(a.high - a.low, b.high - b.low);
}

/** Whether text stands at `x` or so near to both its sides that only a word space is free: columns part by more than 0.6 of the font's height. */
function touches(row: Row, x: number): boolean {
  const before = Math.max(...row.runs.filter((run) => middle(run) < x).map((run) => run.x + run.width), Number.NEGATIVE_INFINITY);
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

function lineOf(row: Row): Line {
  let text = "";
  let end = Number.NEGATIVE_INFINITY;
  for (const run of row.runs) {
    const gap = run.x - end;
    if (text !== "" && gap > 0.17 * Math.min(run.height, row.height) && !/\s$/.test(text) && !/^\s/.test(run.text)) text += " ";
    text += run.text;
    end = Math.max(end, run.x + run.width);
  }
  return { text: text.replace(/\s+/g, " ").trim(), y: row.y, height: row.height };
}
