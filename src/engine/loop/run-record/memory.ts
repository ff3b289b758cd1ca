import type { LedgerLine } from "../../generated/ledger.js";
import type { HistoryMetrics, Observation, Steering } from "../../generated/memory.js";

/** What a workflow remembers of earlier iterations, also of those of earlier runs. Bounded. */
export interface LoopMemory {
  /** What came of the last iterations, oldest first; at most ten. Those whose agent never got to work are not among them. */
  readonly observations: readonly Observation[];
  /** What came before, at most 2,000 characters. */
  readonly historySummary?: string;
  /** Measures of the summary; absent where there never was one. */
  readonly metrics?: HistoryMetrics;
  /** Iterations in a row without an accepted result, of all runs since a person last acted. */
  readonly stagnation?: number;
  /** The ledger's last five lines, oldest first. */
  readonly ledger: readonly LedgerLine[];
  /** What a person told the agents, oldest first, until it is cleared. */
  readonly steering: readonly Steering[];
}

/** A summary and what it cost. */
export interface Compression {
  /** At most 2,000 characters. */
  readonly summary: string;
  /** The iteration of the last observation that it covers. */
  readonly upTo: number;
  /** Who wrote it: `built-in`, or an agent's name. */
  readonly by: string;
  readonly chars_before: number;
  /** Tokens in and out that the historian's model used; 0 without a model. */
  readonly tokens: number;
  /** US dollars, as reported or estimated. */
  readonly cost_usd?: number;
  readonly estimated?: true;
}

/** Observations that are kept at all. */
const maxObservations = 10;
/** Observations that keep their digest once there are more than `maxObservations` with one. */
const keptDigests = 3;

/**
 * The observations that stay: the last ten, and of these all with a digest until there would be an eleventh; then only the last three
 * keep it. The same however often it is done.
 */
export function bounded(observations: readonly Observation[]): Observation[] {
  const withDigest = observations.filter(({ digest }) => digest !== undefined).length;
  const last = observations.slice(-maxObservations);
  if (withDigest <= maxObservations) return last;
  return last.map((each, index) => {
    const { digest: _dropped, ...rest } = each;
    return index < last.length - keptDigests ? rest : each;
  });
}

/**
 * The observations that came after the last summary, in the order in which they came: of agents at work side by side an earlier
 * iteration may end later, so their numbers tell nothing of that.
 */
export function sinceSummary({
  observations,
  metrics,
}: Pick<LoopMemory, "observations"> & { readonly metrics?: HistoryMetrics | undefined }): readonly Observation[] {
  return observations.slice(observations.findLastIndex(({ iteration }) => iteration === metrics?.last_iteration) + 1);
}
