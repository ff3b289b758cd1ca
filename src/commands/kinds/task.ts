import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { oneLine } from "../../engine/lib/sanitise.js";
import { isWithin } from "../../engine/process/search-path.js";
import { runGit } from "../../engine/storage/git-command.js";
import { repositoryOf } from "../../engine/storage/git-repository.js";
import { entriesIn, readStats } from "../../engine/storage/regular-file.js";
import { commandsOf } from "../../engine/storage/state/from-outside.js";
import { runStatusOf } from "../../engine/storage/running-units.js";
import { totalOf, workCosts } from "../../research/overview/costs.js";
import { researchesName, rrdFile } from "../../research/project-files/layout.js";
import { criterionText } from "../../task/criteria/words.js";
import { oldCodeName } from "../../task/project-files/carry-over.js";
import { stateFile, stateName, taskFile, taskLedger } from "../../task/project-files/layout.js";
import { taskPhase } from "../../task/project-files/state-file.js";
import { steeredTask, taskRecords } from "../../task/project-files/steered-task.js";
import { progressOf } from "../../task/workflow/status.js";
import { spentBy } from "../../task/plan/used.js";
import type { Kind } from "./kind.js";

/** Tasks are searched in folders at most this many levels below the current folder. */
const maxDepth = 2;

/** A task: a folder with ralph.json, or with the state of a task that was given as a text. */
export const task: Kind = {
  noun: "task",
  stateName,
  ledgerPath: taskLedger,
  isIn,
  find: async (cwd, argument) => {
    if (argument?.trim() === "") return undefined;
    const path = resolve(cwd, argument ?? ".");
    const folder = readStats(path)?.isFile() === true ? dirname(path) : path;
    return isIn(folder) ? folder : undefined;
  },
  list: async (cwd) => [...new Set([...tasksIn(cwd, maxDepth).sort(), ...(await tasksInWorktrees(cwd))])],
  async readStanding(folder, where) {
    const { state, ledger } = await taskRecords(folder);
    const { checks, loop } = state;
    const { at, verdict, reason = "", cause } = loop?.last_run ?? {};
    const { minutes } = spentBy(state);
    return {
      ...(await runStatusOf(folder)),
      noun: "task",
      folder,
      title: oneLine(state.task.task),
      phase: taskPhase,
      isFinished: state.status === "success",
      progress: progressOf(state),
      progressNoun: checks.length === 0 ? "criteria met, none checked yet" : "criteria met",
      goals:
        checks.length === 0
          ? state.task.acceptance_criteria.map((criterion) => ({ text: criterionText(criterion) }))
          : checks.map(({ criterion, passed, detail }) => ({
              text: oneLine(criterion),
              met: passed,
              ...(passed ? {} : { found: oneLine(detail.split("\n")[0] ?? "") }),
            })),
      openDecisions: [],
      ledger,
      spending: totalOf(state, ledger),
      commands: commandsOf(steeredTask(folder, where)),
      ...(at === undefined || verdict === undefined ? {} : { lastRun: { at, verdict, reason, cause } }),
      ...(minutes > 0 ? { spentMs: minutes * 60_000 } : {}),
    };
  },
  steeredWork: steeredTask,
  readInstructions: async (folder) => (await taskRecords(folder)).state.loop?.steering ?? [],
  status: async (folder, io, { standing }) => (await import("./task-status.js")).taskStatus(folder, io, standing),
  async costs(folder) {
    const { state, ledger } = await taskRecords(folder);
    return workCosts(state, ledger);
  },
  brief: async (...args) => (await import("./task-brief.js")).taskBrief(...args),
  validate: async (folder) => (await import("./task-validate.js")).validateTask(folder),
};

/** A folder with rrd.json is a project, even if it also contains files of a task. */
function isIn(folder: string): boolean {
  const files = [taskFile(folder), stateFile(folder), join(folder, oldCodeName)];
  return files.some((path) => existsSync(path)) && !existsSync(rrdFile(folder));
}

function tasksIn(folder: string, levels: number): string[] {
  const tasksBelow = levels === 0 ? [] : foldersIn(folder).flatMap((subfolder) => tasksIn(subfolder, levels - 1));
  return [...(isIn(folder) ? [folder] : []), ...tasksBelow];
}

/** The folders of tasks in other worktrees of the repository, such as worktrees made by `--worktree`. */
async function tasksInWorktrees(cwd: string): Promise<string[]> {
  const repository = await repositoryOf(cwd);
  if (repository === undefined) return [];
  const { stdout } = await runGit(cwd, ["worktree", "list", "--porcelain", "-z"]);
  return stdout
    .split("\0")
    .flatMap((line) => (line.startsWith("worktree ") ? [join(line.slice("worktree ".length), repository.prefix)] : []))
    .map((path) => path.replace(/\/$/, ""))
    .filter((folder) => !isWithin(folder, cwd) && isIn(folder))
    .sort();
}

/** The subfolders that may contain tasks; empty if the folder can't be read. */
function foldersIn(folder: string): string[] {
  const isExcluded = (name: string) => name.startsWith(".") || ["node_modules", researchesName].includes(name);
  return entriesIn(folder).flatMap((entry) =>
    entry.isDirectory() && !isExcluded(entry.name) ? [join(folder, entry.name)] : [],
  );
}
