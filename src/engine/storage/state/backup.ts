import { copyFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { backupsFolder } from "../../lib/layout.js";
import { requireRegular, makeFolder } from "../regular-file.js";
import { timeForName } from "../../lib/clock.js";
import { stampOf } from "../atomic-file.js";
import { explaining } from "../explain-system-error.js";

/**
 * Copies files of a project, as far as they are there, into .ralph/backups/<time>/; the second copy of a millisecond
 * has a folder of its own. `at`: milliseconds since the epoch. Returns that folder.
 * @throws ExpectedError for a full disk or missing permission.
 */
export async function backUp(folder: string, at: number, names: readonly string[]): Promise<string> {
  const free = (count: number): string => {
    const wanted = join(backupsFolder(folder), `${timeForName(at)}${count === 1 ? "" : `-${count}`}`);
    return stampOf(wanted) === undefined ? wanted : free(count + 1);
  };
  const backup = free(1);
  await explaining(backup, async () => {
    makeFolder(backup);
    for (const name of names) {
      const path = join(folder, name);
      if (stampOf(path) !== undefined) await explaining(path, () => copyRegular(path, join(backup, name)));
    }
  });
  return backup;
}

/** Copies a file with its permissions; copying a FIFO would wait forever. */
export async function copyRegular(from: string, to: string): Promise<void> {
  requireRegular(await stat(from), from);
  await copyFile(from, to);
}
