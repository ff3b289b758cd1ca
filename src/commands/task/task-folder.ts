import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { rrdFile } from "../../research/project-files/layout.js";
import { stateFile, taskFile } from "../../task/project-files/layout.js";
import { foundAt } from "../../engine/storage/regular-file.js";

/**
 * The folder of the task that `argument` names, a folder or the task's file, the current one by default; undefined
 * where it holds none.
 */
export function taskFolderOf(cwd: string, argument: string | undefined): string | undefined {
  if (argument?.trim() === "") return undefined;
  const path = resolve(cwd, argument ?? ".");
  const isFile = foundAt(path)?.isFile() === true;
  const folder = isFile ? dirname(path) : path;
  const isTask = existsSync(taskFile(folder)) || existsSync(stateFile(folder));
  return isTask && !existsSync(rrdFile(folder)) ? folder : undefined;
}
