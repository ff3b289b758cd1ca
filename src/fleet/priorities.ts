/** The ranks of a coordinator's jobs. Rank 1 is the first. */
export interface Ranks {
  /** Adds a new job and returns its rank. */
  add(job: string): number;
  /** A worker has started the job, so it no longer waits. */
  started(job: string): void;
  /** The job has ended. Returns the job that gets its rank: the oldest waiting job with a worse rank. */
  ended(job: string): { readonly job: string; readonly rank: number } | undefined;
}

/**
 * Ranks are the priorities in the queue. With them, projects share the workers evenly: with four and with four hundred
 * jobs, each project has one job of rank 1, 2, 3 and 4. A free rank goes to the oldest waiting job of the same project,
 * so that no job waits without end. The next new job gets the rank which that job had.
 */
export function makeRanks(): Ranks {
  const ranks = new Map<string, number>();
  const waitingJobs = new Set<string>();
  /** Ranks that no job has, below the highest rank that is used. */
  const freeRanks = new Set<number>();
  return {
    add(job) {
      const rank = freeRanks.size > 0 ? Math.min(...freeRanks) : ranks.size + 1;
      freeRanks.delete(rank);
      ranks.set(job, rank);
      waitingJobs.add(job);
      return rank;
    },
    started: (job) => void waitingJobs.delete(job),
    ended(job) {
      const rank = ranks.get(job);
      ranks.delete(job);
      waitingJobs.delete(job);
      if (rank === undefined) return undefined;
      const oldestJob = [...waitingJobs].find((job) => (ranks.get(job) ?? 0) > rank);
      freeRanks.add((oldestJob === undefined ? undefined : ranks.get(oldestJob)) ?? rank);
      if (oldestJob === undefined) return undefined;
      ranks.set(oldestJob, rank);
      return { job: oldestJob, rank };
    },
  };
}
