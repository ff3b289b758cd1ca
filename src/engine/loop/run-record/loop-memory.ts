import { given } from "../../lib/given.js";
import type { HistoryLimits } from "../../lib/history-limits.js";
import type { LedgerLine } from "../../generated/ledger.js";
import type { HistoryMetrics, Observation, Steering } from "../../generated/memory.js";
import type { Verdict } from "../../generated/event.js";

/** What a workflow remembers of earlier iterations, also of those of earlier runs. Bounded. */
export interface LoopMemory {
  readonly limits: HistoryLimits;
  /** What came of the last iterations, oldest first. Those whose agent never got to work are not among them. */
  readonly observations: readonly Observation[];
  /** What came before, at most `limits.summaryChars` characters. */
  readonly historySummary?: string;
  /** Measures of the summary; absent where there never was one. */
  readonly metrics?: HistoryMetrics;
  /** The iteration after which a person last acted: repetitions are counted from then on. 0: never. */
  readonly since: number;
  /** Iterations in a row without an accepted result, of all runs since then. */
  readonly withoutResult?: number;
  /** The ledger's last five lines, oldest first. */
  readonly ledger: readonly LedgerLine[];
  /** What the next brief says to do otherwise, by the kind of loop; absent: as for agents that leave a result file. */
  readonly remedies?: Readonly<Record<string, string>>;
  /** What a person told the agents, oldest first, until it is cleared. */
  readonly steering: readonly Steering[];
}

/** What the state of a kind of work keeps of its iterations for the loop. */
interface Kept {
  readonly observations?: readonly Observation[] | undefined;
  readonly history_summary?: string | null | undefined;
  readonly rch_metrics?: HistoryMetrics | undefined;
  readonly stagnation_since?: number | undefined;
  readonly steering?: readonly Steering[] | undefined;
}

/** What such a state remembers of its iterations, with the last five lines of `ledger`. */
export const rememberedIn = (
  { observations = [], history_summary: summary, rch_metrics: metrics, stagnation_since = 0, steering = [] }: Kept = {},
  ledger: readonly LedgerLine[],
  limits: HistoryLimits,
): LoopMemory => ({
  ...{ limits, observations, steering, since: stagnation_since, ledger: ledger.slice(-5) },
  ...(summary ? { historySummary: summary } : {}),
  ...given({ metrics }),
});

/** A summary and what it cost. */
export interface Compression {
  /** At most `summaryChars` characters. */
  readonly summary: string;
  /** The iteration of the last observation that it covers. */
  readonly upTo: number;
  /** Who wrote it: `built-in`, or an agent's name. */
  readonly by: string;
  readonly chars_before: number;
  /** Tokens in and out that the historian's model used; 0 without a model. */
  readonly tokens: number;
  /** How long it took. */
  readonly duration_seconds: number;
  /** US dollars, as reported or estimated. */
  readonly cost_usd?: number;
  readonly estimated?: true;
}

/** How a run ended, as a state keeps it. `now`: milliseconds since the epoch. */
export const lastRun = (
  { verdict, reason, cause }: Verdict,
  now: number,
): Omit<Verdict, "signal"> & { at: string } => ({
  at: new Date(now).toISOString(),
  verdict,
  reason,
  ...given({ cause }),
});

/**
 * The observations that stay. Loop detection needs the answers of the whole window, so these stay; what an agent did is
 * dropped from all but the newest `recent` once a summary covers it, or there are more than `observations` that tell
 * it. The same however often it is done.
 */
export function bounded(
  observations: readonly Observation[],
  { observations: most, recent, window }: HistoryLimits,
  metrics?: HistoryMetrics,
): Observation[] {
  const isFull = observations.filter(({ digest }) => digest !== undefined).length > most;
  const last = observations.slice(-Math.max(most, window));
  const covered = last.findLastIndex(({ iteration }) => iteration === metrics?.last_iteration);
  return last.map((each, index) => {
    if (index >= last.length - recent || !(isFull || index <= covered)) return each;
    const { digest: _dropped, ...rest } = each;
    return rest;
  });
}

/**
 * The observations that came after the last summary, in the order in which they came. Their numbers do not give that
 * order: of agents that work side by side an earlier iteration may end later.
 */
export function sinceSummary({
  observations,
  metrics,
}: Pick<LoopMemory, "observations"> & { readonly metrics?: HistoryMetrics | undefined }): readonly Observation[] {
  return observations.slice(observations.findLastIndex(({ iteration }) => iteration === metrics?.last_iteration) + 1);
}
