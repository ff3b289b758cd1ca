import { edgeWidth, lowest, type Run } from "./rows.js";
import { groupBy } from "../../../engine/lib/group.js";

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
export function withoutLineNumbers(runs: readonly Run[], numbering: LineNumbering): readonly Run[] {
  const numbers = runs.filter(({ text }) => /^\s*\d{1,4}\s*$/.test(text));
  const words = runs.filter(({ text }) => /\p{L}{3}/u.test(text));
  const known = numbering.series ?? [];
  const least = known.length > 0 ? 1 : minFifths;
  if (words.length < minNumbered || numbers.length < least) return runs;
  const gone = new Set<Run>();
  const found: Series[] = [];
  for (const edgeOf of [(run: Run) => run.x, (run: Run) => run.x + run.width])
    for (const column of groupBy(numbers, (run) => Math.round(edgeOf(run) / edgeWidth)).values()) {
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
