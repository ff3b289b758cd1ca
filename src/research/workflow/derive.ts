import type { LedgerLine } from "../../engine/generated/ledger.js";
import { defaultHistoryLimits, type HistoryLimits } from "../../engine/lib/history-limits.js";
import { deriveLoop } from "../derived/observations.js";
import { withOverrides } from "../derived/overrides.js";
import { deriveStatistics } from "../derived/statistics.js";
import { deriveTiming } from "./timing.js";
import type { Rrd } from "../generated/rrd.js";
import { withKeys } from "../papers/paper-keys.js";
import { usesScores } from "../papers/rubric/rubric.js";
import { statusOf } from "./next-unit.js";

/** The state with everything that follows from its records computed again: statistics, phase and timing. Pure. */
export function derive(rrd: Rrd, ledger: readonly LedgerLine[], memory: HistoryLimits = defaultHistoryLimits): Rrd {
  const named = keepsKeys(rrd, ledger) ? withKeys(rrd) : rrd;
  const decided = withoutPoints(withOverrides(named));
  const counted: Rrd = { ...decided, statistics: deriveStatistics(decided) };
  const phase = statusOf(counted, ledger).phase;
  const whole = { ...counted, phase, timing: deriveTiming({ ...counted, phase }, ledger) };
  // A folder of the original that nobody has run yet stays as it is.
  return ledger.length === 0
    ? whole
    : {
        ...whole,
        loop: { ...deriveLoop(rrd, ledger, memory), iteration: lastIteration(ledger), done: phase === "COMPLETE" },
      };
}

/**
 * What of it the next of several folds builds on: counts, phase and timing follow from the records and the ledger at
 * any time. What a file of another program states is compared at once, as it is by the first fold. Pure.
 */
export const deriveBetween = (
  rrd: Rrd,
  ledger: readonly LedgerLine[],
  memory: HistoryLimits = defaultHistoryLimits,
): Rrd =>
  rrd.format === undefined
    ? derive(rrd, ledger, memory)
    : {
        ...rrd,
        loop: { ...deriveLoop(rrd, ledger, memory), iteration: lastIteration(ledger), done: rrd.loop?.done ?? false },
      };

/** The state without fields of points that hold nothing, where a project gives none. */
function withoutPoints(rrd: Rrd): Rrd {
  if (usesScores(rrd)) return rrd;
  const papers_pool = rrd.papers_pool.map((paper) => {
    const kept = { ...paper };
    for (const field of ["score", "score_breakdown", "held_scores"] as const)
      if (kept[field] === null) delete kept[field];
    return kept;
  });
  return { ...rrd, papers_pool };
}

/**
 * Whether keys are written: not into a file that another program writes, nor where agents write it themselves, in
 * classic mode.
 */
const keepsKeys = ({ format }: Rrd, ledger: readonly LedgerLine[]): boolean =>
  format !== undefined && !ledger.some(({ unit }) => unit === "classic");

const lastIteration = (ledger: readonly LedgerLine[]): number =>
  ledger.reduce((highest, line) => Math.max(highest, line.iteration), 0);
