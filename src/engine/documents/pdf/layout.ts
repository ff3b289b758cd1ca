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
 * The lines of a page in reading order. A PDF sets text in any order; columns interleave unless they are told apart.
 * Columns are found by the lines of prose that begin at one place next to other prose, so a table, a plot or equations
 * on the page do not hide them. What stands left of a gutter is read before what stands right of it, between the lines
 * that cross it.
 */
export function linesOf(runs: readonly Run[], numbering: LineNumbering = {}): Line[] {
  const shown = runs.filter((run) => run.text.trim() !== "").map(withoutLetterSpacing);
  const rows = rowsOf(withoutLineNumbers(shown, numbering));
  const gutters = guttersOf(rows);
  const isRightToLeft = leaning(runs) < 0;
  const lineOf = (row: Row) => asLine(row, isRightToLeft);
  if (gutters.length === 0) return rows.map(lineOf);

  const lines: Line[] = [];
  let band: Row[] = [];
  let isBelowCrossing = false;
  const flush = (isAboveCrossing: boolean) => {
    for (const { region, isTable } of regionsOf(band, gutters, isBelowCrossing, isAboveCrossing))
      lines.push(...(isTable ? region : columnsOf(region, gutters, isRightToLeft)).map(lineOf));
    band = [];
  };
  for (const row of rows) {
    if (!gutters.some((gutter) => crosses(row, gutter))) {
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

/** Numbers in the margin of a page, at least, where the page before has none: of each line, and of each fifth. */
const [minNumbered, minFifths] = [5, 3];

/** How the lines of a document are numbered in the margin, as far as its pages have been read. */
export interface LineNumbering {
  series?: readonly Series[];
}

/** Numbers one below the other. */
interface Series {
  readonly left: number;
  readonly right: number;
  readonly last: number;
  readonly step: number;
}

/**
 * Manuscripts for review number their lines in the margins: one below the other, outside of all text, one more (or
 * five) each time. Few numbers are such where they go on from those of the page before, or begin anew in their place.
 */
function withoutLineNumbers(runs: readonly Run[], numbering: LineNumbering): readonly Run[] {
  const numbers = runs.filter(({ text }) => /^\s*\d{1,4}\s*$/.test(text));
  const words = runs.filter(({ text }) => /\p{L}{3}/u.test(text));
  const known = numbering.series ?? [];
  const least = known.length > 0 ? 1 : minFifths;
  if (words.length < minNumbered || numbers.length < least) return runs;
  const gone = new Set<Run>();
  const found: Series[] = [];
  for (const edgeOf of [(run: Run) => run.x, (run: Run) => run.x + run.width])
    for (const column of groupedBy(numbers, (run) => Math.round(edgeOf(run) / edgeWidth))) {
      if (column.length < least) continue;
      const left = lowest(column.map(({ x }) => x));
      const right = -lowest(column.map(({ x, width }) => -(x + width)));
      const after = words.filter(({ x }) => x > right);
      const before = words.filter(({ x, width }) => x + width < left);
      const onOneSide = Math.max(after.length, before.length);
      if (after.length + before.length < words.length || onOneSide < 0.95 * words.length) continue;
      const down = column.toSorted((a, b) => b.y - a.y);
      const values = down.map(({ text }) => Number(text));
      const steps = values.slice(1).map((value, index) => value - (values[index] ?? 0));
      const [first = 0, last = 0] = [values[0], values.at(-1)];
      const goesOn = known.find(
        (one) =>
          (Math.abs(one.left - left) < edgeWidth || Math.abs(one.right - right) < edgeWidth) &&
          steps.every((step) => step === one.step) &&
          (first === one.last + one.step || first === one.step),
      );
      const step = goesOn?.step ?? stepOf(down, steps, after.length > before.length ? after : before);
      if (step === undefined) continue;
      for (const run of column) gone.add(run);
      found.push({ left, right, last, step });
    }
  if (gone.size === 0) return runs;
  numbering.series = found;
  return runs.filter((run) => !gone.has(run));
}

/**
 * 1 where numbers count the lines next to them, 5 where they count each fifth; undefined where they count something
 * else: entries of several lines, rows of a table, years.
 */
function stepOf(numbers: readonly Run[], steps: readonly number[], words: readonly Run[]): number | undefined {
  const distance = (run: Run) => {
    const [{ x = 0, width = 0 } = {}] = numbers;
    return run.x > x ? run.x - x - width : x - run.x - run.width;
  };
  // Those with which lines begin, or end.
  const least = lowest(words.map(distance));
  const baselines = words.filter((word) => distance(word) < least + nearText).map(({ y }) => y);
  const linesBetween = numbers.slice(1).map((below, index) => {
    const above = numbers[index]?.y ?? 0;
    return new Set(baselines.filter((y) => y < above - 2 && y > below.y + 2).map(Math.round)).size;
  });
  const share = (isSo: (step: number, between: number) => boolean) =>
    steps.filter((step, index) => isSo(step, linesBetween[index] ?? 0)).length / steps.length;
  if (numbers.length >= minNumbered && share((step) => step === 1) > 0.8)
    return share((_, between) => between === 0) > 0.5 ? 1 : undefined;
  const onLine = numbers.filter((run) => baselines.some((y) => Math.abs(y - run.y) < 2)).length;
  const isFifths =
    numbers.every(({ text }) => Number(text) % 5 === 0) &&
    share((step) => step === 5) > (numbers.length >= minNumbered ? 0.8 : 0.99) &&
    share((_, between) => between >= 4) > 0.8 &&
    onLine > 0.8 * numbers.length;
  return isFifths ? 5 : undefined;
}

/** Beginnings of lines are not further from their numbers than the nearest and so many points. */
const nearText = 100;

function groupedBy<Value>(values: readonly Value[], keyOf: (value: Value) => number): readonly Value[][] {
  const groups = new Map<number, Value[]>();
  for (const value of values) {
    const there = groups.get(keyOf(value));
    if (there === undefined) groups.set(keyOf(value), [value]);
    else there.push(value);
  }
  return [...groups.values()];
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

const middle = (run: Run) => run.x + run.width / 2;

/**
 * Groups runs by baseline, top to bottom. A superscript, which is smaller, is raised by up to half of its line's height
 * and belongs to it.
 */
function rowsOf(runs: readonly Run[]): Row[] {
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
interface Segment {
  readonly runs: readonly Run[];
  readonly x: number;
  readonly end: number;
  readonly y: number;
  readonly height: number;
  readonly letters: number;
}

/** Columns part by more than this share of the font's height; words of one line by less. */
const columnGap = 0.6;

function segmentsOf(row: Row): Segment[] {
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
const isProse = ({ x, end, height, letters }: Segment): boolean => letters >= 14 && end - x > 8 * height;

/** A place that parts two columns: the left edge of the right one. */
interface Gutter {
  readonly x: number;
  readonly left: number;
  readonly right: number;
}

/** Left edges within so many points are one. */
const edgeWidth = 3;
/** Lines of prose that a column has at least, next to those of its neighbour. */
const minLines = 3;
/** Places that are looked at, those where most lines begin. */
const maxPlaces = 12;

/** Where the page's columns part; empty where it has one. */
function guttersOf(rows: readonly Row[]): readonly Gutter[] {
  const segments = rows.flatMap(segmentsOf);
  const prose = segments.filter(isProse);
  if (prose.length < 2 * minLines) return [];
  const left = lowest(prose.map(({ x }) => x));
  const right = -lowest(prose.map(({ end }) => -end));
  const gutters: Gutter[] = [];
  for (const beginning of commonEdges(prose)) {
    const x = lowest(beginning.map((each) => each.x));
    const from = gutters.at(-1)?.x ?? left;
    if (x - from < 0.15 * (right - left)) continue;
    const before = prose.filter((each) => each.x >= from - edgeWidth && each.end <= x);
    const after = prose.filter((each) => each.x >= x - 1);
    if (!areColumns(before, after, x - from) || isMostlyCrossed(prose, beginning)) continue;
    // Bullets and numbers of items stand before the edge that the lines have in common.
    const end = -lowest(before.map((each) => -each.end));
    const labels = segments.filter((each) => each.x > end && each.x < x && each.end <= x + edgeWidth);
    gutters.push({ x: lowest([x, ...labels.map((each) => each.x)]) - 1, left, right });
  }
  return gutters;
}

/** The lines that begin where many do, for each such place from left to right. */
function commonEdges(prose: readonly Segment[]): Segment[][] {
  const bins = new Map<number, Segment[]>();
  for (const segment of prose) {
    const bin = Math.round(segment.x / edgeWidth);
    const there = bins.get(bin);
    if (there === undefined) bins.set(bin, [segment]);
    else there.push(segment);
  }
  const around = (bin: number) => [bin - 1, bin, bin + 1].flatMap((each) => bins.get(each) ?? []);
  return [...bins.keys()]
    .toSorted((a, b) => a - b)
    .map(around)
    .filter((beginning) => beginning.length >= minLines)
    .toSorted((a, b) => b.length - a.length)
    .slice(0, maxPlaces)
    .toSorted((a, b) => lowest(a.map(({ x }) => x)) - lowest(b.map(({ x }) => x)));
}

/**
 * Two columns stand side by side over some lines, and their lines fill them or run on from one to the next, which those
 * of a table's columns do not.
 */
function areColumns(before: readonly Segment[], after: readonly Segment[], width: number): boolean {
  const besides = (some: readonly Segment[], others: readonly Segment[]) => {
    const [low, high] = [lowest(others.map(({ y }) => y)), -lowest(others.map(({ y }) => -y))];
    return some.filter(({ y, height }) => y >= low - height && y <= high + height);
  };
  const [first, second] = [besides(before, after), besides(after, before)];
  if (first.length < minLines || second.length < minLines) return false;
  const fill = (some: readonly Segment[]) => median(some.map(({ x, end }) => end - x));
  const flows = (some: readonly Segment[]) =>
    some.filter(({ runs }) => /^\p{Ll}/u.test(runs[0]?.text ?? "")).length > 0.4 * some.length;
  return (fill(first) > 0.55 * width && fill(second) > 0.4 * width) || (flows(first) && flows(second));
}

/**
 * Whether as many lines of prose cross a place as begin there: then it is a table's, or that of sentences which happen
 * to begin below one another in the middle of lines.
 */
function isMostlyCrossed(prose: readonly Segment[], beginning: readonly Segment[]): boolean {
  const x = -lowest(beginning.map((each) => -each.x));
  const low = lowest(beginning.map(({ y }) => y));
  const high = -lowest(beginning.map(({ y }) => -y));
  const crossing = prose.filter(
    (each) => each.y >= low && each.y <= high && each.x < x - edgeWidth && each.end > x + edgeWidth,
  );
  return crossing.length >= beginning.length;
}

/** Of any number of them: Math.min takes no more than some hundred thousand. */
const lowest = (values: readonly number[]): number =>
  values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/**
 * Whether a row spans both columns. One that only sticks out a little (an overfull line, a page number in the middle)
 * does not, nor does one whose right part begins just where the column does.
 */
function crosses(row: Row, gutter: Gutter): boolean {
  const least = 0.08 * (gutter.right - gutter.left);
  const segments = segmentsOf(row);
  const over = segments.find(
    ({ x, end }) => gutter.x - x > columnGap * row.height && end - gutter.x > columnGap * row.height,
  );
  if (over === undefined) return false;
  const spansBoth = (x: number, end: number) => gutter.x - x > least && end - gutter.x > least;
  const next = row.runs.findIndex((run) => middle(run) >= gutter.x && run.x > gutter.x - edgeWidth);
  const [before, after] = [row.runs[next - 1], row.runs[next]];
  const beginsColumn = after !== undefined && Math.abs(after.x - gutter.x - 1) < 1.5;
  if (spansBoth(over.x, over.end))
    return !(beginsColumn && before !== undefined && after.x - before.x - before.width > 0.3 * row.height);
  // Words set apart from each other, one of them over the gutter.
  return !beginsColumn && over.x + over.end < 2 * gutter.x && spansBoth(row.runs[0]?.x ?? 0, segments.at(-1)?.end ?? 0);
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
  return { text: text.replace(/\s+/g, " ").trim(), y: row.y, height: row.height };
}

const rightToLeft = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/gu;
const leftToRight =
  /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/** Where Unicode has them; to ask for a script takes longer, and next to no line of a document holds one of these. */
const maybeRightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;
/** Letters of scripts that run to the right, less those that run to the left. */
const leaning = (runs: readonly Run[]): number =>
  !runs.some(({ text }) => maybeRightToLeft.test(text))
    ? 0
    : runs.reduce(
        (sum, { text }) => sum + (text.match(leftToRight)?.length ?? 0) - (text.match(rightToLeft)?.length ?? 0),
        0,
      );

/**
 * In Hebrew and Arabic lines words stand from right to left, and those of other scripts among them from left to right.
 */
function inReadingOrder(runs: readonly Run[], isRightToLeft: boolean): readonly Run[] {
  if (!runs.some(({ text }) => maybeRightToLeft.test(text))) return runs;
  const holds = (run: Run) => run.text.search(rightToLeft) !== -1;
  if (!runs.some(holds) || (!isRightToLeft && leaning(runs) > 0)) return runs;
  const ordered: Run[] = [];
  let others: Run[] = [];
  for (const run of runs.toReversed()) {
    if (!holds(run)) {
      others.push(run);
      continue;
    }
    ordered.push(...others.toReversed(), run);
    others = [];
  }
  return ordered.concat(others.toReversed());
}
