/**
 * Tells guards about this process's own writes to watched files. All code in storage/ that writes, moves or removes a
 * file announces it here first; without an active guard this costs nothing. So a guard never mistakes a write of this
 * process for a write of the agent.
 */
export interface Watcher {
  /** Called right before `path` gets this content; the returned function is called right after the write. */
  beforeWrite(path: string, content: () => Buffer): () => void;
  /** Called right before a file is moved, or removed if `to` is undefined. */
  beforeMove(path: string, to: string | undefined): void;
  /** The valid content of `path`, without changes of an agent; undefined if no file should exist. */
  validContent(path: string): Buffer | "unwatched" | undefined;
}

const watchers = new Set<Watcher>();

/** Tells a watcher about every write from now on. Returns a function that stops this. */
export function watch(watcher: Watcher): () => void {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
}

/**
 * Announces that `write` puts this content at `path`, and calls it. Synchronous, so that no guard checks in between.
 * `content` is called only if a guard is active.
 */
export function announceWrite<Result>(path: string, content: () => Buffer, write: () => Result): Result {
  const callbacks = [...watchers].map((watcher) => watcher.beforeWrite(path, content));
  const result = write();
  for (const callback of callbacks) callback();
  return result;
}

/** Announces that a file will be moved, or removed if `to` is undefined. */
export function announceMove(path: string, to: string | undefined): void {
  for (const watcher of watchers) watcher.beforeMove(path, to);
}

/**
 * The content of `path` that guards remember, while an agent works that could forge the file. "unwatched": no guard
 * remembers the file, so the content on the disk is valid.
 */
export function recordedContent(path: string): Buffer | "unwatched" | undefined {
  for (const watcher of watchers) {
    const content = watcher.validContent(path);
    if (content !== "unwatched") return content;
  }
  return "unwatched";
}
