import { existsSync } from "node:fs";
import type { Steering } from "../../engine/generated/memory.js";
import type { LedWork } from "../../engine/storage/records/from-outside.js";
import { readRecords } from "../../engine/storage/records/record-store.js";
import { codeFolderOf, ledCode } from "../../code/folder/led-code.js";
import { readResearch } from "../../research/folder/research.js";
import { findResearch, shown } from "../../research/overview/find-research.js";
import { ledResearch } from "../../research/overview/led-research.js";
import { stateFile } from "../../task/folder/layout.js";
import { ledTask } from "../../task/folder/led-task.js";
import { taskFormat } from "../../task/folder/state-file.js";
import { taskFolderOf } from "../task/task-folder.js";

/** What a person leads by its name or path: a project, or a task. */
export interface Led {
  readonly work: LedWork;
  /** What its agents were told and have heard. @throws ExpectedError where its state can't be read. */
  heard(): Promise<readonly Steering[]>;
}

/**
 * As `findLed`, and what else a person can hold: a coding run hears no words. Where no task and no project is meant, it
 * is the one of that folder. @throws ExpectedError (exit code 2).
 */
export async function findHeld(cwd: string, argument: string | undefined): Promise<Led> {
  try {
    return await findLed(cwd, argument);
  } catch (error) {
    const code = codeFolderOf(cwd, argument);
    if (code === undefined) throw error;
    return { work: ledCode(code, shown(cwd, code)), heard: async () => [] };
  }
}

/** Finds it; without an argument the task or project of the current folder. @throws ExpectedError (exit code 2). */
export async function findLed(cwd: string, argument: string | undefined): Promise<Led> {
  const task = taskFolderOf(cwd, argument);
  if (task !== undefined)
    return {
      work: ledTask(task, shown(cwd, task)),
      heard: async () =>
        existsSync(stateFile(task)) ? ((await readRecords(task, taskFormat)).state.loop?.steering ?? []) : [],
    };
  const folder = await findResearch(cwd, argument);
  return {
    work: ledResearch(folder, shown(cwd, folder)),
    heard: async () => (await readResearch(folder)).rrd.loop?.steering ?? [],
  };
}
