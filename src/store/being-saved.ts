import { setTimeout as sleep } from "node:timers/promises";
import { ExpectedError } from "../lib/errors.js";
import { stampOf } from "./files.js";

/**
 * Editors save in place, or move the old file away first: whoever looks in that moment finds half of it, or none. One of
 * 332 saves met it on a busy machine. A file that is still broken this long after its last change is broken.
 */
const savingTakes = 1000;

/**
 * Reads the file at `path` by `read`; where that fails while somebody is just saving the file, it is read again.
 * @throws what `read` throws, once nobody has changed the file for a second.
 */
export async function readOnceSaved<T>(path: string, read: () => Promise<T>): Promise<T> {
  const until = Date.now() + savingTakes;
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ExpectedError) || Date.now() >= until || !(await isBeingSaved(path))) throw error;
      await sleep(25);
    }
  }
}

async function isBeingSaved(path: string): Promise<boolean> {
  const stamp = await stampOf(path);
  return stamp === undefined || Math.abs(Date.now() - Number(stamp.split(":")[2])) < savingTakes;
}
