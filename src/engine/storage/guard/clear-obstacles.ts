import { chmodSync, lstatSync, mkdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { lockFile } from "../../lib/layout.js";
import { existingPath } from "../../process/search-path.js";

/** Folders by path: the real path and the permissions of each; undefined if the folder is missing. */
type FolderStates = ReadonlyMap<string, { readonly realPath: string; readonly mode: number } | undefined>;

/** The current states of folders. A folder comes before the folders in it. */
export const folderStates = (paths: readonly string[]): FolderStates =>
  new Map([...new Set(paths)].toSorted((a, b) => a.length - b.length).map((path) => [path, folderState(path)]));

function folderState(path: string): { readonly realPath: string; readonly mode: number } | undefined {
  try {
    const stats = statSync(path);
    return stats.isDirectory() ? { realPath: realpathSync(path), mode: stats.mode & 0o7777 } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Prepares a folder so that files can be restored and moved in it: restores the permissions of the folders, and removes
 * whatever has replaced a folder, `asideFolder` (the folder to which files are moved) or the lock. If a link replaced a
 * folder, the link is removed and its target is not touched. A link that was there before the agent ran is kept.
 * Returns the paths that were removed.
 */
export function clearObstacles(
  folder: string,
  originalStates: FolderStates,
  asideFolder: string | undefined,
): string[] {
  const removedPaths: string[] = [];
  const states = new Map(
    asideFolder === undefined || originalStates.has(asideFolder)
      ? originalStates
      : [...originalStates, [asideFolder, undefined] as const],
  );
  for (const [path, state] of states) {
    if (state !== undefined && folderState(path)?.mode !== state.mode && existingPath(path) === state.realPath)
      restoreMode(path, state);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (path === folder || stats === undefined || stats.isDirectory()) continue;
    if (state !== undefined && stats.isSymbolicLink() && existingPath(path) === state.realPath) continue;
    rmSync(path, { force: true });
    removedPaths.push(path);
  }
  const lock = lockFile(folder);
  if (lstatSync(lock, { throwIfNoEntry: false })?.isFile() === false) {
    rmSync(lock, { recursive: true, force: true });
    removedPaths.push(lock);
  }
  // The folders are created again, empty; their contents are lost.
  if (removedPaths.length > 0)
    for (const [path, state] of originalStates) if (state !== undefined) mkdirSync(path, { recursive: true });
  return removedPaths;
}

/** Restores the permissions of a folder. A failure is ignored: the file that can't be restored then is reported. */
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

export const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
