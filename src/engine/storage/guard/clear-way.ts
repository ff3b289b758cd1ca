import { chmodSync, lstatSync, mkdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { lockFile } from "../../lib/layout.js";

/** Folders by their path: where each really lies, and its permissions; undefined where it is missing. */
type Places = ReadonlyMap<string, { readonly at: string; readonly mode: number } | undefined>;

/** Outer ones first. */
export const placesOf = (paths: readonly string[]): Places =>
  new Map([...new Set(paths)].toSorted((a, b) => a.length - b.length).map((path) => [path, placeOf(path)]));

function placeOf(path: string): { readonly at: string; readonly mode: number } | undefined {
  try {
    const found = statSync(path);
    return found.isDirectory() ? { at: realpathSync(path), mode: found.mode & 0o7777 } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Makes sure that files can be put back and set aside in a folder: its permissions are as they were, and what stands in
 * the place of such a folder, of `aside` or of the lock goes. A folder that was linked there meanwhile is unlinked,
 * and nothing in it is touched; one that a person had linked before stays. Answers with what was removed.
 */
export function clearWay(folder: string, before: Places, aside: string | undefined): string[] {
  const gone: string[] = [];
  const all = new Map(aside === undefined || before.has(aside) ? before : [...before, [aside, undefined] as const]);
  for (const [path, place] of all) {
    if (place !== undefined && placeOf(path)?.mode !== place.mode && realPath(path) === place.at)
      restoreMode(path, place);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (path === folder || found === undefined || found.isDirectory()) continue;
    if (place !== undefined && found.isSymbolicLink() && realPath(path) === place.at) continue;
    rmSync(path, { force: true });
    gone.push(path);
  }
  const lock = lockFile(folder);
  if (lstatSync(lock, { throwIfNoEntry: false })?.isFile() === false) {
    rmSync(lock, { recursive: true, force: true });
    gone.push(lock);
  }
  // What was in them is lost.
  if (gone.length > 0)
    for (const [path, place] of before) if (place !== undefined) mkdirSync(path, { recursive: true });
  return gone;
}

/** What can't be set right here is reported with the file that can't be put back for it. */
function restoreMode(path: string, { mode }: { readonly mode: number }): void {
  try {
    chmodSync(path, mode);
  } catch {
    // As said above.
  }
}

/** The folders from one down to another that lies in it, both included. */
export function between(root: string, inner: string): string[] {
  const parts = relative(root, inner).split(sep).filter(Boolean);
  return [root, ...parts.map((_, index) => join(root, ...parts.slice(0, index + 1)))];
}

/** Where a folder really lies; undefined where none does. */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

export const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
