import { copyFileSync, existsSync, realpathSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { type NamedTask } from "../../compose/open-task.js";
import type { ResolvedConfig } from "../../compose/config.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { runGit } from "../../engine/storage/git-command.js";
import { makeFolder } from "../../engine/storage/regular-file.js";
import { taskName, worktreesFolder } from "../../task/project-files/layout.js";
import { newState } from "../../task/project-files/state-file.js";

/** Where the run should work, if not in the task's own folder. */
export interface BranchOptions {
  /** The name of the branch; true: a name is made from the task's id. */
  readonly branch?: string | true;
  readonly worktree: boolean;
}

/**
 * Switches to a branch, or makes a worktree on it; makes the branch if it is new. Returns the task with its new folder,
 * and a message for the user.
 */
export async function branchOff(
  namedTask: NamedTask,
  { branch, worktree }: BranchOptions,
  { stateDir }: ResolvedConfig,
): Promise<{ readonly namedTask: NamedTask; readonly message: string }> {
  const { folder } = namedTask;
  const topLevel = await runGit(folder, ["rev-parse", "--show-toplevel"]);
  if (!topLevel.ok)
    throw new ExpectedError(
      `${folder} is not in a git repository, so there is no branch to work on; 'git init' makes a repository.`,
      2,
    );
  const id = newState(namedTask.task, folder, namedTask.file === undefined ? undefined : basename(namedTask.file)).id;
  const name = typeof branch === "string" ? branch : `ralph/${id}`;
  if (worktree && !(await runGit(folder, ["rev-parse", "--quiet", "--verify", "HEAD"])).ok)
    throw new ExpectedError("A worktree can't be made, because the repository has no commit yet; commit first.", 2);
  const hasBranch = (await runGit(folder, ["rev-parse", "--quiet", "--verify", `refs/heads/${name}`])).ok;
  if (!worktree) {
    const current = (await runGit(folder, ["symbolic-ref", "--short", "--quiet", "HEAD"])).stdout.trim();
    if (current === name) return { namedTask, message: `Working on the branch ${name}.` };
    await runGitOrThrow(folder, ["switch", ...(hasBranch ? [name] : ["-c", name])]);
    return {
      namedTask,
      message: `Working on the branch ${name}; 'git switch ${current === "" ? "-" : current}' goes back.`,
    };
  }
  const root = topLevel.stdout.trim();
  const worktreeFolder = join(worktreesFolder(stateDir), id);
  if (!existsSync(join(worktreeFolder, ".git"))) {
    makeFolder(worktreesFolder(stateDir));
    await runGitOrThrow(folder, [
      "worktree",
      "add",
      ...(hasBranch ? [worktreeFolder, name] : ["-b", name, worktreeFolder]),
    ]);
  }
  const taskFolder = join(worktreeFolder, relative(root, realpathSync(folder)));
  makeFolder(taskFolder);
  const file = namedTask.file === undefined ? undefined : join(taskFolder, taskName);
  // The user named this file; it may not be committed, or the commit may have an older version.
  if (namedTask.file !== undefined && file !== undefined) copyFileSync(namedTask.file, file);
  const message = `Working in the worktree ${worktreeFolder} on the branch ${name}; your files stay as they are.`;
  return { namedTask: { folder: taskFolder, task: namedTask.task, file, trustedFile: namedTask.trustedFile }, message };
}

async function runGitOrThrow(folder: string, args: readonly string[]): Promise<void> {
  const { ok, stderr } = await runGit(folder, args);
  if (!ok) throw new ExpectedError(`git ${args[0]} failed: ${stderr.trim().split("\n").at(-1)}.`);
}
