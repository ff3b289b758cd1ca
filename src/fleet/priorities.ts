/** The places of a coordinator's jobs among its own; 1 is the first. */
export interface Ranks {
  /** The rank of a new job. */
  add(job: string): number;
  /** A worker has begun it: it waits no more. */
  begun(job: string): void;
  /** It is over. Answers with the job that takes its rank: of those that wait behind it the oldest. */
  over(job: string): { readonly job: string; readonly rank: number } | undefined;
}

/**
 * Ranks are the priorities of the queue, so that projects share the places of the workers evenly: of two projects with
 * four and four hundred jobs, each has a job of rank 1, 2, 3 and 4. A rank that falls free goes to the oldest of the
 * project's own jobs that still wait, so that none of them waits without end, and the next new job takes that one's.
 */
export function ranksOf(): Ranks {
  const ranks = new Map<string, number>();
  const waiting = new Set<string>();
  /** Ranks below the highest that nobody has. */
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
      const oldest = [...waiting].find((each) => (ranks.get(each) ?? 0) > rank);
      free.add((oldest === undefined ? undefined : ranks.get(oldest)) ?? rank);
      if (oldest === undefined) return undefined;
      ranks.set(oldest, rank);
      return { job: oldest, rank };
    },
  };
}
