import { chmodSync, lstatSync, mkdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { lockFile } from "../../lib/layout.js";

/** Folders by path: the real path and the permissions of each; undefined if the folder is missing. */
type Places = ReadonlyMap<string, { readonly at: string; readonly mode: number } | undefined>;

/** Outer folders come first. */
export const placesOf = (paths: readonly string[]): Places =>
  new Map([...new Set(paths)].toSorted((a, b) => a.length - b.length).map((path) => [path, placeOf(path)]));

function placeOf(path: string): { readonly at: string; readonly mode: number } | undefined {
  try {
    const stats = statSync(path);
    return stats.isDirectory() ? { at: realpathSync(path), mode: stats.mode & 0o7777 } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Prepares a folder so that files can be restored and moved in it: restores the permissions of the folders, and removes
 * anything else that replaced one of them, `aside` or the lock. If a link replaced a folder, the link is removed and
 * its target is not touched. A link that existed before the agent stays. Returns the paths that were removed.
 */
export function clearObstacles(folder: string, before: Places, aside: string | undefined): string[] {
  const removed: string[] = [];
  const places = new Map(aside === undefined || before.has(aside) ? before : [...before, [aside, undefined] as const]);
  for (const [path, place] of places) {
    if (place !== undefined && placeOf(path)?.mode !== place.mode && realPath(path) === place.at)
      restoreMode(path, place);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (path === folder || stats === undefined || stats.isDirectory()) continue;
    if (place !== undefined && stats.isSymbolicLink() && realPath(path) === place.at) continue;
    rmSync(path, { force: true });
    removed.push(path);
  }
  const lock = lockFile(folder);
  if (lstatSync(lock, { throwIfNoEntry: false })?.isFile() === false) {
    rmSync(lock, { recursive: true, force: true });
    removed.push(lock);
  }
  // The folders are created again, empty; their contents are lost.
  if (removed.length > 0)
    for (const [path, place] of before) if (place !== undefined) mkdirSync(path, { recursive: true });
  return removed;
}

/** A failure is ignored here: it is reported with the file that can't be restored because of it. */
function restoreMode(path: string, { mode }: { readonly mode: number }): void {
  try {
    chmodSync(path, mode);
  } catch {
    // See the comment of the function.
  }
}

/** The folders from `root` down to `innerFolder`, both included. */
export function foldersBetween(root: string, innerFolder: string): string[] {
  const parts = relative(root, innerFolder).split(sep).filter(Boolean);
  return [root, ...parts.map((_, index) => join(root, ...parts.slice(0, index + 1)))];
}

/** The real path of a folder; undefined if it does not exist. */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

export const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
