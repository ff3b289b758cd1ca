import { type Digest, withoutNames } from "../run-record/digest.js";
import { likenessOf } from "../../lib/minhash.js";
import { counts } from "./limits.js";
import type { StopCondition, Words } from "../types.js";
import type { Observation } from "../../generated/memory.js";
import type { HistoryLimits } from "../../lib/history-limits.js";
import type { LoopMemory } from "../run-record/loop-memory.js";

/**
 * The ways in which iterations repeat themselves. Those first that say why nothing was left: files that stay as they
 * are, are the same each time.
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

/** From so many in a row on the next brief says what to do otherwise, and the person is warned. */
const remedyAt = 2;

/**
 * How many of the last iterations, none of them accepted, show a loop of this kind in a row; for oscillation, pairs of
 * them.
 */
export interface Row {
  readonly kind: LoopKind;
  readonly length: number;
}

/**
 * Kinds of loop that one run shows by itself. `left`: it left a result, so what it read, ran or announced on the way
 * was not a loop. `whole`: it ended by itself and its stream reports what it did; what another run would still have
 * done is not known. The thresholds lie above what healthy runs of Claude Code and Codex do: a long text is read in
 * parts, each once.
 */
export function signsOf({ counts, repeated, remade, last }: Digest, left: boolean, whole: boolean): LoopKind[] {
  const did = counts.read + counts.write + counts.command;
  const onlyRead = whole && counts.read > 0 && did === counts.read;
  // A run that did nothing announced work or made excuses, whatever its words. An unreadable object is an attempt.
  const onlySpoke = did === 0 && (counts.plan > 0 || (whole && last !== "" && !/^(?:```|\{)/.test(last)));
  return [
    ...(repeated.write >= 5 || remade >= 3 ? ["redundant-writes" as const] : []),
    ...(!left && (repeated.read >= 4 || onlyRead) ? ["read-loop" as const] : []),
    ...(!left && onlySpoke ? ["planning-loop" as const] : []),
    ...(!left && repeated.command >= 3 ? ["command-loop" as const] : []),
  ];
}

/** Iterations in a row. */
export const iterationsIn = ({ kind, length }: Row): number => (kind === "oscillation" ? length * 2 : length);

/** The longest row of one kind that the last iterations end in; undefined below two. Accepted work ends every row. */
export function rowOf(
  observations: readonly Observation[],
  { window }: Pick<HistoryLimits, "window">,
  after = 0,
): Row | undefined {
  const seen = observations.slice(-window).filter(({ iteration }) => iteration > after);
  const since = seen.slice(seen.findLastIndex(({ outcome }) => outcome === "accepted") + 1);
  const rows = loopKinds.map((kind) => ({ kind, length: lengthOf(kind, since) }));
  const longest = rows.reduce((best, row) => (row.length > best.length ? row : best));
  return longest.length < remedyAt ? undefined : longest;
}

function lengthOf(kind: LoopKind, since: readonly Observation[]): number {
  const trailing = (like: (each: Observation) => boolean): number =>
    since.length - 1 - since.findLastIndex((each) => !like(each));
  if (kind === "oscillation") return Math.max(...periods.map((period) => pairs(since, period)));
  if (kind !== "identical-answers") return trailing(({ signs = [] }) => signs.includes(kind));
  const last = since.at(-1);
  return last?.answer === undefined ? 0 : trailing((each) => isSameAnswer(each, last));
}

/** Answers that may take turns. */
const periods = [2, 3, 4, 5];

/**
 * Number of pairs of iterations at the end of the list that repeat themselves every `period` iterations, at least
 * twice.
 */
function pairs(list: readonly Observation[], period: number): number {
  const turn = list.slice(-period);
  if (turn.every((each) => isSame(each, turn[0] as Observation))) return 0;
  const backwards = list.toReversed();
  const broken = backwards.findIndex(
    (each, index) => index >= period && !isSame(each, backwards[index - period] as Observation),
  );
  const length = broken === -1 ? list.length : broken;
  return length < 2 * period ? 0 : Math.floor(length / 2);
}

/**
 * Two answers that share so many of their words count as the same answer. `words`: final messages without a result;
 * `result`: results.
 */
const alike = { words: 0.45, result: 0.7 } as const;

/**
 * Whether two iterations, of which at least one gave an answer, gave the same one, perhaps in other words and refused
 * for the same reasons. An honest correction looks as similar, but it is refused for other reasons or not at all.
 */
function isSameAnswer(a: Observation, b: Observation): boolean {
  if (a.answer === b.answer) return true;
  if (a.sketch === undefined || b.sketch === undefined || a.left !== b.left) return false;
  // Results of one form differ only in what they are refused for, such as numbers and quotes: that must be identical.
  const isSameRefusal = a.left === true ? a.said === b.said : reasonsOf(a) === reasonsOf(b);
  return isSameRefusal && likenessOf(a.sketch, b.sketch) >= (a.left === true ? alike.result : alike.words);
}

/** Whether two iterations had the same outcome: compared by their answers, or without answers by how they ended. */
const isSame = (a: Observation, b: Observation): boolean =>
  a.answer === undefined && b.answer === undefined ? endOf(a) === endOf(b) : isSameAnswer(a, b);

const endOf = ({ outcome, failure, said }: Observation): string => `${outcome}: ${failure ?? said ?? ""}`;

/** How an iteration ended, without the names and numbers in its reasons. */
const reasonsOf = ({ outcome, failure, said = "" }: Observation): string =>
  `${outcome} ${failure ?? ""} ${withoutNames(said)}`;

const inWords: Readonly<Record<LoopKind, string>> = {
  "identical-answers": "the same answer was given again and again",
  oscillation: "the same answers alternated",
  "redundant-writes": "the same file was written again and again",
  "read-loop": "the same text was read again and again, without a result",
  "planning-loop": "work was announced but not done",
  "command-loop": "the same command was run again and again, without a result",
};

/** The row of repetitions since a person last acted, over all runs. */
export const stagnationIn = ({ observations, limits, since }: LoopMemory): Row | undefined =>
  rowOf(observations, limits, since);

/** The warning about repetitions before they end the run; undefined without repetitions. */
export function stagnationWarning(memory: LoopMemory): string | undefined {
  const row = stagnationIn(memory);
  if (row === undefined || row.length >= memory.limits.stagnation) return undefined;
  return `The last ${iterationsIn(row)} iterations made no progress (${row.kind}): ${inWords[row.kind]}. The next brief says what to do differently; at ${memory.limits.stagnation} in a row the run ends as stuck.`;
}

/**
 * Ends a run that repeats itself: so many repetitions in a row since a person last acted, earlier runs included; five,
 * unless the configuration says otherwise (engine/lib/history-limits.ts). A script that starts a stuck run again gets
 * the same verdict at once.
 */
export const stopWhenStuck =
  ({ look, steer, otherwise }: Words): StopCondition =>
  ({ memory }) => {
    const other = otherwise === undefined ? "" : `, ${otherwise}`;
    const row = memory && stagnationIn(memory);
    if (memory === undefined || row === undefined || row.length < memory.limits.stagnation) return undefined;
    const last = memory.observations.at(-1);
    const why = last?.said === undefined ? "" : ` The last time: ${last.said.replace(/\.$/, "")}.`;
    return {
      verdict: "stuck",
      reason: `The last ${iterationsIn(row)} iterations made no progress (${row.kind}): ${inWords[row.kind]}.${why} ${look}; then ${steer}${other}.`,
    };
  };

/** Iterations in a row without an accepted result at which a run ends, unless told otherwise, whatever each did. */
const maxWithoutResult = 15;

/**
 * Ends a run that brings no result although no loop shows, such as one with a different refusal each time. Iterations
 * of earlier runs count too, otherwise a run that is started again and again would never stop; those in which a service
 * was not available don't.
 */
export const stopWithoutResult =
  ({ reasons, mend, otherwise }: Words, most: number = maxWithoutResult): StopCondition =>
  ({ iterations, memory }) => {
    const other = otherwise === undefined ? "" : `, ${otherwise}`;
    const inThisRun = iterations
      .slice(iterations.findLastIndex(({ outcome }) => outcome.outcome === "accepted") + 1)
      .filter((past) => past.outcome.outcome !== "noted" && counts(past)).length;
    const row = memory?.withoutResult ?? inThisRun;
    return row < most
      ? undefined
      : {
          verdict: "stuck",
          reason: `None of the last ${row} iterations${memory === undefined ? "" : ", including those of earlier runs,"} brought an accepted result. ${reasons}; then ${mend}${other}.`,
        };
  };
