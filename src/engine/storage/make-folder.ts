import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { hasCode } from "../lib/errors.js";

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
