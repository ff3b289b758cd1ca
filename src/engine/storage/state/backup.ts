import { copyFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { backupsFolder } from "../../lib/layout.js";
import { requireRegular, makeFolder } from "../regular-file.js";
import { timeForName } from "../../lib/clock.js";
import { stampOf } from "../atomic-file.js";
import { withExplainedErrors } from "../explain-system-error.js";

/**
 * Copies the existing files of a project into the new folder .ralph/backups/<time>/. If that folder exists, a number is
 * added to its name. `names`: paths within the project; the copies stand in the new folder without their folders.
 * `time`: milliseconds since the epoch. Returns the path of the new folder.
 * @throws ExpectedError for a full disk or missing permission.
 */
export async function backUp(folder: string, time: number, names: readonly string[]): Promise<string> {
  const findUnusedFolder = (count: number): string => {
    const candidate = join(backupsFolder(folder), `${timeForName(time)}${count === 1 ? "" : `-${count}`}`);
    return stampOf(candidate) === undefined ? candidate : findUnusedFolder(count + 1);
  };
  const backupFolder = findUnusedFolder(1);
  await withExplainedErrors(backupFolder, async () => {
    makeFolder(backupFolder);
    for (const name of names) {
      const path = join(folder, name);
      if (stampOf(path) !== undefined)
        await withExplainedErrors(path, () => copyRegularFile(path, copyIn(backupFolder, name)));
    }
  });
  return backupFolder;
}

/** The copy of a project's file in a folder that `backUp` has made. */
export const copyIn = (backupFolder: string, name: string): string => join(backupFolder, basename(name));

/** Copies a regular file with its permissions. @throws ExpectedError for a FIFO, on which a copy would wait forever. */
export async function copyRegularFile(from: string, to: string): Promise<void> {
  requireRegular(await stat(from), from);
  await copyFile(from, to);
}
