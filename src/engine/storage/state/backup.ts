import { copyFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { backupsFolder } from "../../lib/layout.js";
import { requireRegular, makeFolder } from "../regular-file.js";
import { timeForName } from "../../lib/clock.js";
import { stampOf } from "../atomic-file.js";
import { withExplainedErrors } from "../explain-system-error.js";

/**
 * Copies the existing files of a project into .ralph/backups/<time>/, or into a numbered folder if that one exists.
 * `time`: milliseconds since the epoch. Returns the folder.
 * @throws ExpectedError for a full disk or missing permission.
 */
export async function backUp(folder: string, time: number, names: readonly string[]): Promise<string> {
  const unusedFolder = (count: number): string => {
    const candidate = join(backupsFolder(folder), `${timeForName(time)}${count === 1 ? "" : `-${count}`}`);
    return stampOf(candidate) === undefined ? candidate : unusedFolder(count + 1);
  };
  const backup = unusedFolder(1);
  await withExplainedErrors(backup, async () => {
    makeFolder(backup);
    for (const name of names) {
      const path = join(folder, name);
      if (stampOf(path) !== undefined) await withExplainedErrors(path, () => copyRegular(path, join(backup, name)));
    }
  });
  return backup;
}

/** Copies a regular file with its permissions. @throws ExpectedError for a FIFO, on which a copy would wait forever. */
export async function copyRegular(from: string, to: string): Promise<void> {
  requireRegular(await stat(from), from);
  await copyFile(from, to);
}
