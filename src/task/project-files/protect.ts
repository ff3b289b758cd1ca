import { existsSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import type { Tell } from "../../engine/loop/types.js";
import { hiddenFolder, inboxFolder, journalFolder, lastGoodOf, rescuedFolder } from "../../engine/lib/layout.js";
import type { GuardEntry, GuardedFolder, Guard } from "../../engine/storage/guard/guard.js";
import { joinedNames } from "../../engine/lib/words.js";
import { openRecordedGuard } from "../../engine/storage/guard/guard-record.js";
import { isFromThisProgram } from "../../engine/storage/state/steering-inbox.js";
import { runGit } from "../../engine/storage/git-command.js";
import type { FolderRepository } from "../../engine/storage/git-repository.js";
import { logName, unwantedNewFiles, stateName, taskLedger, taskName } from "./layout.js";

/**
 * Paths that agents may not change in a task's folder: the task, its state, its records, and the files of git.
 * Otherwise git would later run a hook or a setting of an agent as the user.
 */
export interface ProtectedPaths {
  /** Paths of files. */
  readonly files: readonly string[];
  readonly folders: readonly GuardedFolder[];
  /** Folders and files with the branches and the index of the repository; only if an agent could commit. */
  readonly history: readonly GuardedFolder[];
  /** The folders of the repository with these paths, and the folder of its hooks if it is a separate folder. */
  readonly git: readonly string[];
  /** The folder of the task's own records. */
  readonly records: string;
}

/**
 * Opens the guard of an iteration before an agent starts, or before the code of an agent is run. The guard records the
 * protected paths, which only this program and the user may change.
 */
export type OpenGuard = (iteration: number) => Promise<Guard>;

/**
 * Calls `action`, which runs the code of an agent, and then puts back protected paths that have changed. `iteration`:
 * the iteration of the last agent; undefined if no agent has worked yet. Then nothing is put back.
 */
export async function withProtection<Result>(
  protect: OpenGuard,
  iteration: number | undefined,
  during: string,
  tell: Tell,
  action: () => Promise<Result>,
): Promise<Result> {
  if (iteration === undefined) return await action();
  const protection = await protect(iteration);
  try {
    return await action();
  } finally {
    for (const message of await protection.end({ agent: "A command", during }))
      await tell({ type: "notice", level: "warning", message });
  }
}

/**
 * In a repository: the configuration of git and of programs that git starts, without the content and the history.
 */
const gitSettings = ["config", "config.worktree", "commondir", "gitdir", "hooks", "info"];
/** Paths that change with a commit. If an agent can't commit, the user may commit while it works. */
const gitHistory = ["HEAD", "packed-refs", "refs", "index", "logs", "ORIG_HEAD", "MERGE_HEAD"];

/**
 * The protected paths of a task in `folder` whose agents work in `workspace`. `canCommit`: whether the agent can
 * commit; then branches and the index are put back too. `configFiles`: the user's configuration files in the folder,
 * which may contain commands.
 */
export async function protectedPathsOf(
  workspace: string,
  folder: string,
  {
    repository,
    everything: canCommit,
    configs: configFiles,
    moreFiles,
  }: {
    /** The repository of the workspace. */
    readonly repository: FolderRepository | undefined;
    readonly everything: boolean;
    readonly configs: readonly string[];
    /** More files of the folder, such as the records of a team. */
    readonly moreFiles: readonly string[];
  },
): Promise<ProtectedPaths> {
  // Only records that are read again are protected; the others are written while agents work.
  const names = [taskName, stateName, ...moreFiles];
  const readRecords = [taskLedger, logName].map((name) => join(folder, name));
  const copies = names.map((name) => lastGoodOf(folder, name));
  const taskFiles = [...names.map((name) => join(folder, name)), ...readRecords, ...copies];
  const recordFolders = [journalFolder(folder), inboxFolder(folder)].map((path) => ({ path }));
  // .git is protected also in a subfolder of a repository: git would use a new .git there instead of the one above.
  const unwantedFiles = unwantedNewFiles.map((name) => join(workspace, name)).filter((path) => !existsSync(path));
  const files = [
    ...new Set([...taskFiles, ...configFiles, join(workspace, taskName), ...unwantedFiles, join(workspace, ".git")]),
  ];
  const records = hiddenFolder(folder);
  if (repository === undefined) return { files, folders: recordFolders, history: [], git: [], records };
  const gitFolders = [...new Set([repository.folder, repository.commonFolder])];
  const inGit = (names: readonly string[]) =>
    gitFolders.flatMap((root) => names.map((name) => ({ path: join(root, name) })));
  const moduleFolders = gitFolders.map((root) => ({
    path: join(root, "modules"),
    except: ["objects", "logs", "refs", "index"],
  }));
  // In a worktree and in a submodule, .git is a file that names the folder.
  const gitFile = join(repository.tree, ".git");
  const hooks = await hooksWithin(workspace, repository.tree);
  return {
    files: [...new Set([...files, gitFile])],
    folders: [...recordFolders, ...inGit(gitSettings), ...moduleFolders, ...hooks.map((path) => ({ path }))],
    history: canCommit ? inGit(gitHistory) : [],
    git: [...gitFolders, ...hooks],
    records,
  };
}

/** The folder within the workspace from which the user's git reads hooks, such as the folder of husky. */
async function hooksWithin(workspace: string, repositoryRoot: string): Promise<string[]> {
  const { stdout } = await runGit(workspace, ["config", "-z", "--type=path", "--get-all", "core.hooksPath"]);
  // The last value comes from `runGit`, which turns hooks off.
  const configuredPath = stdout.split("\0").slice(0, -2).at(-1) ?? "";
  const path = resolve(repositoryRoot, configuredPath);
  return configuredPath !== "" && path.startsWith(`${workspace}${sep}`) ? [path] : [];
}

/** The protected paths that exist. A sandbox mounts them read-only; the folder of git is mounted as a whole. */
export function existingPaths({ files, git, records }: ProtectedPaths): string[] {
  const outsideRecords = files.filter((path) => !path.startsWith(`${records}/`));
  return [...new Set([...outsideRecords, records, ...git])].filter((path) => existsSync(path));
}

/** The paths that do not exist, which a sandbox can't mount. If an agent creates one, it is removed afterwards. */
export const absentPaths = ({ files, folders, git, records }: ProtectedPaths): GuardedTask["around"] => ({
  // The folder of records is mounted as a whole.
  files: files.filter((path) => !existsSync(path) && !path.startsWith(`${records}/`)),
  folders: folders.filter(({ path }) => git.includes(path) && !existsSync(path)),
  history: [],
});

/** The data that the guard of a task needs. */
export interface GuardedTask {
  /** The folder of the task's records. */
  readonly folder: string;
  /** The program's state folder, with the key that signs the user's messages. */
  readonly stateDir: string;
  readonly around: Pick<ProtectedPaths, "files" | "folders" | "history">;
}

/** Opens the guard of a task for an agent, or for a run of its work. `recordPath`: the file that records the guard. */
export async function guardTask(task: GuardedTask, recordPath: string, iteration: number): Promise<Guard> {
  const { folder, stateDir, around } = task;
  const guardSettings = { folder, iteration, places: [], rescue: rescuedFolder(stateDir) };
  // The history is kept only in memory, because the user may commit after this process was killed.
  const historyEntry = { ...entryOf(task, [], around.history), inMemory: true } as const;
  return await openRecordedGuard(recordPath, { of: "task", ...task }, guardSettings, [
    ...taskEntries(task),
    historyEntry,
  ]);
}

/** The guard entries of a task, without the history of its repository. */
export const taskEntries = (task: GuardedTask): GuardEntry[] => [entryOf(task, task.around.files, task.around.folders)];

const entryOf = (
  { folder, stateDir }: GuardedTask,
  files: readonly string[],
  folders: readonly GuardedFolder[],
): GuardEntry => ({
  rule: "restore",
  files,
  folders,
  // Messages that the user has sent meanwhile are not removed.
  decide: async ({ path, before, current: now }) =>
    before.kind === "absent" &&
    now.kind === "file" &&
    dirname(path) === inboxFolder(folder) &&
    (await isFromThisProgram(folder, basename(path), now.bytes.toString("utf8"), stateDir))
      ? {}
      : undefined,
  describe(changes, { during }, keptFolder) {
    if (changes.length === 0) return [];
    const names = joinedNames(changes.map(({ path }) => relative(folder, path)));
    const keptText = changes.some(({ isSetAside }) => isSetAside)
      ? `; the earlier content is in ${relative(folder, keptFolder)}`
      : "";
    return [`${names} changed while ${during}, and ${changes.length === 1 ? "was" : "were"} put back${keptText}.`];
  },
});
