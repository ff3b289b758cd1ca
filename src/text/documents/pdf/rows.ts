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

/** Runs on one baseline. */
export interface Row {
  runs: Run[];
  y: number;
  height: number;
}

/**
 * Groups runs by baseline, top to bottom. A superscript, which is smaller, is raised by up to half of its line's height
 * and belongs to it.
 */
export function rowsOf(runs: readonly Run[]): Row[] {
  const rows: Row[] = [];
  for (const run of runs.toSorted((a, b) => b.y - a.y)) {
    // Neighbouring columns may be set a few points apart, so the last few rows are tried.
    const row = rows
      .slice(-3)
      .findLast(
        ({ y, height, runs: others }) =>
          Math.abs(y - run.y) <
          reach(
            Math.min(height, run.height),
            Math.max(height, run.height),
            isRank(run) || (others.length === 1 && others.every(isRank)),
          ),
      );
    if (row === undefined) rows.push({ runs: [run], y: run.y, height: run.height });
    else {
      row.runs.push(run);
      if (run.height > row.height) Object.assign(row, { y: run.y, height: run.height });
    }
  }
  for (const row of rows) row.runs.sort((a, b) => a.x - b.x);
  return withRaisedRuns(rows);
}

/** Characters of a raised or lowered run, at most. */
const longestRaised = 20;
/** Such a run touches its line: the gap to the next run is less than this share of the line's height. */
const raisedGap = 0.3;

/**
 * Several raised or lowered runs of a line stand on one baseline, and so look like a line of their own. Each belongs to
 * the line above or below it in which it touches a larger run.
 */
function withRaisedRuns(rows: readonly Row[]): Row[] {
  const added = new Map<Row, Run[]>();
  for (const [index, row] of rows.entries()) {
    if (!row.runs.every(({ text }) => text.length <= longestRaised)) continue;
    const nextTo = [index + 1, index - 1, index + 2, index - 2]
      .flatMap((at) => rows[at] ?? [])
      .filter((other) => Math.abs(other.y - row.y) < 0.48 * other.height && row.height < 0.9 * other.height);
    if (nextTo.length === 0) continue;
    const own: Run[] = [];
    let last: { base: Row; end: number } | undefined;
    for (const run of row.runs) {
      const isNext = last !== undefined && run.x - last.end < raisedGap * last.base.height;
      const base = nextTo.find((other) => touches(run, other)) ?? (isNext ? last?.base : undefined);
      last = base === undefined ? undefined : { base, end: run.x + run.width };
      if (base === undefined) own.push(run);
      else {
        const there = added.get(base);
        if (there === undefined) added.set(base, [run]);
        else there.push(run);
      }
    }
    row.runs = own;
  }
  for (const [row, runs] of added) row.runs = [...row.runs, ...runs].toSorted((a, b) => a.x - b.x);
  return rows.filter(({ runs }) => runs.length > 0);
}

/** Whether a run stands right behind or right before one of a row. */
function touches(run: Run, { runs, height }: Row): boolean {
  let [from, to] = [0, runs.length];
  while (from < to) {
    const half = Math.floor((from + to) / 2);
    if ((runs[half]?.x ?? 0) <= run.x) from = half + 1;
    else to = half;
  }
  const [before, after] = [runs[from - 1], runs[from]];
  const gaps = [
    ...(before === undefined ? [] : [run.x - before.x - before.width]),
    ...(after === undefined ? [] : [after.x - run.x - run.width]),
  ];
  return gaps.some((gap) => Math.abs(gap) < raisedGap * height);
}

/** Browsers raise and lower numbers that are hardly smaller. */
const reach = (small: number, large: number, ofRank: boolean): number =>
  small < (ofRank ? 0.9 : 0.8) * large ? 0.48 * large : 0.45 * small;
const isRank = ({ text }: Run): boolean => /^\s?[-+−–]?\d{1,3}[-+−–]?\s?$/.test(text);

/** A stretch of a row without a gap that could part columns. */
export interface Segment {
  readonly runs: readonly Run[];
  readonly x: number;
  readonly end: number;
  readonly y: number;
  readonly height: number;
  readonly letters: number;
}

/** Columns part by more than this share of the font's height; words of one line by less. */
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

/** A line of running text, as against a label, a cell or an equation. */
export const isProse = ({ x, end, height, letters }: Segment): boolean => letters >= 14 && end - x > 8 * height;

export const middle = (run: Run) => run.x + run.width / 2;

/** Left edges within so many points are one. */
export const edgeWidth = 3;

/** Of any number of them: Math.min takes no more than some hundred thousand. */
export const lowest = (values: readonly number[]): number =>
  values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
