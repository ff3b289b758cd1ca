import { withoutUndefined } from "../../lib/without-undefined.js";
import type { HistoryLimits } from "../../lib/history-limits.js";
import type { LedgerLine } from "../../generated/ledger.js";
import type { HistoryMetrics, Observation, Steering } from "../../generated/memory.js";
import type { Verdict } from "../../generated/event.js";

/** The title of the latest iterations, which are the last lines of a summary that was written without a model. */
export const recentTitle = "Lately:";

/** The memory of a workflow about earlier iterations, including earlier runs. Bounded in size. */
export interface LoopMemory {
  readonly limits: HistoryLimits;
  /** The outcomes of the last iterations, oldest first, without iterations in which no agent worked. */
  readonly observations: readonly Observation[];
  /** Summary of the earlier iterations, at most `limits.summaryChars` characters. */
  readonly historySummary?: string;
  /** Metrics of the summaries; absent before the first summary. */
  readonly metrics?: HistoryMetrics;
  /** The last iteration before the user last changed something; only later repetitions count. 0: no such change. */
  readonly since: number;
  /** Iterations in a row without an accepted result since the user last changed something, over all runs. */
  readonly withoutResult?: number;
  /** The ledger's last five lines, oldest first. */
  readonly ledger: readonly LedgerLine[];
  /** Advice for the next brief by kind of loop; absent: the advice for agents that write a result file. */
  readonly remedies?: Readonly<Record<string, string>>;
  /** The user's instructions for the agents, oldest first, until they are cleared. */
  readonly steering: readonly Steering[];
}

/** The fields of a state that store the loop's memory. */
interface StateMemory {
  readonly observations?: readonly Observation[];
  readonly history_summary?: string | null;
  readonly rch_metrics?: HistoryMetrics;
  readonly stagnation_since?: number;
  readonly steering?: readonly Steering[];
}

/** The loop's memory from a state, with the last five lines of `ledger`. */
export const memoryFrom = (
  {
    observations = [],
    history_summary: summary,
    rch_metrics: metrics,
    stagnation_since = 0,
    steering = [],
  }: StateMemory = {},
  ledger: readonly LedgerLine[],
  limits: HistoryLimits,
): LoopMemory => ({
  limits,
  observations,
  steering,
  since: stagnation_since,
  ledger: ledger.slice(-5),
  historySummary: summary || undefined,
  metrics,
});

/** A summary and what it cost. */
export interface Compression {
  /** At most `summaryChars` characters. */
  readonly summary: string;
  /** The iteration of the last observation that it covers. */
  readonly upTo: number;
  /** The author: `built-in`, or an agent's name. */
  readonly by: string;
  readonly chars_before: number;
  /** Input and output tokens of the summarising model; 0 without a model. */
  readonly tokens: number;
  /** Duration of the summary in seconds. */
  readonly duration_seconds: number;
  /** US dollars, as reported or estimated. */
  readonly cost_usd?: number;
  readonly estimated?: true;
}

/** The fields by which a state stores the verdict of the last run. `now`: milliseconds since the epoch. */
export const lastRunFields = (
  { verdict, reason, cause }: Verdict,
  now: number,
): Omit<Verdict, "signal"> & { at: string } => ({
  at: new Date(now).toISOString(),
  verdict,
  reason,
  ...withoutUndefined({ cause }),
});

/**
 * The observations to store. Loop detection needs the answers of the whole window, so these observations stay. A digest
 * is removed if a summary covers it or if there are more than `maxObservations` digests, but never from the newest
 * `keptDigests` observations. Idempotent.
 */
export function boundedObservations(
  observations: readonly Observation[],
  { observations: maxObservations, recent: keptDigests, window }: HistoryLimits,
  metrics?: HistoryMetrics,
): Observation[] {
  const isFull = observations.filter(({ digest }) => digest !== undefined).length > maxObservations;
  const newest = observations.slice(-Math.max(maxObservations, window));
  const lastCovered = newest.findLastIndex(({ iteration }) => iteration === metrics?.last_iteration);
  return newest.map((observation, index) => {
    if (index >= newest.length - keptDigests || !(isFull || index <= lastCovered)) return observation;
    const { digest: _dropped, ...withoutDigest } = observation;
    return withoutDigest;
  });
}

/**
 * The observations after the last summary, in the order in which they ended. Iteration numbers do not give that order:
 * with parallel agents, an earlier iteration may end later.
 */
export function observationsSinceSummary({
  observations,
  metrics,
}: Pick<LoopMemory, "observations"> & { readonly metrics?: HistoryMetrics }): readonly Observation[] {
  return observations.slice(observations.findLastIndex(({ iteration }) => iteration === metrics?.last_iteration) + 1);
}
