import { watch } from "chokidar";
import { hiddenName, ledgerName, lockName, pauseName, stopName, underWayName } from "../engine/lib/layout.js";

const telling: ReadonlySet<string> = new Set([ledgerName, lockName, pauseName, stopName]);
const tellingInHidden: ReadonlySet<string> = new Set([ledgerName, lockName, underWayName]);

/** Whether a path below `root` tells nothing of any work: only states, by their names, ledgers and locks do. */
export function isOfNoInterest(root: string, path: string, isFile: boolean, states: readonly string[]): boolean {
  const parts = path === root ? [] : path.slice(root.length + 1).split(/[\\/]/);
  if (parts.some((part) => part === "node_modules" || (part.startsWith(".") && part !== hiddenName))) return true;
  const inside = parts.indexOf(hiddenName);
  if (inside !== -1 && parts.length > inside + 1)
    return parts.length > inside + 2 || !tellingInHidden.has(parts[inside + 1] ?? "");
  const name = parts.at(-1) ?? "";
  return isFile && !telling.has(name) && !states.includes(name);
}

/**
 * Watches a folder as deep as `depth` until the returned function is called; `ignored` says of what nothing is wanted.
 * What can't be watched, such as a folder that may not be read, is left to those who look by themselves.
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
  // No event reports what happened before everything was watched.
  watcher.on("ready", changed);
  watcher.on("error", () => undefined);
  return () => watcher.close();
}
