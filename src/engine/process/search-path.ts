import { accessSync, constants, lstatSync, realpathSync } from "node:fs";
import { delimiter, isAbsolute, join, sep } from "node:path";

/** The PATH if no folder is left: an empty PATH would mean the current folder. */
const systemPath = ["/usr/bin", "/bin"].join(delimiter);

/**
 * A PATH without relative entries and without entries in these folders, for programs that are started outside of a
 * sandbox. Agents can write in these folders, and the user's PATH often contains a Python environment or
 * node_modules/.bin of a project. If no entry is left, the result is the system's default.
 */
export function pathOutside(folders: readonly string[], path = ""): string {
  const safeFolders = path.split(delimiter).filter(makeOutsideCheck(folders));
  return safeFolders.length === 0 ? systemPath : safeFolders.join(delimiter);
}

/** The folders in which an agent may have worked: not the user's home and not its parents. */
export const agentFolders = (folders: readonly string[], home: string): string[] =>
  folders.filter((folder) => !isWithin(home, folder));

/** Makes a function that says whether a path is absolute and, also with links resolved, outside of these folders. */
export function makeOutsideCheck(folders: readonly string[]): (path: string) => boolean {
  const realFolders = folders.map(realPathOf);
  const isInAnyFolder = (entry: string) => realFolders.some((folder) => isWithin(entry, folder));
  return (path) => isAbsolute(path) && !isInAnyFolder(path) && !isInAnyFolder(realPathOf(path));
}

/** Whether an absolute path is this folder or a path in it; links are not resolved. */
export const isWithin = (path: string, folder: string): boolean =>
  `${path}${sep}`.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);

/** The path with all links resolved; undefined if nothing exists there. */
export function existingPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** The real path; the path itself if it does not exist. */
export const realPathOf = (path: string): string => existingPath(path) ?? path;

/** The path of the first executable program with this name in the absolute folders of a PATH. */
export const programIn = (path: string, name: string): string | undefined =>
  path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, name))
    .find(isExecutable);

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return lstatSync(realpathSync(path)).isFile();
  } catch {
    return false;
  }
}
