/** What a workflow remembers of earlier iterations. */
export interface LoopMemory {
  readonly observations: readonly Observation[];
  readonly historySummary?: string;
}

/** One unit's outcome with a digest of what its agent did. */
export interface Observation {
  readonly iteration: number;
  readonly unit: string;
  readonly outcome: "accepted" | "refused" | "failed";
  /** At most 1,500 characters. */
  readonly digest: string;
}
