/** The ranks of a coordinator's jobs. Rank 1 is the first. */
export interface Ranks {
  /** The rank of a new job. */
  add(job: string): number;
  /** A worker has started the job, so it no longer waits. */
  begun(job: string): void;
  /** The job has ended. Answers with the job that gets its rank: the oldest waiting job with a worse rank. */
  over(job: string): { readonly job: string; readonly rank: number } | undefined;
}

/**
 * Ranks are the priorities in the queue. With them, projects share the workers evenly: with four and with four hundred
 * jobs, each project has one job of rank 1, 2, 3 and 4. A free rank goes to the oldest waiting job of the same project,
 * so that no job waits without end. The next new job gets the rank which that job had.
 */
export function makeRanks(): Ranks {
  const ranks = new Map<string, number>();
  const waiting = new Set<string>();
  /** Free ranks below the highest one. */
  const free = new Set<number>();
  return {
    add(job) {
      const rank = free.size > 0 ? Math.min(...free) : ranks.size + 1;
      free.delete(rank);
      ranks.set(job, rank);
      waiting.add(job);
      return rank;
    },
    begun: (job) => void waiting.delete(job),
    over(job) {
      const rank = ranks.get(job);
      ranks.delete(job);
      waiting.delete(job);
      if (rank === undefined) return undefined;
      const oldest = [...waiting].find((job) => (ranks.get(job) ?? 0) > rank);
      free.add((oldest === undefined ? undefined : ranks.get(oldest)) ?? rank);
      if (oldest === undefined) return undefined;
      ranks.set(oldest, rank);
      return { job: oldest, rank };
    },
  };
}
