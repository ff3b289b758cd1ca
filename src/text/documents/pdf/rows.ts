/** A run of characters as a PDF sets it. The origin is at the bottom left of the page; lengths are in points. */
export interface Run {
  readonly text: string;
  readonly x: number;
  /** The y of the baseline. */
  readonly y: number;
  readonly width: number;
  /** The height of the font. */
  readonly height: number;
}

/** Runs on one baseline. */
export interface Row {
  runs: Run[];
  y: number;
  height: number;
}

/**
 * Groups runs by baseline, from top to bottom. A superscript belongs to its line: it is smaller, and at most half of
 * the line's height above the baseline.
 */
export function rowsOf(runs: readonly Run[]): Row[] {
  const rows: Row[] = [];
  for (const run of runs.toSorted((a, b) => b.y - a.y)) {
    // The baselines of columns side by side may differ by a few points, so the last three rows are tried.
    const row = rows
      .slice(-3)
      .findLast(
        ({ y, height, runs: others }) =>
          Math.abs(y - run.y) <
          maxBaselineDistance(
            Math.min(height, run.height),
            Math.max(height, run.height),
            isSmallNumber(run) || (others.length === 1 && others.every(isSmallNumber)),
          ),
      );
    if (row === undefined) rows.push({ runs: [run], y: run.y, height: run.height });
    else {
      row.runs.push(run);
      if (run.height > row.height) Object.assign(row, { y: run.y, height: run.height });
    }
  }
  for (const row of rows) row.runs.sort((a, b) => a.x - b.x);
  return withScriptsMoved(rows);
}

/** Maximum length of a superscript or subscript. */
const maxScriptChars = 20;
/** Maximum gap between a superscript or subscript and the run beside it, as a share of the line's height. */
const maxScriptGap = 0.3;

/**
 * Moves superscripts and subscripts into their lines. If a line has several of them, they have the same baseline and
 * look like a separate line. Each belongs to the line above or below in which it touches a larger run.
 */
function withScriptsMoved(rows: readonly Row[]): Row[] {
  const movedRuns = new Map<Row, Run[]>();
  for (const [index, row] of rows.entries()) {
    if (!row.runs.every(({ text }) => text.length <= maxScriptChars)) continue;
    const nearRows = [index + 1, index - 1, index + 2, index - 2]
      .flatMap((near) => rows[near] ?? [])
      .filter((near) => Math.abs(near.y - row.y) < 0.48 * near.height && row.height < 0.9 * near.height);
    if (nearRows.length === 0) continue;
    const remainingRuns: Run[] = [];
    let last: { line: Row; end: number } | undefined;
    for (const run of row.runs) {
      const followsLast = last !== undefined && run.x - last.end < maxScriptGap * last.line.height;
      const line = nearRows.find((near) => touches(run, near)) ?? (followsLast ? last?.line : undefined);
      last = line === undefined ? undefined : { line, end: run.x + run.width };
      if (line === undefined) remainingRuns.push(run);
      else {
        const runsOfLine = movedRuns.get(line);
        if (runsOfLine === undefined) movedRuns.set(line, [run]);
        else runsOfLine.push(run);
      }
    }
    row.runs = remainingRuns;
  }
  for (const [row, runs] of movedRuns) row.runs = [...row.runs, ...runs].toSorted((a, b) => a.x - b.x);
  return rows.filter(({ runs }) => runs.length > 0);
}

/** Whether a run is directly before or after a run of a row. */
function touches(run: Run, { runs, height }: Row): boolean {
  // Binary search for the first run of the row that begins after `run`.
  let [low, high] = [0, runs.length];
  while (low < high) {
    const half = Math.floor((low + high) / 2);
    if ((runs[half]?.x ?? 0) <= run.x) low = half + 1;
    else high = half;
  }
  const [before, after] = [runs[low - 1], runs[low]];
  const gaps = [
    ...(before === undefined ? [] : [run.x - before.x - before.width]),
    ...(after === undefined ? [] : [after.x - run.x - run.width]),
  ];
  return gaps.some((gap) => Math.abs(gap) < maxScriptGap * height);
}

/**
 * Maximum distance between the baselines of two runs in the same row, for the heights of their fonts. In PDFs of
 * browsers, numbers as superscripts are hardly smaller than the text.
 */
const maxBaselineDistance = (lowerHeight: number, greaterHeight: number, isNumber: boolean): number =>
  lowerHeight < (isNumber ? 0.9 : 0.8) * greaterHeight ? 0.48 * greaterHeight : 0.45 * lowerHeight;
/** Whether a run is a number of at most three digits, perhaps with a sign. */
const isSmallNumber = ({ text }: Run): boolean => /^\s?[-+−–]?\d{1,3}[-+−–]?\s?$/.test(text);

/** A part of a row. A gap that is wide enough to separate columns ends a segment. */
export interface Segment {
  readonly runs: readonly Run[];
  readonly x: number;
  readonly end: number;
  readonly y: number;
  readonly height: number;
  readonly letters: number;
}

/** Minimum gap between columns, as a share of the font's height. The gaps between the words of a line are smaller. */
export const columnGap = 0.6;

export function segmentsOf(row: Row): Segment[] {
  const segments: { runs: Run[]; x: number; end: number; y: number; height: number; letters: number }[] = [];
  for (const run of row.runs) {
    const last = segments.at(-1);
    const letters = run.text.match(/\p{L}/gu)?.length ?? 0;
    if (
      last !== undefined &&
      run.x - last.end < columnGap * Math.min(row.height, 1.5 * Math.max(run.height, last.height))
    ) {
      last.runs.push(run);
      last.end = Math.max(last.end, run.x + run.width);
      last.letters += letters;
      last.height = Math.max(last.height, run.height);
    } else segments.push({ runs: [run], x: run.x, end: run.x + run.width, y: run.y, height: run.height, letters });
  }
  return segments;
}

/** Whether a segment is a line of running text, and not a label, a cell of a table or an equation. */
export const isProse = ({ x, end, height, letters }: Segment): boolean => letters >= 14 && end - x > 8 * height;

export const middle = (run: Run) => run.x + run.width / 2;

/** Left edges count as equal if their distance is smaller, in points. */
export const edgeTolerance = 3;

/** The minimum. Unlike Math.min, it works for more than a hundred thousand values. */
export const lowest = (values: readonly number[]): number =>
  values.reduce((minimum, value) => Math.min(minimum, value), Number.POSITIVE_INFINITY);
export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
