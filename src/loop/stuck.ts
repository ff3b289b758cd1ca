import type { Digest } from "./digest.js";
import type { Observation } from "./memory.js";
import { counts } from "./guards.js";
import type { Guard } from "./types.js";

/** The ways in which iterations go round in circles. */
export const loopKinds = ["identical-answers", "oscillation", "redundant-writes", "read-loop", "planning-loop", "command-loop"] as const;
export type LoopKind = (typeof loopKinds)[number];

/** From so many in a row on the next brief says what to do otherwise. */
const remedyAt = 2;
/** At so many in a row the run is stuck. */
const stuckAt = 5;

/** How many of the last iterations, none of them accepted, show a loop of this kind in a row; for oscillation, pairs of them. */
export interface Row {
  readonly kind: LoopKind;
  readonly length: number;
}

/**
 * Kinds of loop that one run shows by itself. `left`: it left a result; then what it read, ran or announced on the way was no loop.
 * The thresholds lie above what healthy runs of Claude Code and Codex do: a long text is read in parts, each once.
 */
export function signsOf({ counts, repeated }: Digest, left: boolean): LoopKind[] {
  const did = counts.read + counts.write + counts.command;
  return [
    ...(repeated.write >= 5 ? ["redundant-writes" as const] : []),
    ...(!left && (repeated.read >= 4 || (counts.read > 0 && did === counts.read)) ? ["read-loop" as const] : []),
    ...(!left && did === 0 && counts.plan > 0 ? ["planning-loop" as const] : []),
    ...(!left && repeated.command >= 3 ? ["command-loop" as const] : []),
  ];
}

/** The longest row of one kind that the last iterations end in; undefined below two. Accepted work ends every row. */
export function rowOf(observations: readonly Observation[]): Row | undefined {
  const since = observations.slice(observations.findLastIndex(({ outcome }) => outcome === "accepted") + 1);
  const rows = loopKinds.map((kind) => ({ kind, length: lengthOf(kind, since) }));
  const longest = rows.reduce((best, row) => (row.length > best.length ? row : best));
  return longest.length < remedyAt ? undefined : longest;
}

function lengthOf(kind: LoopKind, since: readonly Observation[]): number {
  const trailing = (like: (each: Observation) => boolean): number => since.length - 1 - since.findLastIndex((each) => !like(each));
  if (kind === "oscillation") return pairs(since.map(likeness));
  if (kind !== "identical-answers") return trailing(({ signs = [] }) => signs.includes(kind));
  const last = since.at(-1)?.answer;
  return last === undefined ? 0 : trailing(({ answer }) => answer === last);
}

/** Complete pairs in the row A B A B that the list ends in; A and B differ. */
function pairs(list: readonly string[]): number {
  const [a, b] = [list.at(-2), list.at(-1)];
  if (a === undefined || a === b) return 0;
  const backwards = list.toReversed();
  const broken = backwards.findIndex((each, index) => each !== (index % 2 === 0 ? b : a));
  return Math.floor((broken === -1 ? list.length : broken) / 2);
}

/** What two iterations have in common that came to the same: their answer, else how they ended. */
const likeness = ({ answer, outcome, failure, said }: Observation): string => answer ?? `${outcome}: ${failure ?? said ?? ""}`;

/** The kind of loop that the last iterations show; undefined for none. */
export const loopTypeOf = (observations: readonly Observation[]): LoopKind | undefined => rowOf(observations)?.kind;

const inWords: Readonly<Record<LoopKind, string>> = {
  "identical-answers": "the same answer came again and again",
  oscillation: "two answers took turns",
  "redundant-writes": "the same file was written over and over",
  "read-loop": "the same was read again and again and no result was left",
  "planning-loop": "work was announced and none was done",
  "command-loop": "the same command was run again and again and no result was left",
};

/**
 * Ends a run that goes round in circles: five in a row of one kind, counted over the iterations of this run, so that it can be run
 * again once somebody has changed something.
 */
export const stopWhenStuck: Guard = ({ memory, iterations }) => {
  const first = Math.min(...iterations.map(({ iteration }) => iteration));
  const row = rowOf((memory?.observations ?? []).filter(({ iteration }) => iteration >= first));
  if (row === undefined || row.length < stuckAt) return undefined;
  const last = memory?.observations.at(-1);
  const times = row.kind === "oscillation" ? row.length * 2 : row.length;
  const why = last?.said === undefined ? "" : ` The last time: ${last.said.replace(/\.$/, "")}.`;
  return {
    verdict: "stuck",
    reason: `The last ${times} iterations got nowhere (${row.kind}): ${inWords[row.kind]}.${why} Look at loop.observations in rrd.json, change what is asked for or the --agent, and run again.`,
  };
};

/** Iterations in a row without an accepted result at which a run ends, whatever each of them did. */
const mostWithoutResult = 15;

/**
 * Ends a run that brings nothing, also where no loop shows: different refusals in turn. Iterations of earlier runs count too, else a run
 * that is started again and again would never stop; those that only met a closed service don't.
 */
export const stopWithoutResult: Guard = ({ iterations, memory }) => {
  const inThisRun = iterations.slice(iterations.findLastIndex(({ outcome }) => outcome.outcome === "accepted") + 1).filter(counts).length;
  const row = memory?.stagnation ?? inThisRun;
  return row < mostWithoutResult
    ? undefined
    : {
        verdict: "stuck",
        reason: `None of the last ${row} iterations, those of earlier runs among them, brought an accepted result. Look at the reasons in ledger.jsonl; then say what to do otherwise with 'research-ralph steer', raise a limit in rrd.json, take another --agent, or run again with --force as it is.`,
      };
};
