import type { LedgerLine } from "../../engine/generated/ledger.js";
import { defaultHistoryLimits, type HistoryLimits } from "../../engine/lib/history-limits.js";
import { deriveLoop } from "../derived/observations.js";
import { withOverrides } from "../derived/overrides.js";
import { withoutScreenedSeparated } from "../derived/separated.js";
import { deriveStatistics } from "../derived/statistics.js";
import { deriveTiming } from "./timing.js";
import type { Rrd } from "../generated/rrd.js";
import { withKeys } from "../papers/paper-keys.js";
import { usesScores } from "../papers/rubric/rubric.js";
import { statusOf } from "./next-unit.js";

/** The state with new values of all derived fields: keys, statistics, phase and timing. Pure. */
export function derive(rrd: Rrd, ledger: readonly LedgerLine[], memory: HistoryLimits = defaultHistoryLimits): Rrd {
  const counted = withoutScreenedSeparated(rrd);
  const withStableKeys = writesKeys(rrd, ledger) ? withKeys(counted) : counted;
  const withDecisions = withoutPoints(withOverrides(withStableKeys));
  const withStatistics: Rrd = { ...withDecisions, statistics: deriveStatistics(withDecisions) };
  const phase = statusOf(withStatistics, ledger).phase;
  const derived = { ...withStatistics, phase, timing: deriveTiming({ ...withStatistics, phase }, ledger) };
  // A project without a run, such as a folder of the original tool, gets no loop fields.
  return ledger.length === 0
    ? derived
    : {
        ...derived,
        loop: { ...deriveLoop(rrd, ledger, memory), iteration: lastIteration(ledger), done: phase === "COMPLETE" },
      };
}

/**
 * Like derive, between several folds: only the fields that the next fold needs. Statistics, phase and timing are
 * derived at the end. A file of another program is derived completely, because its statements are compared. Pure.
 */
export const deriveBetween = (rrd: Rrd, ledger: readonly LedgerLine[], memory: HistoryLimits): Rrd =>
  rrd.format === undefined
    ? derive(rrd, ledger, memory)
    : {
        ...rrd,
        loop: { ...deriveLoop(rrd, ledger, memory), iteration: lastIteration(ledger), done: rrd.loop?.done ?? false },
      };

/** Removes empty score fields, if the project does not use scores. */
function withoutPoints(rrd: Rrd): Rrd {
  if (usesScores(rrd)) return rrd;
  const papers_pool = rrd.papers_pool.map((paper) => {
    const copy = { ...paper };
    for (const field of ["score", "score_breakdown", "held_scores"] as const)
      if (copy[field] === null) delete copy[field];
    return copy;
  });
  return { ...rrd, papers_pool };
}

/**
 * Whether keys are written: not into a file of another program, and not in classic mode, in which agents write the
 * file.
 */
const writesKeys = ({ format }: Rrd, ledger: readonly LedgerLine[]): boolean =>
  format !== undefined && !ledger.some(({ unit }) => unit === "classic");

const lastIteration = (ledger: readonly LedgerLine[]): number =>
  ledger.reduce((highest, line) => Math.max(highest, line.iteration), 0);
