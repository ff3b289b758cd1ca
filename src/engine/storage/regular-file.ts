import { constants, type Stats } from "node:fs";
import { open, mkdir } from "node:fs/promises";
import { ExpectedError, hasCode } from "../lib/errors.js";
import { dirname } from "node:path";

/**
 * Reads the file at `path` whole; answers with its size in bytes where that is above `maxBytes`. Reading a FIFO is waiting forever, so whatever is neither a file nor a folder is refused.
 * @throws ExpectedError for something else than a file; for a folder, and where nothing is there, the system's own error.
 */
export async function readRegularUpTo(path: string, maxBytes: number): Promise<Buffer | number> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
    // A socket can't be opened at all.
    throw hasCode(error, "ENXIO") ? notRegular(path) : error;
  });
  try {
    const found = await file.stat();
    requireRegular(found, path);
    return found.size > maxBytes ? found.size : await file.readFile();
  } finally {
    await file.close();
  }
}

/** The same without a limit. */
export const readRegularFile = (path: string): Promise<Buffer> =>
  readRegularUpTo(path, Number.POSITIVE_INFINITY) as Promise<Buffer>;

/** The same as text. */
export const readRegularText = async (path: string): Promise<string> => (await readRegularFile(path)).toString("utf8");

/** @throws ExpectedError where `found` is neither a file nor a folder, for which the system has an error of its own. */
export function requireRegular(found: Stats, path: string): void {
  if (!found.isFile() && !found.isDirectory()) throw notRegular(path);
}

const notRegular = (path: string): ExpectedError =>
  new ExpectedError(`${path} is not a regular file; put the real one in its place.`);

/**
 * Makes a folder and those above it, and leaves what is there. Node's own recursive mkdir says ENOENT where a folder above can't be
 * made, which told people with a read-only disk that their folder was deleted; this one throws what the system said (EROFS, EACCES).
 */
export async function makeFolder(path: string, mode?: number): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    if (hasCode(error, "EEXIST")) return;
    if (!hasCode(error, "ENOENT") || dirname(path) === path) throw error;
    await makeFolder(dirname(path), mode);
    await makeFolder(path, mode);
  }
}
