import { setTimeout as sleep } from "node:timers/promises";
import { dirname } from "node:path";
import { ExpectedError } from "../../../lib/errors.js";
import { readRegularText } from "../../regular-file.js";
import { type Stamp, stampOf } from "../../atomic-file.js";
import { isUnfinished } from "../../json-syntax.js";

/**
 * Editors save in place, or move the old file away first: anyone who looks in that moment finds a part of it, or none.
 * One of some 300 saves met it on a busy machine, where the disk lets a writer wait for a second or two between
 * emptying and writing. No editor moves the folder away.
 */
const maxSaveMs = 5000;

/**
 * Reads the file at `path` by `read`, which is given the version that stands there; where that fails because somebody
 * is just saving the file, it is read again.
 * @throws what `read` throws, once the file is whole, or nobody has changed it for five seconds.
 */
export async function readOnceSaved<T>(path: string, read: (stamp: Stamp | undefined) => Promise<T>): Promise<T> {
  const until = Date.now() + maxSaveMs;
  for (;;) {
    const before = stampOf(path);
    try {
      return await read(before);
    } catch (error) {
      // Another version by now: the one that was read was on its way to it. Compared last, as it may have come while
      // the rest was looked at.
      const goesOn = (await isBeingSaved(path)) || stampOf(path) !== before;
      if (!(error instanceof ExpectedError) || Date.now() >= until || !goesOn) throw error;
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
    // It went in this moment, or is a folder: anyone who reads it says so.
    return "{}";
  }
}
