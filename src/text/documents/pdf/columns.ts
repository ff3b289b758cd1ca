import { columnGap, edgeWidth, isProse, lowest, median, middle, type Row, type Segment, segmentsOf } from "./rows.js";
import { groupBy } from "../../../engine/lib/group.js";

/** A place that parts two columns. Lengths are in points from the bottom left. */
export interface Gutter {
  /** The left edge of the right column, or of the labels before it. */
  readonly x: number;
  /** Where most lines of the right column begin. */
  readonly edge: number;
  /** How far the text of the page reaches. */
  readonly left: number;
  readonly right: number;
  /** What of the page it parts. */
  readonly low: number;
  readonly high: number;
}

/** Lines of prose that a column has at least, next to those of its neighbour. */
const minLines = 3;
/** Places that are looked at, those where most lines begin. */
const maxPlaces = 12;

/** The lines of prose of a page, and how far they reach. */
interface Prose {
  readonly segments: readonly Segment[];
  readonly prose: readonly Segment[];
  readonly left: number;
  readonly right: number;
}

function proseOf(rows: readonly Row[]): Prose {
  const segments = rows.flatMap(segmentsOf);
  const prose = segments.filter(isProse);
  return { segments, prose, left: lowest(prose.map(({ x }) => x)), right: -lowest(prose.map(({ end }) => -end)) };
}

/** Columns are at least this wide, as a share of the text's width. */
const minColumn = 0.15;

/** Where a page's columns part as far as the page itself tells. */
export interface OwnGutters {
  /** Empty where it has one column. */
  readonly gutters: readonly Gutter[];
  /** Lines begin below one another at other places too, so that it may have the columns of the pages around it. */
  readonly mayHaveOthers: boolean;
}

export function guttersOf(rows: readonly Row[]): OwnGutters {
  const page = proseOf(rows);
  const { segments, prose, left, right } = page;
  if (prose.length < 2 * minLines) return { gutters: [], mayHaveOthers: false };
  const gutters: Gutter[] = [];
  const outermost = lowest(segments.map((each) => each.x));
  let others = 0;
  for (const beginning of commonEdges(prose)) {
    const x = lowest(beginning.map((each) => each.x));
    const reach = reachOf(beginning);
    const from = gutters.findLast((gutter) => isBeside(gutter, reach) || isFree(gutter, reach, prose))?.x ?? left;
    if (x - outermost > minColumn * (right - outermost)) others += 1;
    if (x - from < minColumn * (right - left)) continue;
    const isBefore = (each: Segment) => each.x >= from - edgeWidth && each.end <= x;
    const before = prose.filter(isBefore);
    const after = prose.filter((each) => each.x >= x - 1);
    if (isMostlyCrossed(prose, beginning)) continue;
    if (areColumns(before, after, x - from) || isNotes(segments.filter(isBefore), segments, beginning))
      gutters.push(gutterAt(beginning, before, page));
  }
  return { gutters: gutters.map((gutter) => withZone(gutter, prose)), mayHaveOthers: others > gutters.length };
}

interface Reach {
  readonly low: number;
  readonly high: number;
}
const reachOf = (some: readonly Segment[]): Reach => ({
  low: lowest(some.map(({ y }) => y)),
  high: -lowest(some.map(({ y }) => -y)),
});
const isBeside = (one: Reach, other: Reach): boolean => one.low <= other.high && other.low <= one.high;

/** A label is not further from its line than so many heights of its font. */
const labelGap = 1.2;

/** Whether next to no line of prose crosses a gutter over a stretch of the page. */
function isFree({ edge }: Gutter, { low, high }: Reach, prose: readonly Segment[]): boolean {
  const there = prose.filter(({ y }) => y >= low && y <= high);
  const crossing = there.filter((each) => isAcross(each, edge));
  return crossing.length < maxCrossing * there.length;
}

/** Share of the lines that may cross a gutter: captions and headings. */
const maxCrossing = 0.2;

function gutterAt(beginning: readonly Segment[], before: readonly Segment[], { segments, left, right }: Prose): Gutter {
  const first = lowest(beginning.map((each) => each.x));
  // Bullets and numbers of items stand before the edge that the lines have in common.
  const end = -lowest(before.map((each) => -each.end));
  const labels = segments.filter(
    (each) =>
      each.x > end && each.x < first && each.end <= first + edgeWidth && first - each.end < labelGap * each.height,
  );
  return {
    x: lowest([first, ...labels.map((each) => each.x)]) - 1,
    edge: median(beginning.map((each) => each.x)),
    left,
    right,
    ...reachOf(beginning),
  };
}

/**
 * What of the page a gutter parts: where lines begin at it, and above and below up to the next line of prose that
 * crosses it. Names of authors, or keywords next to an abstract, have others than the text below them.
 */
function withZone(gutter: Gutter, prose: readonly Segment[]): Gutter {
  const crossing = prose.filter((each) => isAcross(each, gutter.edge)).map(({ y }) => y);
  const above = lowest(crossing.filter((y) => y > gutter.high));
  const below = -lowest(crossing.filter((y) => y < gutter.low).map((y) => -y));
  return { ...gutter, low: below + halfPoint, high: above - halfPoint };
}

/** Less than lines are apart. */
const halfPoint = 0.5;

const isAcross = ({ x, end }: Segment, edge: number): boolean => x < edge - edgeWidth && end > edge + edgeWidth;

/** Baselines that differ by less than this share of the font's height are one. */
const sameBaseline = 0.1;
/** Of a paragraph so many lines are full; of the cells of a table, which are some lines each, fewer. */
const minFull = 0.7;
/** Lines that run on, of a text next to which notes stand. */
const minBesideNotes = 8;

/**
 * Whether what stands left of running text is set on its own lines: keywords, dates, addresses. The cells of a table
 * share the lines of what they stand next to.
 */
function isNotes(before: readonly Segment[], segments: readonly Segment[], beginning: readonly Segment[]): boolean {
  const { low, high } = reachOf(beginning);
  const start = lowest(beginning.map((each) => each.x));
  const text = segments.filter(({ x, y }) => x >= start - 1 && y >= low && y <= high);
  const ends = beginning.map(({ y }) => -lowest(text.filter((each) => each.y === y).map(({ end }) => -end)));
  const furthest = -lowest(ends.map((end) => -end));
  const full = ends.filter((end) => furthest - end < 0.05 * (furthest - start));
  const beside = before.filter(({ y }) => y >= low && y <= high);
  const runsOn = beginning.filter(({ runs }) => /^\p{Ll}/u.test(runs[0]?.text ?? ""));
  // Rows that are close are one; their runs tell.
  const baseline = ({ runs, y }: Segment) => runs[0]?.y ?? y;
  const alone = beside.filter(
    (each) => !text.some((other) => Math.abs(baseline(other) - baseline(each)) < sameBaseline * each.height),
  );
  return (
    beginning.length >= minBesideNotes &&
    beside.length >= minLines &&
    runsOn.length > 0.4 * beginning.length &&
    full.length > minFull * beginning.length &&
    alone.length > 0.5 * beside.length
  );
}

/** Of the lines of a page that has its document's columns so many begin there; a table's cells are fewer. */
const minShare = 0.15;

/**
 * A page parted where most pages of its document are: a list of contents, the names of authors or a table next to the
 * text can hide its columns, or show others. Undefined where its lines do not begin there.
 */
export function guttersAsUsual(
  rows: readonly Row[],
  own: readonly Gutter[],
  usual: readonly (readonly Gutter[])[],
): Gutter[] | undefined {
  const page = proseOf(rows);
  for (const set of usual) {
    const found = set.flatMap(({ edge }) => {
      const beginning = page.prose.filter((each) => Math.abs(each.x - edge) <= edgeWidth);
      const x = lowest(beginning.map((each) => each.x));
      const before = page.segments.filter((each) => each.end <= x);
      const least = Math.max(minLines, minShare * page.prose.length);
      if (beginning.length < least || before.length < minLines || isMostlyCrossed(page.prose, beginning)) return [];
      return [gutterAt(beginning, before, page)];
    });
    // What the page has above or below them stays.
    const others = own.filter((gutter) => !found.some((each) => isBeside(each, gutter)));
    if (found.length > 0)
      return [...found.map((gutter) => withZone(gutter, page.prose)), ...others].toSorted((a, b) => a.x - b.x);
  }
  return undefined;
}

/** The columns that several pages of a document have, those of most pages first. */
export function usualGutters(pages: readonly (readonly Gutter[])[]): (readonly Gutter[])[] {
  const sets: { readonly gutters: readonly Gutter[]; pages: number }[] = [];
  for (const gutters of pages) {
    if (gutters.length === 0) continue;
    const same = sets.find((set) => isSame(set.gutters, gutters));
    if (same === undefined) sets.push({ gutters, pages: 1 });
    else same.pages += 1;
  }
  const least = pages.length <= fewPages ? 1 : 2;
  return sets
    .filter((set) => set.pages >= least)
    .toSorted((a, b) => b.pages - a.pages)
    .slice(0, maxSets)
    .map((set) => set.gutters);
}

/** In a document of so many pages one page is enough to show what is usual. */
const fewPages = 4;
/** Sets of columns that a document may have: of left and right pages, of the text and of its lists. */
const maxSets = 4;

/** Whether columns part wherever others do. */
export const hasAll = (some: readonly Gutter[], others: readonly Gutter[]): boolean =>
  others.every(({ edge }) => some.some((each) => Math.abs(edge - each.edge) <= edgeWidth));

/** Whether columns part at the same places. */
export const isSame = (some: readonly Gutter[], others: readonly Gutter[]): boolean =>
  some.length === others.length &&
  some.every(({ edge }, index) => Math.abs(edge - (others[index]?.edge ?? 0)) <= edgeWidth);

/** The lines that begin where many do, for each such place from left to right. */
function commonEdges(prose: readonly Segment[]): Segment[][] {
  const bins = groupBy(prose, ({ x }) => Math.round(x / edgeWidth));
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
/**
 * Whether a row spans both columns. One that only sticks out a little (an overfull line, a page number in the middle)
 * does not, nor does one whose right part begins just where the column does.
 */
export function crosses(row: Row, gutter: Gutter): boolean {
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
