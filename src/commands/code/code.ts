import { existsSync } from "node:fs";
import { settingsFor } from "../../compose/agents.js";
import { crewOf, librariansOf, requireCrew, windowOf } from "../../compose/code-roles.js";
import { resolveConfig } from "../../compose/config.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import type { Io } from "../../engine/ui/io.js";
import { repairTaskText, teamCriteria } from "../../task/project-files/carry-over.js";
import { taskFile } from "../../task/project-files/layout.js";
import { taskRecords } from "../../task/project-files/steered-task.js";
import { detectTests, frameworks, ownTestCommand } from "../../task/test-runs/detect.js";
import {
  hasStartedTask,
  type TaskWithNotices,
  type TaskArguments,
  taskCommand,
  taskIn,
  overridesIn,
} from "../task/task.js";

export interface CodeArguments extends Omit<TaskArguments, "task" | "team" | "save"> {
  /** The text of the task; undefined: the task of the folder, or, without one, the repair of failing tests. */
  readonly text: string | undefined;
  /** Only show the files that the librarian would get. */
  readonly graph: boolean;
}

/** A team works on the task in `text` or in the current folder. The exit code is that of the verdict. */
export async function codeCommand({ text, graph, ...args }: CodeArguments, io: Io): Promise<number> {
  const overrides = overridesIn({ ...args, team: true }, io.cwd);
  if (graph) {
    const crew = crewOf(await resolveConfig(io, args.flags), io.env);
    const settings = settingsFor(crew.config, io, { folder: io.cwd, changes: true });
    requireCrew(crew, settings);
    const window = windowOf(librariansOf(crew), settings);
    return (await import("./graph.js")).graphCommand(io.cwd, overrides.target, window, io, args.json);
  }
  if (text?.trim() === "")
    throw new ExpectedError("The task is empty; say what is to be done, or leave it out to repair the tests.", 2);
  const task = { ...args, task: text, team: true, save: false };
  return await taskCommand(task, io, (words) => makeTask({ ...args, text: words }, io));

  async function makeTask({ text: words, checks = [], tests, testCommand }: Omit<CodeArguments, "graph">, { cwd }: Io) {
    if (words === undefined && (await hasOtherTask(cwd))) return undefined;
    if (testCommand === undefined && detectTests(cwd).length === 0)
      throw new ExpectedError(
        `No supported test framework was found in ${cwd} (${frameworks.join(", ")}); name the command that runs the tests: --test-command "${ownTestCommand(cwd) ?? "make test"}".`,
        2,
      );
    const isRepair = words === undefined || (tests && checks.length === 0);
    return {
      namedTask: {
        folder: cwd,
        task: {
          task: words ?? repairTaskText,
          acceptance_criteria: teamCriteria({ isRepair, checks, command: testCommand }),
          ...overrides,
        },
      },
      notices: [],
    } satisfies TaskWithNotices;
  }
}

/** Whether the folder has a task file, or a started task that is not finished and is not the repair of tests. */
async function hasOtherTask(folder: string): Promise<boolean> {
  if (existsSync(taskFile(folder))) return true;
  if (!hasStartedTask(folder)) return false;
  const { state } = await taskRecords(folder);
  return state.status !== "success" && state.task.task !== repairTaskText && (await taskIn(folder)) !== undefined;
}
