import {
  columnGap,
  edgeTolerance,
  isProse,
  lowest,
  median,
  middle,
  type Row,
  type Segment,
  segmentsOf,
} from "./rows.js";
import { groupBy } from "../../../engine/lib/group.js";

/** The boundary between two columns. Lengths are in points from the bottom left. */
export interface Gutter {
  /** The left edge of the right column, or of the labels before it. */
  readonly x: number;
  /** The x at which most lines of the right column begin. */
  readonly edge: number;
  /** The horizontal extent of the page's text. */
  readonly left: number;
  readonly right: number;
  /** The vertical part of the page that it divides. */
  readonly low: number;
  readonly high: number;
}

/** Minimum number of lines of prose in a column beside lines of the other column. */
const minLines = 3;
/** Maximum number of positions that are checked, those with most line beginnings first. */
const maxPositions = 12;

/** The lines of prose of a page, and their horizontal extent. */
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

/** Minimum width of a column, as a share of the text's width. */
const minColumnShare = 0.15;

/** The column boundaries of a page, according to the page alone. */
export interface PageGutters {
  /** Empty if it has one column. */
  readonly gutters: readonly Gutter[];
  /** True if lines also begin at other common positions, so that the page may have the columns of other pages. */
  readonly mayHaveOthers: boolean;
}

/** Finds the column boundaries of a page. */
export function guttersOf(rows: readonly Row[]): PageGutters {
  const page = proseOf(rows);
  const { segments, prose, left, right } = page;
  if (prose.length < 2 * minLines) return { gutters: [], mayHaveOthers: false };
  const gutters: Gutter[] = [];
  const outermost = lowest(segments.map((each) => each.x));
  let otherEdges = 0;
  for (const beginningLines of commonEdges(prose)) {
    const x = lowest(beginningLines.map((each) => each.x));
    const verticalRange = verticalRangeOf(beginningLines);
    const columnStart =
      gutters.findLast((gutter) => overlapsVertically(gutter, verticalRange) || isFree(gutter, verticalRange, prose))
        ?.x ?? left;
    if (x - outermost > minColumnShare * (right - outermost)) otherEdges += 1;
    if (x - columnStart < minColumnShare * (right - left)) continue;
    const isBefore = (each: Segment) => each.x >= columnStart - edgeTolerance && each.end <= x;
    const before = prose.filter(isBefore);
    const after = prose.filter((each) => each.x >= x - 1);
    if (isMostlyCrossed(prose, beginningLines)) continue;
    if (areColumns(before, after, x - columnStart) || isNotes(segments.filter(isBefore), segments, beginningLines))
      gutters.push(gutterAt(beginningLines, before, page));
  }
  return {
    gutters: gutters.map((gutter) => withVerticalRange(gutter, prose)),
    mayHaveOthers: otherEdges > gutters.length,
  };
}

interface VerticalRange {
  readonly low: number;
  readonly high: number;
}
const verticalRangeOf = (segments: readonly Segment[]): VerticalRange => ({
  low: lowest(segments.map(({ y }) => y)),
  high: -lowest(segments.map(({ y }) => -y)),
});
const overlapsVertically = (first: VerticalRange, second: VerticalRange): boolean =>
  first.low <= second.high && second.low <= first.high;

/** Maximum distance between a label and its line, in heights of the font. */
const maxLabelGap = 1.2;

/** Whether almost no line of prose in a part of the page crosses a boundary. */
function isFree({ edge }: Gutter, { low, high }: VerticalRange, prose: readonly Segment[]): boolean {
  const linesInRange = prose.filter(({ y }) => y >= low && y <= high);
  const crossing = linesInRange.filter((each) => isAcross(each, edge));
  return crossing.length < maxCrossing * linesInRange.length;
}

/** Maximum share of lines that may cross a boundary, such as captions and headings. */
const maxCrossing = 0.2;

function gutterAt(
  beginningLines: readonly Segment[],
  before: readonly Segment[],
  { segments, left, right }: Prose,
): Gutter {
  const leftEdge = lowest(beginningLines.map((each) => each.x));
  // Bullets and numbers of items are before the common edge of the lines.
  const columnEnd = -lowest(before.map((each) => -each.end));
  const labels = segments.filter(
    (each) =>
      each.x > columnEnd &&
      each.x < leftEdge &&
      each.end <= leftEdge + edgeTolerance &&
      leftEdge - each.end < maxLabelGap * each.height,
  );
  return {
    x: lowest([leftEdge, ...labels.map((each) => each.x)]) - 1,
    edge: median(beginningLines.map((each) => each.x)),
    left,
    right,
    ...verticalRangeOf(beginningLines),
  };
}

/**
 * The vertical part of the page that a boundary divides: the lines that begin at it, and the space above and below up
 * to the next line of prose that crosses it. Author names, or keywords beside an abstract, have other columns than the
 * text below them.
 */
function withVerticalRange(gutter: Gutter, prose: readonly Segment[]): Gutter {
  const crossing = prose.filter((each) => isAcross(each, gutter.edge)).map(({ y }) => y);
  const above = lowest(crossing.filter((y) => y > gutter.high));
  const below = -lowest(crossing.filter((y) => y < gutter.low).map((y) => -y));
  return { ...gutter, low: below + rangeMargin, high: above - rangeMargin };
}

/** The distance in points between the range and the next crossing line: less than the distance between two lines. */
const rangeMargin = 0.5;

const isAcross = ({ x, end }: Segment, edge: number): boolean => x < edge - edgeTolerance && end > edge + edgeTolerance;

/** Two baselines are the same if their distance is less than this share of the font's height. */
const sameBaseline = 0.1;
/** Minimum share of full lines in a paragraph. A cell of a table with several lines has fewer. */
const minFullShare = 0.7;
/** Minimum number of lines of running text beside notes. */
const minBesideNotes = 8;

/**
 * Whether the text left of running text has lines of its own: keywords, dates, addresses. The cells of a table share
 * their lines with the cells beside them.
 */
function isNotes(
  before: readonly Segment[],
  segments: readonly Segment[],
  beginningLines: readonly Segment[],
): boolean {
  const { low, high } = verticalRangeOf(beginningLines);
  const start = lowest(beginningLines.map((each) => each.x));
  const runningText = segments.filter(({ x, y }) => x >= start - 1 && y >= low && y <= high);
  const ends = beginningLines.map(
    ({ y }) => -lowest(runningText.filter((each) => each.y === y).map(({ end }) => -end)),
  );
  const furthest = -lowest(ends.map((end) => -end));
  const fullLines = ends.filter((end) => furthest - end < 0.05 * (furthest - start));
  const besideText = before.filter(({ y }) => y >= low && y <= high);
  const continuations = beginningLines.filter(({ runs }) => /^\p{Ll}/u.test(runs[0]?.text ?? ""));
  // Close rows were joined; their runs still have the original baselines.
  const baseline = ({ runs, y }: Segment) => runs[0]?.y ?? y;
  const withOwnBaseline = besideText.filter(
    (each) => !runningText.some((other) => Math.abs(baseline(other) - baseline(each)) < sameBaseline * each.height),
  );
  return (
    beginningLines.length >= minBesideNotes &&
    besideText.length >= minLines &&
    continuations.length > 0.4 * beginningLines.length &&
    fullLines.length > minFullShare * beginningLines.length &&
    withOwnBaseline.length > 0.5 * besideText.length
  );
}

/** Minimum share of a page's lines that begin at a column of its document; the cells of a table have fewer. */
const minBeginningShare = 0.15;

/**
 * The boundaries of a page at the positions that are usual in its document. They are needed because a table of
 * contents, author names or a table can hide the columns of a page, or look like other columns. Undefined if the page's
 * lines do not begin at these positions.
 */
export function guttersAtUsualPositions(
  rows: readonly Row[],
  ownGutters: readonly Gutter[],
  usualSets: readonly (readonly Gutter[])[],
): Gutter[] | undefined {
  const page = proseOf(rows);
  for (const set of usualSets) {
    const guttersOnPage = set.flatMap(({ edge }) => {
      const beginningLines = page.prose.filter((each) => Math.abs(each.x - edge) <= edgeTolerance);
      const x = lowest(beginningLines.map((each) => each.x));
      const before = page.segments.filter((each) => each.end <= x);
      const minBeginnings = Math.max(minLines, minBeginningShare * page.prose.length);
      if (
        beginningLines.length < minBeginnings ||
        before.length < minLines ||
        isMostlyCrossed(page.prose, beginningLines)
      )
        return [];
      return [gutterAt(beginningLines, before, page)];
    });
    // The page keeps its own boundaries above or below the usual ones.
    const others = ownGutters.filter((gutter) => !guttersOnPage.some((each) => overlapsVertically(each, gutter)));
    if (guttersOnPage.length > 0)
      return [...guttersOnPage.map((gutter) => withVerticalRange(gutter, page.prose)), ...others].toSorted(
        (a, b) => a.x - b.x,
      );
  }
  return undefined;
}

/** The sets of columns that several pages of a document have, the most frequent first. */
export function usualGutters(pages: readonly (readonly Gutter[])[]): (readonly Gutter[])[] {
  const sets: { readonly gutters: readonly Gutter[]; pages: number }[] = [];
  for (const gutters of pages) {
    if (gutters.length === 0) continue;
    const sameSet = sets.find((set) => areSamePositions(set.gutters, gutters));
    if (sameSet === undefined) sets.push({ gutters, pages: 1 });
    else sameSet.pages += 1;
  }
  const minPages = pages.length <= maxPagesOfShortDocument ? 1 : 2;
  return sets
    .filter((set) => set.pages >= minPages)
    .toSorted((a, b) => b.pages - a.pages)
    .slice(0, maxSets)
    .map((set) => set.gutters);
}

/** In a document with at most so many pages, a set of columns that is on one page only is also used for the others. */
const maxPagesOfShortDocument = 4;
/** Maximum number of column sets of a document: for left and right pages, for the text and its lists. */
const maxSets = 4;

/** Whether boundaries include all positions of other boundaries. */
export const includesPositions = (gutters: readonly Gutter[], others: readonly Gutter[]): boolean =>
  others.every(({ edge }) => gutters.some((each) => Math.abs(edge - each.edge) <= edgeTolerance));

/** Whether boundaries have the same positions. */
export const areSamePositions = (gutters: readonly Gutter[], others: readonly Gutter[]): boolean =>
  gutters.length === others.length &&
  gutters.every(({ edge }, index) => Math.abs(edge - (others[index]?.edge ?? 0)) <= edgeTolerance);

/** The lines that begin at common positions, for each position from left to right. */
function commonEdges(prose: readonly Segment[]): Segment[][] {
  const bins = groupBy(prose, ({ x }) => Math.round(x / edgeTolerance));
  const linesNear = (bin: number) => [bin - 1, bin, bin + 1].flatMap((nearBin) => bins.get(nearBin) ?? []);
  return [...bins.keys()]
    .toSorted((a, b) => a - b)
    .map(linesNear)
    .filter((beginningLines) => beginningLines.length >= minLines)
    .toSorted((a, b) => b.length - a.length)
    .slice(0, maxPositions)
    .toSorted((a, b) => lowest(a.map(({ x }) => x)) - lowest(b.map(({ x }) => x)));
}

/**
 * Whether two groups of lines are columns: they are side by side over some lines, and their lines fill them or continue
 * from one to the next, unlike the cells of a table.
 */
function areColumns(before: readonly Segment[], after: readonly Segment[], width: number): boolean {
  const linesBeside = (segments: readonly Segment[], others: readonly Segment[]) => {
    const [low, high] = [lowest(others.map(({ y }) => y)), -lowest(others.map(({ y }) => -y))];
    return segments.filter(({ y, height }) => y >= low - height && y <= high + height);
  };
  const [first, second] = [linesBeside(before, after), linesBeside(after, before)];
  if (first.length < minLines || second.length < minLines) return false;
  const medianWidth = (lines: readonly Segment[]) => median(lines.map(({ x, end }) => end - x));
  const isContinuous = (lines: readonly Segment[]) =>
    lines.filter(({ runs }) => /^\p{Ll}/u.test(runs[0]?.text ?? "")).length > 0.4 * lines.length;
  const fillColumns = medianWidth(first) > 0.55 * width && medianWidth(second) > 0.4 * width;
  return fillColumns || (isContinuous(first) && isContinuous(second));
}

/**
 * Whether at least as many lines of prose cross a position as begin there. Then the position is in a table, or some
 * sentences begin below one another by chance.
 */
function isMostlyCrossed(prose: readonly Segment[], beginningLines: readonly Segment[]): boolean {
  const x = -lowest(beginningLines.map((each) => -each.x));
  const low = lowest(beginningLines.map(({ y }) => y));
  const high = -lowest(beginningLines.map(({ y }) => -y));
  const crossing = prose.filter(
    (each) => each.y >= low && each.y <= high && each.x < x - edgeTolerance && each.end > x + edgeTolerance,
  );
  return crossing.length >= beginningLines.length;
}

/**
 * Whether a row spans both columns. A row that extends only a little (an overfull line, a page number in the middle)
 * does not, nor does a row whose right part begins at the column's edge.
 */
export function crosses(row: Row, gutter: Gutter): boolean {
  const minOverlap = 0.08 * (gutter.right - gutter.left);
  const segments = segmentsOf(row);
  const crossingSegment = segments.find(
    ({ x, end }) => gutter.x - x > columnGap * row.height && end - gutter.x > columnGap * row.height,
  );
  if (crossingSegment === undefined) return false;
  const spansBoth = (x: number, end: number) => gutter.x - x > minOverlap && end - gutter.x > minOverlap;
  const next = row.runs.findIndex((run) => middle(run) >= gutter.x && run.x > gutter.x - edgeTolerance);
  const [before, after] = [row.runs[next - 1], row.runs[next]];
  const beginsColumn = after !== undefined && Math.abs(after.x - gutter.x - 1) < 1.5;
  if (spansBoth(crossingSegment.x, crossingSegment.end))
    return !(beginsColumn && before !== undefined && after.x - before.x - before.width > 0.3 * row.height);
  // The row consists of separate words, and one of them is over the boundary.
  return (
    !beginsColumn &&
    crossingSegment.x + crossingSegment.end < 2 * gutter.x &&
    spansBoth(row.runs[0]?.x ?? 0, segments.at(-1)?.end ?? 0)
  );
}
