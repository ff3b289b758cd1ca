import type { Run } from "./rows.js";

/** A run that may be rotated on its page. */
export interface RotatedRun {
  /** Number of quarter turns to the left. */
  readonly quarterTurns: number;
  /** The run with the coordinates that it has if the page is turned so that the run is upright. */
  readonly run: Run;
}

/** A run as pdf.js gives it. */
export interface DirectedRun extends RotatedRun {
  /** The length of the run in points if its font is for vertical text. Otherwise undefined. */
  readonly verticalLength: number | undefined;
}

const eastAsian =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\u3000-\u303f\u30a0-\u30ff\ufe10-\ufe1f\ufe30-\ufe4f\uff00-\uffef]/u;
/** Short numbers and words that are upright in vertical text. */
const uprightText = /^(?:\d{1,3}|[A-Za-z!?%]{1,2})$/;
/** Minimum number of characters in a stack: characters with one below the other, each in a run of its own. */
const minStackLength = 5;
/** Minimum distance from a baseline to the next one in a stack, in heights of the font. */
const minBaselineStep = 0.6;
/** Maximum distance from a baseline to the next one in a stack, in heights of the font. */
const maxBaselineStep = 1.7;
/** The same in a page of horizontal text, for a vertical heading of a table. */
const maxStepInTable = 1.25;
/** Maximum horizontal distance between the middles of two characters in a stack, in heights of the font. */
const maxShift = 0.35;
/** The part of a character above its baseline, in heights of the font. */
const ascent = 0.88;

/**
 * Chinese, Japanese and Korean may be written in columns from top to bottom; the first column is on the right. Then the
 * font is for vertical text, or each character is a separate run below the last one. This function returns such text as
 * rotated lines that run down the page, like Latin words in vertical text. So the functions that find lines and columns
 * work for it too.
 */
export function withVerticalTurned(runs: readonly DirectedRun[]): readonly RotatedRun[] {
  const isSingleCharacter = ({ run, verticalLength }: DirectedRun) =>
    verticalLength === undefined && eastAsian.test(run.text) && lengthOf(run.text) === 1;
  const singleCount = runs.filter(isSingleCharacter).length;
  const hasVerticalFont = runs.some(({ verticalLength }) => verticalLength !== undefined);
  if (singleCount < minStackLength && !hasVerticalFont) return runs;
  const stacks = stacksOf(runs.filter(({ run }) => run.text.trim() !== ""));
  const stackOfRun = new Map<DirectedRun, readonly DirectedRun[]>();
  const singlesInStacks = stacks
    .filter((stack) => stack.length >= minStackLength)
    .reduce((sum, stack) => sum + stack.filter(isSingleCharacter).length, 0);
  const isVerticalPage = hasVerticalFont || singlesInStacks > 0.5 * singleCount;
  for (const stack of stacks)
    if (isVerticalPage ? stack.some(isSingleCharacter) : stack.length >= minStackLength && isNarrow(stack))
      for (const run of stack) stackOfRun.set(run, stack);
  return runs.flatMap((run): RotatedRun[] => {
    if (run.verticalLength !== undefined) return [joinStack(run, [run])];
    const stack = stackOfRun.get(run);
    if (stack === undefined) return [run];
    // The first run of a stack stands for all its runs.
    return stack[0] === run ? [joinStack(run, stack)] : [];
  });
}

/** Forms of punctuation for vertical text. */
const verticalForms = /[\ufe10-\ufe19\ufe30-\ufe48]/g;

const lengthOf = (text: string): number => Array.from(text.trim()).length;
const middle = ({ run }: DirectedRun): number => run.x + run.width / 2;

/** Groups runs with one below the other, each with one character or a short number or word. */
function stacksOf(runs: readonly DirectedRun[]): readonly (readonly DirectedRun[])[] {
  const stacks: DirectedRun[][] = [];
  for (const directedRun of runs) {
    const { run } = directedRun;
    const canBeInStack =
      directedRun.verticalLength === undefined &&
      ((lengthOf(run.text) === 1 && eastAsian.test(run.text)) || uprightText.test(run.text.trim()));
    if (!canBeInStack) continue;
    const last = stacks.at(-1)?.at(-1);
    const height = Math.max(run.height, last?.run.height ?? 0);
    const step = last === undefined ? 0 : last.run.y - run.y;
    if (
      last?.quarterTurns === directedRun.quarterTurns &&
      Math.abs(middle(last) - middle(directedRun)) < maxShift * height &&
      step > minBaselineStep * height &&
      step < maxBaselineStep * height
    )
      stacks.at(-1)?.push(directedRun);
    else stacks.push([directedRun]);
  }
  return stacks;
}

/** Whether the distances in a stack are small enough for a heading of a table. */
const isNarrow = (stack: readonly DirectedRun[]): boolean =>
  stack.slice(1).every(({ run }, index) => (stack[index]?.run.y ?? 0) - run.y < maxStepInTable * run.height);

/** Joins a stack to one run with one more quarter turn to the right. */
function joinStack(first: DirectedRun, stack: readonly DirectedRun[]): RotatedRun {
  const { quarterTurns, verticalLength, run } = first;
  const height = Math.max(...stack.map((each) => each.run.height));
  // In a vertical font, the origin of a character is the middle of its upper edge. In others, it is the left end of the
  // baseline.
  const [top, bottom] =
    verticalLength === undefined
      ? [run.y + ascent * run.height, (stack.at(-1) ?? first).run.y - (1 - ascent) * height]
      : [run.y, run.y - verticalLength];
  return {
    quarterTurns: (quarterTurns + 3) % 4,
    run: {
      text: stack
        .map(({ run: { text } }) => text.trim().replace(verticalForms, (character) => character.normalize("NFKC")))
        .join(""),
      x: -top,
      y: (verticalLength === undefined ? middle(first) : run.x) - height / 2,
      width: top - bottom,
      height,
    },
  };
}
