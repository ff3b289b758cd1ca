/**
 * Limits of the memory about earlier iterations, and the number of repetitions that ends a run. The user can set them
 * in the configuration.
 */
export interface HistoryLimits {
  /** Maximum number of observations with a digest; if there are more, only the newest `recent` keep their digest. */
  readonly observations: number;
  /** Number of newest observations that keep their digest after older ones are summarised. */
  readonly recent: number;
  /** Maximum number of characters of an observation's digest. */
  readonly observationChars: number;
  /** Maximum number of characters of the summary of the history. */
  readonly summaryChars: number;
  /** Number of repeated iterations in a row after which a run ends as stuck. */
  readonly stagnation: number;
  /** Number of newest iterations that are compared to find repetitions. */
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
