import { type Digest, withoutNames } from "../run-record/digest.js";
import { likenessOf } from "../../lib/minhash.js";
import { isCounted } from "./limits.js";
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

/** From this number of repetitions on, the next brief contains advice and the user is warned. */
const minRepetitions = 2;

/**
 * A loop that the latest iterations show. `length`: the number of latest iterations in a row that show it and were not
 * accepted; for an oscillation, the number of pairs of iterations.
 */
export interface Repetition {
  readonly kind: LoopKind;
  readonly length: number;
}

/**
 * The kinds of loops that a single run shows. `hasResult`: the run gave a result, so reading, commands and plans were
 * useful. `isComplete`: the run ended by itself and reported its actions; otherwise some actions are unknown. The
 * thresholds are above the values of normal runs of Claude Code and Codex, which read a long text in parts, each part
 * once.
 */
export function loopSignsOf(
  { counts, repeated, remade, last }: Digest,
  hasResult: boolean,
  isComplete: boolean,
): LoopKind[] {
  const actionCount = counts.read + counts.write + counts.command;
  const onlyRead = isComplete && counts.read > 0 && actionCount === counts.read;
  // A run without actions only announced work or made excuses, unless its final message begins with a JSON object.
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

/**
 * The longest repetition at the end of the observations; undefined if its length is below `minRepetitions`. An accepted
 * result ends a repetition.
 */
export function longestRepetition(
  observations: readonly Observation[],
  { window }: Pick<HistoryLimits, "window">,
  afterIteration = 0,
): Repetition | undefined {
  const recentObservations = observations.slice(-window).filter(({ iteration }) => iteration > afterIteration);
  const unaccepted = recentObservations.slice(
    recentObservations.findLastIndex(({ outcome }) => outcome === "accepted") + 1,
  );
  const repetitions = loopKinds.map((kind) => ({ kind, length: lengthOf(kind, unaccepted) }));
  const longest = repetitions.reduce((best, repetition) => (repetition.length > best.length ? repetition : best));
  return longest.length < minRepetitions ? undefined : longest;
}

function lengthOf(kind: LoopKind, unaccepted: readonly Observation[]): number {
  const countTrailing = (matches: (observation: Observation) => boolean): number =>
    unaccepted.length - 1 - unaccepted.findLastIndex((observation) => !matches(observation));
  if (kind === "oscillation") return Math.max(...periods.map((period) => countPairs(unaccepted, period)));
  if (kind !== "identical-answers") return countTrailing(({ signs = [] }) => signs.includes(kind));
  const lastObservation = unaccepted.at(-1);
  return lastObservation?.answer === undefined
    ? 0
    : countTrailing((observation) => isSameAnswer(observation, lastObservation));
}

/** Possible numbers of different answers in an oscillation. */
const periods = [2, 3, 4, 5];

/**
 * The number of pairs at the end of the list, if the outcomes repeat every `period` iterations at least twice; else 0.
 */
function countPairs(list: readonly Observation[], period: number): number {
  const lastPeriod = list.slice(-period);
  if (lastPeriod.every((observation) => isSameOutcome(observation, lastPeriod[0] as Observation))) return 0;
  const backwards = list.toReversed();
  const firstMismatch = backwards.findIndex(
    (observation, index) => index >= period && !isSameOutcome(observation, backwards[index - period] as Observation),
  );
  const length = firstMismatch === -1 ? list.length : firstMismatch;
  return length < 2 * period ? 0 : Math.floor(length / 2);
}

/**
 * Minimum likeness, 0 to 1, of two answers that count as the same. `words`: for final messages without a result;
 * `result`: for results.
 */
const minLikeness = { words: 0.45, result: 0.7 } as const;

/**
 * Whether two iterations gave the same answer, perhaps in other words, but refused for the same reasons. A real
 * correction may be as similar, but it is refused for other reasons or accepted. At least one of the two has an answer.
 * `left`: whether an answer is a result.
 */
function isSameAnswer(a: Observation, b: Observation): boolean {
  if (a.answer === b.answer) return true;
  if (a.sketch === undefined || b.sketch === undefined || a.left !== b.left) return false;
  // Results with the same schema differ mainly in numbers and quotes. Refusals are about these, so the reasons are
  // compared unchanged.
  const isSameRefusal = a.left === true ? a.said === b.said : reasonsOf(a) === reasonsOf(b);
  return isSameRefusal && likenessOf(a.sketch, b.sketch) >= (a.left === true ? minLikeness.result : minLikeness.words);
}

/** Whether two iterations had the same outcome: compares their answers, or how they ended if both have no answer. */
const isSameOutcome = (a: Observation, b: Observation): boolean =>
  a.answer === undefined && b.answer === undefined ? endText(a) === endText(b) : isSameAnswer(a, b);

const endText = ({ outcome, failure, said }: Observation): string => `${outcome}: ${failure ?? said ?? ""}`;

/** How an iteration ended, without the names and numbers in its reasons. */
const reasonsOf = ({ outcome, failure, said = "" }: Observation): string =>
  `${outcome} ${failure ?? ""} ${withoutNames(said)}`;

const loopDescriptions: Readonly<Record<LoopKind, string>> = {
  "identical-answers": "the same answer was given again and again",
  oscillation: "the same answers alternated",
  "redundant-writes": "the same file was written again and again",
  "read-loop": "the same text was read again and again, without a result",
  "planning-loop": "work was announced but not done",
  "command-loop": "the same command was run again and again, without a result",
};

/** The repetition since the user last changed something, over all runs. */
const stagnationIn = ({ observations, limits, since: afterIteration }: LoopMemory): Repetition | undefined =>
  longestRepetition(observations, limits, afterIteration);

/** The warning about repetitions before they end the run; undefined without a repetition. */
export function stagnationWarning(memory: LoopMemory): string | undefined {
  const repetition = stagnationIn(memory);
  if (repetition === undefined || repetition.length >= memory.limits.stagnation) return undefined;
  return `The last ${iterationsIn(repetition)} iterations made no progress (${repetition.kind}): ${loopDescriptions[repetition.kind]}. The next brief says what to do differently; the run ends after ${memory.limits.stagnation} in a row at the latest.`;
}

/**
 * Ends a run that repeats itself: after a number of repetitions in a row since the user last changed something,
 * including earlier runs. The default is five (engine/lib/history-limits.ts). A script that starts a stuck run again
 * gets the same verdict at once.
 */
export const stopWhenStuck =
  ({ look, steer, otherwise }: Words): StopCondition =>
  ({ memory }) => {
    const otherwiseText = otherwise === undefined ? "" : `, ${otherwise}`;
    const repetition = memory && stagnationIn(memory);
    if (memory === undefined || repetition === undefined || repetition.length < memory.limits.stagnation)
      return undefined;
    const lastObservation = memory.observations.at(-1);
    const lastReason =
      lastObservation?.said === undefined ? "" : ` The last time: ${lastObservation.said.replace(/\.$/, "")}.`;
    return {
      verdict: "stuck",
      reason: `The last ${iterationsIn(repetition)} iterations made no progress (${repetition.kind}): ${loopDescriptions[repetition.kind]}.${lastReason} ${look}; then ${steer}${otherwiseText}.`,
    };
  };

/** Default maximum of iterations in a row without an accepted result. */
export const defaultMaxWithoutResult = 15;

/**
 * Ends a run without results that shows no loop, for example with a different refusal each time. Iterations of earlier
 * runs count too; otherwise a run that is started again and again would never stop. Iterations in which a service was
 * not available do not count.
 */
export const stopWithoutResult =
  ({ reasons, mend, otherwise }: Words, maximum: number = defaultMaxWithoutResult): StopCondition =>
  ({ iterations, memory }) => {
    const otherwiseText = otherwise === undefined ? "" : `, ${otherwise}`;
    const countInRun = iterations
      .slice(iterations.findLastIndex(({ outcome }) => outcome.outcome === "accepted") + 1)
      .filter((past) => past.outcome.outcome !== "noted" && isCounted(past)).length;
    const count = memory?.withoutResult ?? countInRun;
    return count < maximum
      ? undefined
      : {
          verdict: "stuck",
          reason: `None of the last ${count} iterations${memory === undefined ? "" : ", including those of earlier runs,"} brought an accepted result. ${reasons}; then ${mend}${otherwiseText}.`,
        };
  };
