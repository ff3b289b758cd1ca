import { copyFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { backupsFolder } from "../../lib/layout.js";
import { requireRegular, makeFolder } from "../regular-file.js";
import { timeForName } from "../../lib/clock.js";
import { stampOf } from "../atomic-file.js";
import { explaining } from "../explain-system-error.js";

/**
 * Copies files of a project, as far as they are there, into .ralph/backups/<time>/. `at`: milliseconds since the epoch.
 * Returns that folder.
 * @throws ExpectedError for a full disk or missing permission.
 */
export async function backUp(folder: string, at: number, names: readonly string[]): Promise<string> {
  const backup = join(backupsFolder(folder), timeForName(at));
  await explaining(backup, async () => {
    makeFolder(backup);
    for (const name of names) {
      const path = join(folder, name);
      if (stampOf(path) !== undefined) await explaining(path, () => copyRegular(path, join(backup, name)));
    }
  });
  return backup;
}

/** Copies a file with its permissions; copying a FIFO would be waiting forever. */
export async function copyRegular(from: string, to: string): Promise<void> {
  requireRegular(await stat(from), from);
  await copyFile(from, to);
}
