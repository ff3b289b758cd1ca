import { accessSync, constants, lstatSync, realpathSync } from "node:fs";
import { delimiter, isAbsolute, join, sep } from "node:path";

/** Where programs are looked for when nothing names a folder: an empty PATH is the folder that somebody stands in. */
const systemPath = ["/usr/bin", "/bin"].join(delimiter);

/**
 * A PATH without what lies in these folders, or is named relative to where somebody stands: programs that we start
 * ourselves, beside a sandbox, are looked for there alone. Agents write in those folders, and a Python environment or
 * node_modules/.bin of a project often stands in the user's PATH. Where nothing is left it is the system's.
 */
export function pathOutside(folders: readonly string[], path = ""): string {
  const outside = path.split(delimiter).filter(isOutside(folders));
  return outside.length === 0 ? systemPath : outside.join(delimiter);
}

/** Of these folders those in which an agent may have worked: none works in a user's home, or in a folder above it. */
export const workplaces = (folders: readonly string[], home: string): string[] =>
  folders.filter((folder) => !isWithin(home, folder));

/** Tells whether a path is absolute and lies in none of these folders, nor leads into one. */
export function isOutside(folders: readonly string[]): (path: string) => boolean {
  const real = folders.map(realOf);
  const isInOne = (entry: string) => real.some((folder) => isWithin(entry, folder));
  return (path) => isAbsolute(path) && !isInOne(path) && !isInOne(realOf(path));
}

/** Whether an absolute path is this folder, or lies in it by its letters. */
export const isWithin = (path: string, folder: string): boolean =>
  `${path}${sep}`.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);

/** A path without links; as it is where it is not there. */
export function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The path of an executable program of this name that stands in a PATH, by the absolute ones of its folders. */
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
