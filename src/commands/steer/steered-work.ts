import { existsSync } from "node:fs";
import type { Steering } from "../../engine/generated/memory.js";
import type { SteeredWork } from "../../engine/storage/state/from-outside.js";
import { readRecords } from "../../engine/storage/state/record-store.js";
import { codeFolderOf, steeredCode } from "../../code/project-files/steered-code.js";
import { codeFormat } from "../../code/project-files/state-file.js";
import { readResearch } from "../../research/project-files/research.js";
import { findResearch, shown } from "../../research/overview/find-research.js";
import { steeredResearch } from "../../research/overview/steered-research.js";
import { stateFile } from "../../task/project-files/layout.js";
import { steeredTask } from "../../task/project-files/steered-task.js";
import { taskFormat } from "../../task/project-files/state-file.js";
import { taskFolderOf } from "../task/task-folder.js";

/** What a person leads by its name or path: a project, a task, or a coding run. */
export interface FoundWork {
  readonly work: SteeredWork;
  /** What its agents were told and have heard. @throws ExpectedError where its state can't be read. */
  heard(): Promise<readonly Steering[]>;
}

/** Whether work of a folder of its own, a task or a coding run, is meant. */
export const isTaskOrCode = (cwd: string, argument: string | undefined): boolean =>
  taskFolderOf(cwd, argument) !== undefined || codeFolderOf(cwd, argument) !== undefined;

/**
 * Finds it; without an argument the task or project of the current folder. Where neither is meant, it is the coding run
 * of that folder. @throws ExpectedError (exit code 2).
 */
export async function findWork(cwd: string, argument: string | undefined): Promise<FoundWork> {
  const task = taskFolderOf(cwd, argument);
  if (task !== undefined)
    return {
      work: steeredTask(task, shown(cwd, task)),
      heard: async () =>
        existsSync(stateFile(task)) ? ((await readRecords(task, taskFormat)).state.loop?.steering ?? []) : [],
    };
  const found = await projectOrCode(cwd, argument);
  if ("code" in found)
    return {
      work: steeredCode(found.code, shown(cwd, found.code)),
      heard: async () => (await readRecords(found.code, codeFormat)).state.loop?.steering ?? [],
    };
  const { project } = found;
  return {
    work: steeredResearch(project, shown(cwd, project)),
    heard: async () => (await readResearch(project)).rrd.loop?.steering ?? [],
  };
}

/** The project that is meant; where it is missing, the coding run of that folder. @throws ExpectedError (2). */
export async function projectOrCode(
  cwd: string,
  argument: string | undefined,
): Promise<{ readonly project: string } | { readonly code: string }> {
  try {
    return { project: await findResearch(cwd, argument) };
  } catch (error) {
    const code = codeFolderOf(cwd, argument);
    if (code === undefined) throw error;
    return { code };
  }
}

/** The coding run that is meant, where no project is. */
export async function codeIfMeant(cwd: string, argument: string | undefined): Promise<string | undefined> {
  if (codeFolderOf(cwd, argument) === undefined) return undefined;
  const found = await projectOrCode(cwd, argument);
  return "code" in found ? found.code : undefined;
}
