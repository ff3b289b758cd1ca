/**
 * What this process writes itself into files that a guard watches. Everything in storage/ that writes, moves or removes
 * a file says so here first; with no guard at work that costs nothing. So what is folded, journalled or cached while an
 * agent works is never taken for the agent's.
 */
export interface Watcher {
  /** Told right before `path` gets this content; what it answers with is called once it has it. */
  writes(path: string, content: () => Buffer): () => void;
  /** Told right before a file is moved or removed; `to` undefined: removed. */
  moves(path: string, to: string | undefined): void;
  /** What `path` holds by this process and by people; "unwatched", or undefined where there is to be no such file. */
  agreed(path: string): Buffer | "unwatched" | undefined;
}

const watchers = new Set<Watcher>();

/** Has a guard told of every write from now on; the answer ends that. */
export function watch(watcher: Watcher): () => void {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
}

/**
 * Says that `write` puts this content at `path`, and does it. Both in one go, so that no guard looks in between.
 * `content` is asked for only where a guard is at work.
 */
export function ownWrite<Result>(path: string, content: () => Buffer, write: () => Result): Result {
  const written = [...watchers].map((watcher) => watcher.writes(path, content));
  const result = write();
  for (const done of written) done();
  return result;
}

/** The same for a file that is moved, or removed where `to` is undefined. */
export function ownMove(path: string, to: string | undefined): void {
  for (const watcher of watchers) watcher.moves(path, to);
}

/**
 * What is agreed to stand at `path` while an agent works there that could forge it; "unwatched" where no guard
 * remembers the file, so that what is on the disk counts.
 */
export function agreedContent(path: string): Buffer | "unwatched" | undefined {
  for (const watcher of watchers) {
    const agreed = watcher.agreed(path);
    if (agreed !== "unwatched") return agreed;
  }
  return "unwatched";
}
