import { setTimeout as sleep } from "node:timers/promises";
import { dirname } from "node:path";
import { ExpectedError } from "../../../lib/errors.js";
import { readRegularText } from "../../regular-file.js";
import { type Stamp, stampOf } from "../../atomic-file.js";
import { isUnfinished } from "../../json-syntax.js";

/**
 * Maximum duration of a save in milliseconds. Some editors write into the existing file, others move the old file away
 * first. A reader at that moment finds an incomplete file, or no file. This happened in one of 300 saves on a busy
 * machine, where a save may take one or two seconds. No editor moves the folder.
 */
const maxSaveMs = 5000;

/**
 * Reads the file at `path` with `read`, which receives the stamp of the current version. If an editor is saving the
 * file and `read` therefore fails, it is called again.
 * @throws the error of `read` if the file is complete, if it has not changed for five seconds, or if five seconds have
 * passed.
 */
export async function readWhenSaved<T>(path: string, read: (stamp: Stamp | undefined) => Promise<T>): Promise<T> {
  const deadline = Date.now() + maxSaveMs;
  for (;;) {
    const stampBefore = stampOf(path);
    try {
      return await read(stampBefore);
    } catch (error) {
      // A new stamp means that the file changed while it was read. The stamp is compared last, because the file may
      // also change during the first check.
      const isChanging = (await isBeingSaved(path)) || stampOf(path) !== stampBefore;
      if (!(error instanceof ExpectedError) || Date.now() >= deadline || !isChanging) throw error;
      await sleep(25);
    }
  }
}

async function isBeingSaved(path: string): Promise<boolean> {
  const stamp = stampOf(path);
  if (stamp === undefined) return stampOf(dirname(path)) !== undefined;
  const changedAt = Number(stamp.split(":")[2]);
  if (Math.abs(Date.now() - changedAt) >= maxSaveMs) return false;
  return isUnfinished(await readTextOf(path));
}

async function readTextOf(path: string): Promise<string> {
  try {
    return await readRegularText(path);
  } catch {
    // The file was just removed, or it is a folder: `read` reports that.
    return "{}";
  }
}
