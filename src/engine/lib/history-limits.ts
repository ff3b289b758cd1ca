/**
 * Limits of the memory about earlier iterations, and the number of repetitions that ends a run. The user can set them
 * in the configuration.
 */
export interface HistoryLimits {
  /** Most observations with a digest of the agent's work; beyond that, only the newest `recent` keep their digest. */
  readonly observations: number;
  /** Number of newest observations that keep their digest after older ones are summarised. */
  readonly recent: number;
  /** Most characters of an observation's digest. */
  readonly observationChars: number;
  /** Most characters of the summary of the history. */
  readonly summaryChars: number;
  /** Number of repetitions in a row after which a run ends as stuck. */
  readonly stagnation: number;
  /** Number of newest iterations in which repetitions are searched. */
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
