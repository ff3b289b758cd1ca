import { watch } from "chokidar";
import { hiddenName, ledgerName, lockName, pauseName, stopName, underWayName } from "../engine/lib/layout.js";

const watchedNames: ReadonlySet<string> = new Set([ledgerName, lockName, pauseName, stopName]);
const watchedInHidden: ReadonlySet<string> = new Set([ledgerName, lockName, underWayName]);

/** Whether a path below `root` is neither a state file (in `stateNames`) nor a ledger, a lock or a mark of a run. */
export function isIrrelevant(root: string, path: string, isFile: boolean, stateNames: readonly string[]): boolean {
  const parts = path === root ? [] : path.slice(root.length + 1).split(/[\\/]/);
  if (parts.some((part) => part === "node_modules" || (part.startsWith(".") && part !== hiddenName))) return true;
  const hiddenIndex = parts.indexOf(hiddenName);
  if (hiddenIndex !== -1 && parts.length > hiddenIndex + 1)
    return parts.length > hiddenIndex + 2 || !watchedInHidden.has(parts[hiddenIndex + 1] ?? "");
  const name = parts.at(-1) ?? "";
  return isFile && !watchedNames.has(name) && !stateNames.includes(name);
}

/**
 * Watches a folder down to `depth` until the returned function is called. `isIgnored`: whether a path is not watched.
 * Paths that can't be watched, such as an unreadable folder, are skipped; callers also check at intervals.
 */
export function watchFolder(
  folder: string,
  { depth, isIgnored }: { readonly depth: number; readonly isIgnored: (path: string, isFile: boolean) => boolean },
  onChange: () => void,
): () => Promise<void> {
  const filter = {
    ignored: (path: string, stats?: { isFile(): boolean }) => isIgnored(path, stats?.isFile() === true),
  };
  const watcher = watch(folder, { depth, ignoreInitial: true, followSymlinks: false, ...filter });
  watcher.on("all", onChange);
  // The watcher does not report changes from before it is ready.
  watcher.on("ready", onChange);
  watcher.on("error", () => undefined);
  return () => watcher.close();
}
