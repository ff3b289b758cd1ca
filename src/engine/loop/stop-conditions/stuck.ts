import { type Digest, withoutNames } from "../run-record/digest.js";
import { likenessOf } from "../../lib/minhash.js";
import { usesIteration } from "./limits.js";
import type { StopCondition, Words } from "../types.js";
import type { Observation } from "../../generated/memory.js";
import type { HistoryLimits } from "../../lib/history-limits.js";
import type { LoopMemory } from "../run-record/loop-memory.js";

/**
 * The kinds of loops in which iterations repeat themselves. The kinds that explain a missing result come first, because
 * without a new result the files are the same each time.
 */
export const loopKinds = [
  "read-loop",
  "planning-loop",
  "command-loop",
  "identical-answers",
  "oscillation",
  "redundant-writes",
] as const;
export type LoopKind = (typeof loopKinds)[number];

/** From this number of repetitions on, the next brief contains advice and the person is warned. */
const minRepetitions = 2;

/**
 * The number of last iterations in a row, none of them accepted, that show a loop of this kind; for oscillation, the
 * number of pairs.
 */
export interface Repetition {
  readonly kind: LoopKind;
  readonly length: number;
}

/**
 * The kinds of loops that a single run shows. `hasResult`: it gave a result, so its reads, commands and plans were not
 * a loop. `isComplete`: it ended by itself and its stream reports its actions; otherwise its further actions are
 * unknown. The thresholds are above the values of healthy runs of Claude Code and Codex, which read a long text in
 * parts, each once.
 */
export function loopSignsOf(
  { counts, repeated, remade, last }: Digest,
  hasResult: boolean,
  isComplete: boolean,
): LoopKind[] {
  const actionCount = counts.read + counts.write + counts.command;
  const onlyRead = isComplete && counts.read > 0 && actionCount === counts.read;
  // A run without actions only announced work or made excuses. A final message that begins a JSON object is an attempt.
  const onlyTalked = actionCount === 0 && (counts.plan > 0 || (isComplete && last !== "" && !/^(?:```|\{)/.test(last)));
  return [
    ...(repeated.write >= 5 || remade >= 3 ? ["redundant-writes" as const] : []),
    ...(!hasResult && (repeated.read >= 4 || onlyRead) ? ["read-loop" as const] : []),
    ...(!hasResult && onlyTalked ? ["planning-loop" as const] : []),
    ...(!hasResult && repeated.command >= 3 ? ["command-loop" as const] : []),
  ];
}

/** The number of iterations of a repetition. */
export const iterationsIn = ({ kind, length }: Repetition): number => (kind === "oscillation" ? length * 2 : length);

/** The longest repetition of one kind at the end of the observations; undefined below two. Acceptance ends it. */
export function longestRepetition(
  observations: readonly Observation[],
  { window }: Pick<HistoryLimits, "window">,
  afterIteration = 0,
): Repetition | undefined {
  const windowObservations = observations.slice(-window).filter(({ iteration }) => iteration > afterIteration);
  const unaccepted = windowObservations.slice(
    windowObservations.findLastIndex(({ outcome }) => outcome === "accepted") + 1,
  );
  const rows = loopKinds.map((kind) => ({ kind, length: lengthOf(kind, unaccepted) }));
  const longest = rows.reduce((best, repetition) => (repetition.length > best.length ? repetition : best));
  return longest.length < minRepetitions ? undefined : longest;
}

function lengthOf(kind: LoopKind, unaccepted: readonly Observation[]): number {
  const countTrailing = (matches: (each: Observation) => boolean): number =>
    unaccepted.length - 1 - unaccepted.findLastIndex((each) => !matches(each));
  if (kind === "oscillation") return Math.max(...periods.map((period) => countPairs(unaccepted, period)));
  if (kind !== "identical-answers") return countTrailing(({ signs = [] }) => signs.includes(kind));
  const last = unaccepted.at(-1);
  return last?.answer === undefined ? 0 : countTrailing((each) => isSameAnswer(each, last));
}

/** Numbers of answers that may alternate. */
const periods = [2, 3, 4, 5];

/**
 * The number of pairs of iterations at the end of the list that repeat every `period` iterations, at least twice.
 */
function countPairs(list: readonly Observation[], period: number): number {
  const lastPeriod = list.slice(-period);
  if (lastPeriod.every((each) => isSameOutcome(each, lastPeriod[0] as Observation))) return 0;
  const backwards = list.toReversed();
  const firstMismatch = backwards.findIndex(
    (each, index) => index >= period && !isSameOutcome(each, backwards[index - period] as Observation),
  );
  const length = firstMismatch === -1 ? list.length : firstMismatch;
  return length < 2 * period ? 0 : Math.floor(length / 2);
}

/**
 * Two answers with at least this likeness count as the same answer. `words`: final messages without a result; `result`:
 * results.
 */
const minLikeness = { words: 0.45, result: 0.7 } as const;

/**
 * Whether two iterations gave the same answer, perhaps in other words but refused for the same reasons. A real
 * correction may look as similar, but it is refused for other reasons or accepted. At least one of them has an answer.
 */
function isSameAnswer(a: Observation, b: Observation): boolean {
  if (a.answer === b.answer) return true;
  if (a.sketch === undefined || b.sketch === undefined || a.left !== b.left) return false;
  // Results of one schema differ mainly in numbers and quotes, which are the reasons of refusals, so these must be
  // equal.
  const isSameRefusal = a.left === true ? a.said === b.said : reasonsOf(a) === reasonsOf(b);
  return isSameRefusal && likenessOf(a.sketch, b.sketch) >= (a.left === true ? minLikeness.result : minLikeness.words);
}

/** Whether two iterations had the same outcome: compares their answers, or their end if both have no answer. */
const isSameOutcome = (a: Observation, b: Observation): boolean =>
  a.answer === undefined && b.answer === undefined ? endText(a) === endText(b) : isSameAnswer(a, b);

const endText = ({ outcome, failure, said }: Observation): string => `${outcome}: ${failure ?? said ?? ""}`;

/** The end of an iteration, without the names and numbers in its reasons. */
const reasonsOf = ({ outcome, failure, said = "" }: Observation): string =>
  `${outcome} ${failure ?? ""} ${withoutNames(said)}`;

const kindText: Readonly<Record<LoopKind, string>> = {
  "identical-answers": "the same answer was given again and again",
  oscillation: "the same answers alternated",
  "redundant-writes": "the same file was written again and again",
  "read-loop": "the same text was read again and again, without a result",
  "planning-loop": "work was announced but not done",
  "command-loop": "the same command was run again and again, without a result",
};

/** The repetition since the last action of a person, in all runs. */
export const stagnationIn = ({ observations, limits, since: unaccepted }: LoopMemory): Repetition | undefined =>
  longestRepetition(observations, limits, unaccepted);

/** The warning about repetitions before they end the run; undefined without repetitions. */
export function stagnationWarning(memory: LoopMemory): string | undefined {
  const repetition = stagnationIn(memory);
  if (repetition === undefined || repetition.length >= memory.limits.stagnation) return undefined;
  return `The last ${iterationsIn(repetition)} iterations made no progress (${repetition.kind}): ${kindText[repetition.kind]}. The next brief says what to do differently; at ${memory.limits.stagnation} in a row the run ends as stuck.`;
}

/**
 * Ends a run that repeats itself: with this number of repetitions in a row since the last action of a person, including
 * earlier runs. The number is five unless it is configured (engine/lib/history-limits.ts). A script that starts a stuck
 * run again gets the same verdict at once.
 */
export const stopWhenStuck =
  ({ look, steer, otherwise }: Words): StopCondition =>
  ({ memory }) => {
    const otherwiseText = otherwise === undefined ? "" : `, ${otherwise}`;
    const repetition = memory && stagnationIn(memory);
    if (memory === undefined || repetition === undefined || repetition.length < memory.limits.stagnation)
      return undefined;
    const last = memory.observations.at(-1);
    const lastReason = last?.said === undefined ? "" : ` The last time: ${last.said.replace(/\.$/, "")}.`;
    return {
      verdict: "stuck",
      reason: `The last ${iterationsIn(repetition)} iterations made no progress (${repetition.kind}): ${kindText[repetition.kind]}.${lastReason} ${look}; then ${steer}${otherwiseText}.`,
    };
  };

/** Default number of iterations in a row without an accepted result after which a run ends. */
const maxWithoutResult = 15;

/**
 * Ends a run without results that shows no loop, such as one with a different refusal each time. Iterations of earlier
 * runs count too; otherwise a run that is started again and again would never stop. Iterations in which a service was
 * not available do not count.
 */
export const stopWithoutResult =
  ({ reasons, mend, otherwise }: Words, maximum: number = maxWithoutResult): StopCondition =>
  ({ iterations, memory }) => {
    const otherwiseText = otherwise === undefined ? "" : `, ${otherwise}`;
    const inThisRun = iterations
      .slice(iterations.findLastIndex(({ outcome }) => outcome.outcome === "accepted") + 1)
      .filter((past) => past.outcome.outcome !== "noted" && usesIteration(past)).length;
    const repetition = memory?.withoutResult ?? inThisRun;
    return repetition < maximum
      ? undefined
      : {
          verdict: "stuck",
          reason: `None of the last ${repetition} iterations${memory === undefined ? "" : ", including those of earlier runs,"} brought an accepted result. ${reasons}; then ${mend}${otherwiseText}.`,
        };
  };
