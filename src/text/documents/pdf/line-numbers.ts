import { edgeTolerance, lowest, type Run } from "./rows.js";
import { groupBy } from "../../../engine/lib/group.js";

/** Minimum number of line numbers on a page if the page before has none, and each line is numbered. */
const minNumbers = 5;
/** The same if each fifth line is numbered. */
const minFifthNumbers = 3;

/** The line numbers of the pages that were read so far. */
export interface LineNumbering {
  /** The series on the last page with line numbers. */
  series?: readonly Series[];
}

/** Line numbers with one below the other in a margin. */
interface Series {
  readonly left: number;
  readonly right: number;
  readonly lastNumber: number;
  readonly step: number;
}

/**
 * Removes line numbers. Manuscripts for review have them in the margins, outside of all text: each is one (or five)
 * more than the one above it. A few numbers are enough if they continue those of the page before, or begin again at the
 * same position.
 */
export function withoutLineNumbers(runs: readonly Run[], numbering: LineNumbering): readonly Run[] {
  const numbers = runs.filter(({ text }) => /^\s*\d{1,4}\s*$/.test(text));
  const words = runs.filter(({ text }) => /\p{L}{3}/u.test(text));
  const previousSeries = numbering.series ?? [];
  const minLength = previousSeries.length > 0 ? 1 : minFifthNumbers;
  if (words.length < minNumbers || numbers.length < minLength) return runs;
  const lineNumbers = new Set<Run>();
  const allSeries: Series[] = [];
  for (const edgeOf of [(run: Run) => run.x, (run: Run) => run.x + run.width])
    for (const column of groupBy(numbers, (run) => Math.round(edgeOf(run) / edgeTolerance)).values()) {
      if (column.length < minLength) continue;
      const left = lowest(column.map(({ x }) => x));
      const right = -lowest(column.map(({ x, width }) => -(x + width)));
      const after = words.filter(({ x }) => x > right);
      const before = words.filter(({ x, width }) => x + width < left);
      const wordsOnOneSide = Math.max(after.length, before.length);
      if (after.length + before.length < words.length || wordsOnOneSide < 0.95 * words.length) continue;
      const fromTop = column.toSorted((a, b) => b.y - a.y);
      const values = fromTop.map(({ text }) => Number(text));
      const steps = values.slice(1).map((value, index) => value - (values[index] ?? 0));
      const [firstNumber = 0, lastNumber = 0] = [values[0], values.at(-1)];
      const continued = previousSeries.find(
        (series) =>
          (Math.abs(series.left - left) < edgeTolerance || Math.abs(series.right - right) < edgeTolerance) &&
          steps.every((step) => step === series.step) &&
          (firstNumber === series.lastNumber + series.step || firstNumber === series.step),
      );
      const step = continued?.step ?? stepOf(fromTop, steps, after.length > before.length ? after : before);
      if (step === undefined) continue;
      for (const run of column) lineNumbers.add(run);
      allSeries.push({ left, right, lastNumber, step });
    }
  if (lineNumbers.size === 0) return runs;
  numbering.series = allSeries;
  return runs.filter((run) => !lineNumbers.has(run));
}

/**
 * 1 if each line has a number, 5 if each fifth line has one. Undefined if the numbers are not line numbers, but numbers
 * of entries with several lines, rows of a table, or years.
 */
function stepOf(numbers: readonly Run[], steps: readonly number[], words: readonly Run[]): number | undefined {
  const distance = (run: Run) => {
    const [{ x = 0, width = 0 } = {}] = numbers;
    return run.x > x ? run.x - x - width : x - run.x - run.width;
  };
  // The baselines of the first word of each line, or of the last if the numbers are on the right.
  const minDistance = lowest(words.map(distance));
  const baselines = words.filter((word) => distance(word) < minDistance + maxIndent).map(({ y }) => y);
  const linesBetween = numbers.slice(1).map((below, index) => {
    const above = numbers[index]?.y ?? 0;
    return new Set(baselines.filter((y) => y < above - 2 && y > below.y + 2).map(Math.round)).size;
  });
  const shareOfSteps = (matches: (step: number, linesBetween: number) => boolean) =>
    steps.filter((step, index) => matches(step, linesBetween[index] ?? 0)).length / steps.length;
  if (numbers.length >= minNumbers && shareOfSteps((step) => step === 1) > 0.8)
    return shareOfSteps((_, between) => between === 0) > 0.5 ? 1 : undefined;
  const numbersBesideLine = numbers.filter((run) => baselines.some((y) => Math.abs(y - run.y) < 2)).length;
  const isEachFifth =
    numbers.every(({ text }) => Number(text) % 5 === 0) &&
    shareOfSteps((step) => step === 5) > (numbers.length >= minNumbers ? 0.8 : 0.99) &&
    shareOfSteps((_, between) => between >= 4) > 0.8 &&
    numbersBesideLine > 0.8 * numbers.length;
  return isEachFifth ? 5 : undefined;
}

/** Maximum distance in points between the line that begins nearest to the numbers and an indented line. */
const maxIndent = 100;
