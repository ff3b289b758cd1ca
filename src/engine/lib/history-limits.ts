/**
 * How much of earlier iterations is remembered, and from when on a repetition ends a run. The user sets them in the
 * configuration.
 */
export interface HistoryLimits {
  /** Observations that may tell what an agent did; of more, only the newest `recent` do. */
  readonly observations: number;
  /** Newest observations that still tell what an agent did once older ones are summarised. */
  readonly recent: number;
  /** Most characters of what an observation tells. */
  readonly observationChars: number;
  /** Most characters of the summary of the history. */
  readonly summaryChars: number;
  /** Repetitions in a row at which a run ends as stuck. */
  readonly stagnation: number;
  /** Newest iterations in which repetitions are looked for. */
  readonly window: number;
}

export const defaultHistoryLimits: HistoryLimits = {
  observations: 10,
  recent: 3,
  observationChars: 1_500,
  summaryChars: 2_000,
  stagnation: 5,
  window: 10,
};
