import type { Run } from "./rows.js";

/** A run on an upright page: in the frame of its quarter turn. */
export interface TurnedRun {
  /** Quarter turns to the left by which the text stands on the page. */
  readonly quarter: number;
  readonly run: Run;
}

/** A run as pdf.js gives it. */
export interface GivenRun extends TurnedRun {
  /** In points, where its font is one for writing from top to bottom; else undefined. */
  readonly down: number | undefined;
}

const eastAsian =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\u3000-\u303f\u30a0-\u30ff\ufe10-\ufe1f\ufe30-\ufe4f\uff00-\uffef]/u;
/** Numbers of few digits stand upright in a column. */
const upright = /^(?:\d{1,3}|[A-Za-z!?%]{1,2})$/;
/** Signs that are set one below the other, at least. */
const minStack = 5;
/** From one sign down to the next, in heights of the font: in writing, and in the narrow heads of a table. */
const [leastPitch, maxPitch, tightPitch] = [0.6, 1.7, 1.25];
/** From one sign's middle to that of the next, to the side, in heights of the font. */
const maxShift = 0.35;
/** What of a sign stands above its baseline, in heights of the font. */
const ascent = 0.88;

/**
 * Chinese, Japanese and Korean may be written in columns from top to bottom, from the right of the page to its left. A
 * font says so, or each sign is set by itself below the last one. Such text is turned: it is what lines would be that
 * run down the page, as Latin words among it do. So whatever finds lines and columns finds those of it too.
 */
export function withColumnsTurned(runs: readonly GivenRun[]): readonly TurnedRun[] {
  const isSign = ({ run, down }: GivenRun) =>
    down === undefined && eastAsian.test(run.text) && lengthOf(run.text) === 1;
  const signs = runs.filter(isSign).length;
  const hasDown = runs.some(({ down }) => down !== undefined);
  if (signs < minStack && !hasDown) return runs;
  const stacks = stacksOf(runs.filter(({ run }) => run.text.trim() !== ""));
  const stacked = new Map<GivenRun, readonly GivenRun[]>();
  const count = stacks.reduce((sum, stack) => sum + (stack.length >= minStack ? stack.filter(isSign).length : 0), 0);
  const isVertical = hasDown || count > 0.5 * signs;
  for (const stack of stacks)
    if (isVertical ? stack.some(isSign) : stack.length >= minStack && isTight(stack))
      for (const each of stack) stacked.set(each, stack);
  return runs.flatMap((each): TurnedRun[] => {
    if (each.down !== undefined) return [turned(each, [each])];
    const stack = stacked.get(each);
    return stack === undefined ? [each] : stack[0] === each ? [turned(each, stack)] : [];
  });
}

/** Signs of punctuation as they are drawn in columns. */
const forColumns = /[\ufe10-\ufe19\ufe30-\ufe48]/g;

const lengthOf = (text: string): number => Array.from(text.trim()).length;
const middle = ({ run }: GivenRun): number => run.x + run.width / 2;

/** Runs in the order of the page that stand one below the other, each of one sign. */
function stacksOf(runs: readonly GivenRun[]): readonly (readonly GivenRun[])[] {
  const stacks: GivenRun[][] = [];
  for (const each of runs) {
    const { run } = each;
    const isPiece =
      each.down === undefined &&
      ((lengthOf(run.text) === 1 && eastAsian.test(run.text)) || upright.test(run.text.trim()));
    if (!isPiece) continue;
    const last = stacks.at(-1)?.at(-1);
    const height = Math.max(run.height, last?.run.height ?? 0);
    const step = last === undefined ? 0 : last.run.y - run.y;
    if (
      last?.quarter === each.quarter &&
      Math.abs(middle(last) - middle(each)) < maxShift * height &&
      step > leastPitch * height &&
      step < maxPitch * height
    )
      stacks.at(-1)?.push(each);
    else stacks.push([each]);
  }
  return stacks;
}

const isTight = (stack: readonly GivenRun[]): boolean =>
  stack.slice(1).every(({ run }, index) => (stack[index]?.run.y ?? 0) - run.y < tightPitch * run.height);

/** One run that goes down, in the frame that is turned by a further quarter to the right. */
function turned(first: GivenRun, stack: readonly GivenRun[]): TurnedRun {
  const { quarter, down, run } = first;
  const height = Math.max(...stack.map((each) => each.run.height));
  // A font for such writing has the middle of a sign's upper edge as its origin, any other the left of its baseline.
  const [top, bottom] =
    down === undefined
      ? [run.y + ascent * run.height, (stack.at(-1) ?? first).run.y - (1 - ascent) * height]
      : [run.y, run.y - down];
  return {
    quarter: (quarter + 3) % 4,
    run: {
      text: stack
        .map(({ run: { text } }) => text.trim().replace(forColumns, (sign) => sign.normalize("NFKC")))
        .join(""),
      x: -top,
      y: (down === undefined ? middle(first) : run.x) - height / 2,
      width: top - bottom,
      height,
    },
  };
}
