import { setTimeout as sleep } from "node:timers/promises";
import { dirname } from "node:path";
import { ExpectedError } from "../../../lib/errors.js";
import { readRegularText } from "../../regular-file.js";
import { type Stamp, stampOf } from "../../atomic-file.js";
import { isUnfinished } from "../../json-syntax.js";

/**
 * Some editors save in place, others move the old file away first. A reader in that moment finds an incomplete file or
 * none. This happened in one of 300 saves on a busy machine, where an editor may wait a second or two between
 * truncating the file and writing it. No editor moves the folder.
 */
const maxSaveMs = 5000;

/**
 * Reads the file at `path` with `read`, which receives the stamp of the current version. Retries if the read fails
 * while an editor is saving the file.
 * @throws the error of `read` if the file is complete, or unchanged for five seconds.
 */
export async function readOnceSaved<T>(path: string, read: (stamp: Stamp | undefined) => Promise<T>): Promise<T> {
  const deadline = Date.now() + maxSaveMs;
  for (;;) {
    const stampBefore = stampOf(path);
    try {
      return await read(stampBefore);
    } catch (error) {
      // A different stamp means that the read saw an incomplete version. The stamp is compared last, because the file
      // may change during the other check.
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
  return isUnfinished(await textOf(path));
}

async function textOf(path: string): Promise<string> {
  try {
    return await readRegularText(path);
  } catch {
    // The file was just removed, or is a folder; its reader reports that.
    return "{}";
  }
}
