import { copyFileSync, existsSync, realpathSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { type NamedTask } from "../../compose/open-task.js";
import type { ResolvedConfig } from "../../compose/config.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { runGit } from "../../engine/storage/git-command.js";
import { makeFolder } from "../../engine/storage/regular-file.js";
import { taskName, worktreesFolder } from "../../task/project-files/layout.js";
import { newState } from "../../task/project-files/state-file.js";

/** Where a task is to be worked on, where that is not simply where it stands. */
export interface BranchWish {
  /** The name of the branch, or true for one of our own choice. */
  readonly branch?: string | true;
  readonly worktree: boolean;
}

/**
 * Switches to a new branch, or makes a worktree on one, and answers with the task there and what to tell the person.
 */
export async function branchOff(
  named: NamedTask,
  { branch, worktree }: BranchWish,
  { stateDir }: ResolvedConfig,
): Promise<{ readonly named: NamedTask; readonly said: string }> {
  const { folder } = named;
  const top = await runGit(folder, ["rev-parse", "--show-toplevel"]);
  if (!top.ok)
    throw new ExpectedError(
      `${folder} is not in a git repository, so there is no branch to work on; 'git init' makes a repository.`,
      2,
    );
  const id = newState(named.task, folder, named.file === undefined ? undefined : basename(named.file)).id;
  const name = typeof branch === "string" ? branch : `ralph/${id}`;
  if (worktree && !(await runGit(folder, ["rev-parse", "--quiet", "--verify", "HEAD"])).ok)
    throw new ExpectedError("The repository has no commit yet, from which a worktree could be made; commit first.", 2);
  const exists = (await runGit(folder, ["rev-parse", "--quiet", "--verify", `refs/heads/${name}`])).ok;
  if (!worktree) {
    const current = (await runGit(folder, ["symbolic-ref", "--short", "--quiet", "HEAD"])).stdout.trim();
    if (current === name) return { named, said: `Working on the branch ${name}.` };
    await git(folder, ["switch", ...(exists ? [name] : ["-c", name])]);
    return { named, said: `Working on the branch ${name}; 'git switch ${current === "" ? "-" : current}' goes back.` };
  }
  const root = top.stdout.trim();
  const place = join(worktreesFolder(stateDir), id);
  if (!existsSync(join(place, ".git"))) {
    makeFolder(worktreesFolder(stateDir));
    await git(folder, ["worktree", "add", ...(exists ? [place, name] : ["-b", name, place])]);
  }
  const there = join(place, relative(root, realpathSync(folder)));
  makeFolder(there);
  const file = named.file === undefined ? undefined : join(there, taskName);
  // It may not be committed, and is what the person has named.
  if (named.file !== undefined && file !== undefined) copyFileSync(named.file, file);
  const said = `Working in the worktree ${place} on the branch ${name}; your files stay as they are.`;
  return { named: { folder: there, task: named.task, file, trustedFile: named.trustedFile }, said };
}

async function git(folder: string, args: readonly string[]): Promise<void> {
  const { ok, stderr } = await runGit(folder, args);
  if (!ok) throw new ExpectedError(`git ${args[0]} failed: ${stderr.trim().split("\n").at(-1)}.`);
}
