import { existsSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import type { Tell } from "../../engine/loop/types.js";
import { hiddenFolder, inboxFolder, journalFolder, lastGoodOf, rescuedFolder } from "../../engine/lib/layout.js";
import { type Entry, type Folder, type Guard, listed } from "../../engine/storage/guard/guard.js";
import { openRecordedGuard } from "../../engine/storage/guard/guard-record.js";
import { isOurMessage } from "../../engine/storage/state/steering-inbox.js";
import { runGit } from "../../engine/storage/git-command.js";
import type { RepositoryOf } from "../../engine/storage/git-repository.js";
import { logName, notToAppear, stateName, taskLedger, taskName } from "./layout.js";

/**
 * What agents may not change in a task's folder: the task and its state, our own records, and git's own files. A hook
 * or a setting of git planted there would run as the user later.
 */
export interface Protected {
  /** Files, each whole. */
  readonly files: readonly string[];
  readonly folders: readonly Folder[];
  /** Folders and files that hold the repository's branches and index, where the agent could commit. */
  readonly history: readonly Folder[];
  /** The folders of the repository that hold these, and that of its hooks where it is another. */
  readonly git: readonly string[];
  /** The folder of our own records. */
  readonly records: string;
}

/**
 * Remembers what stands around an attempt and nobody but this program and the user may change, before an agent starts,
 * or what it wrote is run.
 */
export type Protect = (iteration: number) => Promise<Guard>;

/**
 * Does `act`, by which what an agent wrote is run, and puts back what that changes of what is protected. `iteration`:
 * of the agent that worked last; undefined where none has worked yet, and nothing is put back.
 */
export async function protecting<Result>(
  protect: Protect,
  iteration: number | undefined,
  during: string,
  tell: Tell,
  act: () => Promise<Result>,
): Promise<Result> {
  if (iteration === undefined) return await act();
  const protection = await protect(iteration);
  try {
    return await act();
  } finally {
    for (const message of await protection.end({ agent: "A command", during }))
      await tell({ type: "notice", level: "warning", message });
  }
}

/** Of a repository: what configures git, or a program that it starts. Content and history do not count. */
const settingsOfGit = ["config", "config.worktree", "commondir", "gitdir", "hooks", "info"];
/** What moves where somebody commits. A person may do so while an agent works that can't. */
const historyOfGit = ["HEAD", "packed-refs", "refs", "index", "logs", "ORIG_HEAD", "MERGE_HEAD"];

/**
 * What is protected of a task in `folder` whose agents work in `workspace`. `everything`: the agent could commit as
 * well, so branches and the index are put back too. `configs`: the user's configuration in the folder, which may name
 * commands.
 */
export async function protectedIn(
  workspace: string,
  folder: string,
  {
    repository,
    everything,
    configs,
    more,
  }: {
    /** Of the workspace. */
    readonly repository: RepositoryOf | undefined;
    readonly everything: boolean;
    readonly configs: readonly string[];
    /** More files of the folder: those of another wing that has its records there. */
    readonly more: readonly string[];
  },
): Promise<Protected> {
  // Of our own records what is read again; the rest is written while agents work.
  const names = [taskName, stateName, ...more];
  const read = [taskLedger, logName].map((name) => join(folder, name));
  const copies = names.map((name) => lastGoodOf(folder, name));
  const own = [...names.map((name) => join(folder, name)), ...read, ...copies];
  const hidden = [journalFolder(folder), inboxFolder(folder)].map((path) => ({ path }));
  // In a folder of a repository too: git would find one that an agent makes there before the one around it.
  const planted = notToAppear.map((name) => join(workspace, name)).filter((path) => !existsSync(path));
  const files = [...new Set([...own, ...configs, join(workspace, taskName), ...planted, join(workspace, ".git")])];
  const records = hiddenFolder(folder);
  if (repository === undefined) return { files, folders: hidden, history: [], git: [], records };
  const roots = [...new Set([repository.folder, repository.common])];
  const inGit = (names: readonly string[]) =>
    roots.flatMap((root) => names.map((name) => ({ path: join(root, name) })));
  const modules = roots.map((root) => ({ path: join(root, "modules"), except: ["objects", "logs", "refs", "index"] }));
  // Of a worktree and of a submodule it is a file that names the folder.
  const file = join(repository.tree, ".git");
  const hooks = await hooksWithin(workspace, repository.tree);
  return {
    files: [...new Set([...files, file])],
    folders: [...hidden, ...inGit(settingsOfGit), ...modules, ...hooks.map((path) => ({ path }))],
    history: everything ? inGit(historyOfGit) : [],
    git: [...roots, ...hooks],
    records,
  };
}

/** The folder in the workspace in which the user has git look for hooks, such as husky's. `top`: of the repository. */
async function hooksWithin(workspace: string, top: string): Promise<string[]> {
  const { stdout } = await runGit(workspace, ["config", "-z", "--type=path", "--get-all", "core.hooksPath"]);
  // The last value is the one by which our own git runs none.
  const named = stdout.split("\0").slice(0, -2).at(-1) ?? "";
  const path = resolve(top, named);
  return named !== "" && path.startsWith(`${workspace}${sep}`) ? [path] : [];
}

/** What is there: in a sandbox it is shown and can't be changed. The folder of git as a whole, history included. */
export function existingIn({ files, git, records }: Protected): string[] {
  const outside = files.filter((path) => !path.startsWith(`${records}/`));
  return [...new Set([...outside, records, ...git])].filter((path) => existsSync(path));
}

/** What is not there, so that nothing can be laid over it: a file of that name can be made, and is taken away again. */
export const absentIn = ({ files, folders, git, records }: Protected): GuardedTask["around"] => ({
  // Our own records are shown as a whole.
  files: files.filter((path) => !existsSync(path) && !path.startsWith(`${records}/`)),
  folders: folders.filter(({ path }) => git.includes(path) && !existsSync(path)),
  history: [],
});

/** What a task's guard is about. */
export interface GuardedTask {
  /** The folder of the task's records. */
  readonly folder: string;
  /** The folder of the program's state, with the key that a person's messages are signed with. */
  readonly stateDir: string;
  readonly around: Pick<Protected, "files" | "folders" | "history">;
}

/** Opens the guard of a task for an agent, or for what is run that it wrote. `kept`: where that is kept on the disk. */
export async function guardTask(task: GuardedTask, kept: string, iteration: number): Promise<Guard> {
  const { folder, stateDir, around } = task;
  const guarded = { folder, iteration, places: [], rescue: rescuedFolder(stateDir) };
  // A person may commit between a kill and the next start.
  const apart = { ...entryOf(task, [], around.history), inMemory: true } as const;
  return await openRecordedGuard(kept, { of: "task", ...task }, guarded, [...taskEntries(task), apart]);
}

/** The entries of a task, without the history of its repository. */
export const taskEntries = (task: GuardedTask): Entry[] => [entryOf(task, task.around.files, task.around.folders)];

const entryOf = ({ folder, stateDir }: GuardedTask, files: readonly string[], folders: readonly Folder[]): Entry => ({
  rule: "put back",
  files,
  folders,
  // Messages that a person has left meanwhile stay.
  judge: async ({ path, before, now }) =>
    before.kind === "absent" &&
    now.kind === "file" &&
    dirname(path) === inboxFolder(folder) &&
    (await isOurMessage(folder, basename(path), now.bytes.toString("utf8"), stateDir))
      ? {}
      : undefined,
  tell(found, { during }, aside) {
    if (found.length === 0) return [];
    const names = listed(found.map(({ path }) => relative(folder, path)));
    const kept = found.some(({ isKept }) => isKept) ? `; the earlier content is in ${relative(folder, aside)}` : "";
    return [`${names} changed while ${during}, and ${found.length === 1 ? "was" : "were"} put back${kept}.`];
  },
});
