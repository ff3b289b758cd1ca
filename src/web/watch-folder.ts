import { watch } from "chokidar";
import { hiddenName, ledgerName, lockName, pauseName, stopName, underWayName } from "../engine/lib/layout.js";

const watchedNames: ReadonlySet<string> = new Set([ledgerName, lockName, pauseName, stopName]);
const watchedInHidden: ReadonlySet<string> = new Set([ledgerName, lockName, underWayName]);

/** Whether a path below `root` is irrelevant. Only state files (`states`), ledgers, locks and marks of a run matter. */
export function isIrrelevant(root: string, path: string, isFile: boolean, states: readonly string[]): boolean {
  const parts = path === root ? [] : path.slice(root.length + 1).split(/[\\/]/);
  if (parts.some((part) => part === "node_modules" || (part.startsWith(".") && part !== hiddenName))) return true;
  const hiddenIndex = parts.indexOf(hiddenName);
  if (hiddenIndex !== -1 && parts.length > hiddenIndex + 1)
    return parts.length > hiddenIndex + 2 || !watchedInHidden.has(parts[hiddenIndex + 1] ?? "");
  const name = parts.at(-1) ?? "";
  return isFile && !watchedNames.has(name) && !states.includes(name);
}

/**
 * Watches a folder down to `depth` until the returned function is called. `ignored`: whether a path is not watched.
 * Paths that can't be watched, such as an unreadable folder, are skipped; callers also check at intervals.
 */
export function watchFolder(
  folder: string,
  { depth, ignored }: { readonly depth: number; readonly ignored: (path: string, isFile: boolean) => boolean },
  changed: () => void,
): () => Promise<void> {
  const watcher = watch(folder, {
    depth,
    ignoreInitial: true,
    followSymlinks: false,
    ignored: (path, stats) => ignored(path, stats?.isFile() === true),
  });
  watcher.on("all", changed);
  // Changes before the watcher was ready were not reported.
  watcher.on("ready", changed);
  watcher.on("error", () => undefined);
  return () => watcher.close();
}
