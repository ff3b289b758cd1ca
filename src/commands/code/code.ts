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
import { hasStartedTask, type Named, type TaskArguments, taskCommand, taskIn, overridesIn } from "../task/task.js";

export interface CodeArguments extends Omit<TaskArguments, "task" | "team" | "save"> {
  /** The task in words; absent: that of the folder, else to repair the failing tests. */
  readonly text: string | undefined;
  /** Only shows the librarian's files. */
  readonly graph: boolean;
}

/** Has a team work on the task of the current folder, or on one in words; its exit code is the verdict's. */
export async function codeCommand({ text, graph, ...args }: CodeArguments, io: Io): Promise<number> {
  const wish = overridesIn({ ...args, team: true }, io.cwd);
  if (graph) {
    const crew = crewOf(await resolveConfig(io, args.flags), io.env);
    const settings = settingsFor(crew.config, io, { folder: io.cwd, changes: true });
    requireCrew(crew, settings);
    const window = windowOf(librariansOf(crew), settings);
    return (await import("./graph.js")).graphCommand(io.cwd, wish.target, window, io, args.json);
  }
  if (text?.trim() === "")
    throw new ExpectedError("The task is empty; say what is to be done, or leave it out to repair the tests.", 2);
  const task = { ...args, task: text, team: true, save: false };
  return await taskCommand(task, io, (words) => named({ ...args, text: words }, io));

  async function named({ text: words, checks = [], tests, testCommand }: Omit<CodeArguments, "graph">, { cwd }: Io) {
    if (words === undefined && (await isOther(cwd))) return undefined;
    if (testCommand === undefined && detectTests(cwd).length === 0)
      throw new ExpectedError(
        `No supported test framework was found in ${cwd} (${frameworks.join(", ")}); name the command that runs the tests: --test-command "${ownTestCommand(cwd) ?? "make test"}".`,
        2,
      );
    const isRepair = words === undefined || (tests && checks.length === 0);
    return {
      named: {
        folder: cwd,
        task: {
          task: words ?? repairTaskText,
          acceptance_criteria: teamCriteria({ isRepair, checks, command: testCommand }),
          ...wish,
        },
      },
      notices: [],
    } satisfies Named;
  }
}

/** Whether the folder holds a task that is not done, and is not to repair the tests. */
async function isOther(folder: string): Promise<boolean> {
  if (existsSync(taskFile(folder))) return true;
  if (!hasStartedTask(folder)) return false;
  const { state } = await taskRecords(folder);
  return state.status !== "success" && state.task.task !== repairTaskText && (await taskIn(folder)) !== undefined;
}
