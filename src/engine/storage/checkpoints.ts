import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { messageOf } from "../lib/errors.js";
import { withoutUndefined } from "../lib/without-undefined.js";
import { uncommittedFile } from "../lib/layout.js";
import { oneLine } from "../lib/sanitise.js";
import { sizeOf, writeFileAtomic } from "./atomic-file.js";
import { type GitAnswer, runGit } from "./git-command.js";
import {
  commitToBranch,
  configurationOf,
  type GitConfiguration,
  separateBranch,
  repositoryOf,
} from "./git-repository.js";
import { withLock } from "./lock.js";
import { readRegularText } from "./regular-file.js";

/** The files of a folder that checkpoints commit, if they exist. */
interface FilesToCommit {
  /** Names within the folder. */
  readonly names: readonly string[];
  /** The state file. Its size decides how often it is committed. */
  readonly state: string;
  /** The ledger file. It shows whether everything is committed. */
  readonly ledger: string;
}

/** Commits the files of a folder, and no other files. */
export interface Checkpoints {
  /**
   * Commits the changes of `folds` folds. `isDeferred`: the changes wait for the next commit. Never throws: a failure
   * is reported, and the next call commits the changes too.
   */
  commit(message: string, isDeferred?: boolean, folds?: number): Promise<void>;
  /**
   * Call this before a write of files without a ledger line. It leaves a mark: if the process is killed before the
   * commit, the next process that opens the folder commits them. @throws as writeFileAtomic.
   */
  announce(): Promise<void>;
  /** Commits what was deferred because of a large file or a failure, and lets git collect garbage. */
  finish(): Promise<void>;
}

/**
 * Size in bytes from which a state file is not committed after every fold: git first stores every version completely,
 * and 2 MB times 1,000 iterations would fill a disk.
 */
const largeFileBytes = 2_000_000;
const maxDeferredFolds = 10;
const maxDeferredMs = 10 * 60_000;

/** Git's check for garbage would take a tenth of the time of each commit; `finish` runs the check once. */
const withoutMaintenance = ["-c", "gc.auto=0", "-c", "maintenance.auto=false"];

type Git = (...args: string[]) => Promise<GitAnswer>;

/** Operations of git during which a commit would go to the wrong place, by the file that exists during each. */
const operationsByFile = {
  MERGE_HEAD: "merge",
  CHERRY_PICK_HEAD: "cherry-pick",
  REVERT_HEAD: "revert",
  "rebase-merge": "rebase",
  "rebase-apply": "rebase",
};

/**
 * Checkpoints for files of `folder`, or undefined without git or a repository. Commits go to the branch that was chosen
 * for the folder, otherwise to the branch that is checked out. Checkpoints never switch the branch, never touch other
 * staged changes, and report a lock of git but never delete it.
 * `unconfined`: the agent runs without a sandbox and may change git's configuration; no program that it adds there is
 * started.
 */
export async function openCheckpoints(
  folder: string,
  { names: fileNames, state, ledger }: FilesToCommit,
  notify: (message: string) => void,
  { abort, unconfined = false }: { readonly abort?: AbortSignal; readonly unconfined?: boolean } = {},
): Promise<Checkpoints | undefined> {
  let wasGitKilled = false;
  let settings: ReadonlyMap<string, string> = new Map();
  const git: Git = async (...args) => {
    const answer = await runGit(folder, args, { settings, ...withoutUndefined({ abort }) });
    wasGitKilled = answer.endReason !== undefined;
    return answer;
  };
  const repository = await repositoryOf(folder, withoutUndefined({ abort }));
  if (repository === undefined) return undefined;
  const { folder: gitFolder, commonFolder: common } = repository;
  const repositoryLock = join(common, "research-ralph.lock");
  const addedProgramsFile = join(common, "research-ralph-planted.json");
  const startConfiguration = await configurationOf(folder, withoutUndefined({ abort }));
  const identityOptions = missingIdentity(startConfiguration);
  // Settings that an unconfined agent added in an earlier run are not trusted until a person removes the record.
  const earlierPrograms = stillConfigured(await readAddedPrograms(addedProgramsFile), startConfiguration);
  const trustedConfiguration = withoutEarlierPrograms(startConfiguration, earlierPrograms);
  settings = overridesFor(trustedConfiguration, startConfiguration);
  const reportedKeys = new Set(Object.keys(earlierPrograms));
  if (reportedKeys.size > 0)
    notify(
      `git's configuration names programs that appeared while an unconfined agent ran (${[...reportedKeys].join(", ")}); checkpoints start none of them. Remove them with 'git config --unset', or delete ${addedProgramsFile} if they are yours.`,
    );
  let committedNames: ReadonlySet<string> | undefined;
  const branch = separateBranch(repository, startConfiguration);
  const ref = `refs/heads/${branch}`;
  const listCommitted = (): Promise<GitAnswer> =>
    branch === undefined ? git("ls-files", "--", ...fileNames) : git("ls-tree", "--name-only", ref, "--", ...fileNames);

  const trackedNames = new Set<string>();
  let lastNotice = "";
  let pendingCommit: { message: string; folds: number; since: number } | undefined;
  // The process may have been killed between a fold and its commit. After the last fold of a project, no later commit
  // would include that fold. If the ledger is missing, somebody else removed it; git still has it.
  const isLedgerUncommitted = async (): Promise<boolean> => {
    if (branch !== undefined) {
      const [current, committed] = [
        await git("hash-object", "--", ledger),
        await git("rev-parse", `${ref}:./${ledger}`),
      ];
      return current.ok && current.stdout !== committed.stdout;
    }
    const { ok, stdout } = await git("status", "--porcelain", "--untracked-files=all", "--", ledger);
    return ok && stdout !== "" && !/^(?:D| D)/.test(stdout);
  };
  const uncommittedMarker = uncommittedFile(folder);
  if (existsSync(uncommittedMarker) || (await isLedgerUncommitted()))
    pendingCommit = { message: "What an interrupted run left", folds: 0, since: Date.now() };

  const notifyOnce = (message: string) => {
    if (message !== lastNotice) notify(message);
    lastNotice = message;
  };

  /** Checks again which programs the configuration makes git start. */
  const recheckConfiguration = async (): Promise<void> => {
    const configuration = await configurationOf(folder, withoutUndefined({ abort }));
    settings = overridesFor(trustedConfiguration, configuration);
    const changedKeys = changedProgramKeys(configuration, trustedConfiguration);
    const newKeys = changedKeys.filter((key) => !reportedKeys.has(key));
    for (const key of newKeys) reportedKeys.add(key);
    if (newKeys.length === 0) return;
    const records = changedKeys.map((key) => [
      key,
      { now: configuration.get(key) ?? [], before: trustedConfiguration.get(key) ?? null },
    ]);
    await writeFileAtomic(addedProgramsFile, `${JSON.stringify(Object.fromEntries(records))}\n`);
    notify(
      `git's configuration has changed since the run began (${newKeys.join(", ")}); checkpoints start no program that it names. Remove it with 'git config --unset', or delete ${addedProgramsFile} if it is yours.`,
    );
  };

  const commitNow = async (message: string): Promise<void> => {
    // Without this check git would search the parent folders and commit to an outer repository.
    if (!existsSync(gitFolder))
      return notifyOnce(
        `No checkpoint: ${gitFolder} is gone; the project continues without git. 'git init' starts a new history.`,
      );
    const operation = Object.entries(operationsByFile).find(([file]) => existsSync(join(gitFolder, file)))?.[1];
    // A separate branch is not affected by an operation on the branch that is checked out.
    if (operation !== undefined && branch === undefined)
      return notifyOnce(
        `No checkpoint while a git ${operation} is under way; finish it and the next iteration commits.`,
      );
    if (unconfined) await recheckConfiguration();
    const presentNames = fileNames.filter((name) => existsSync(join(folder, name)));
    // Read only once. It is needed because the next commit must also remove the files that a reset deletes.
    committedNames ??= new Set((await listCommitted()).stdout.split("\n"));
    const deletedNames = fileNames.filter(
      (name) => !presentNames.includes(name) && (trackedNames.has(name) || committedNames?.has(name) === true),
    );
    const options = { subject: "The repository", waitMs: 10_000, abort };
    const failure = await withLock(repositoryLock, options, async () => {
      if (branch === undefined)
        return addAndCommit(git, presentNames, deletedNames, trackedNames, identityOptions, message);
      const gitWithIndex = (args: readonly string[], index?: string) =>
        runGit(folder, args, { settings, ...withoutUndefined({ abort, index }) });
      const result = await commitToBranch(gitWithIndex, repository, branch, {
        presentNames: presentNames,
        removedNames: deletedNames,
        message,
        identity: identityOptions,
      });
      for (const name of presentNames) trackedNames.add(name);
      return result.ok ? undefined : failureText(result);
    });
    if (failure !== undefined) {
      committedNames = undefined;
      return notifyOnce(`No checkpoint: ${failure}`);
    }
    lastNotice = "";
    pendingCommit = undefined;
    await rm(uncommittedMarker, { recursive: true, force: true });
    for (const name of deletedNames) trackedNames.delete(name);
    // From now on `trackedNames` contains every file of the history.
    committedNames = new Set();
  };

  const tryToCommit = async (message: string): Promise<void> => {
    try {
      await commitNow(message);
    } catch (error) {
      // Even a bug here must not fail an iteration: the state is on the disk; only the copy in git is missing.
      notifyOnce(`No checkpoint: ${messageOf(error)}`);
    }
  };

  return {
    async commit(message, isDeferred = false, folds = 1) {
      pendingCommit = {
        message,
        folds: (pendingCommit?.folds ?? 0) + folds,
        since: pendingCommit?.since ?? Date.now(),
      };
      if (isDeferred) return;
      const isLarge = sizeOf(join(folder, state)) > largeFileBytes;
      if (isLarge && pendingCommit.folds < maxDeferredFolds && Date.now() - pendingCommit.since < maxDeferredMs) return;
      await tryToCommit(message);
    },
    async announce() {
      await writeFileAtomic(uncommittedMarker, "", { isDurable: false });
    },
    async finish() {
      // Git was killed because it hung. It would hang again, and the user may be waiting for the end.
      if (wasGitKilled && abort?.aborted === true) return;
      if (pendingCommit !== undefined) await tryToCommit(pendingCommit.message);
      if (trackedNames.size === 0 || !existsSync(gitFolder)) return;
      if (unconfined) await recheckConfiguration();
      // `git gc` starts the program of this setting, and no option overrides the setting.
      if (settings.get(objectsHook) === undefined) await git("gc", "--auto", "--quiet");
    },
  };
}

/**
 * One sentence that says why no commits can be made in a folder; undefined if they can. `hasRun`: an earlier run has
 * already told the user that there is no repository, so the result is undefined then too.
 */
export async function noCommitsReason(folder: string, { hasRun = false } = {}): Promise<string | undefined> {
  const { ok, stdout, stderr } = await runGit(folder, ["rev-parse", "--is-inside-work-tree"]);
  // Without git installed, nobody expects commits.
  if ((ok && stdout === "true") || /ENOENT/.test(stderr)) return undefined;
  if (/not a git repository/i.test(stderr))
    return hasRun
      ? undefined
      : "Nothing is committed, because this folder is not in a git repository; 'research-ralph init' creates one, --no-git turns commits off.";
  return `Nothing is committed, because ${unusableReason(ok, stderr)}; 'git status' in this folder says more, --no-git turns commits off.`;
}

/** Why git can't work in a folder although the folder is in a repository. */
export const unusableReason = (ok: boolean, stderr: string): string =>
  ok
    ? "this folder is in a git repository without files (core.bare)"
    : `git refuses its repository (${oneLine(stderr.split("\n")[0] ?? "").replace(/^fatal: /, "")})`;

/** Returns the error message for a person; undefined after success. */
async function addAndCommit(
  git: Git,
  presentNames: readonly string[],
  deletedNames: readonly string[],
  trackedNames: Set<string>,
  identity: readonly string[],
  message: string,
): Promise<string | undefined> {
  const untrackedNames = presentNames.filter((name) => !trackedNames.has(name));
  if (untrackedNames.length > 0) {
    const result = await git("add", "--", ...untrackedNames);
    if (!result.ok) return failureText(result);
    for (const name of untrackedNames) trackedNames.add(name);
  }
  // --only commits the files as they are, and does not touch other staged changes.
  const options = [
    ...identity,
    ...withoutMaintenance,
    "-c",
    "commit.gpgsign=false",
    "commit",
    "-q",
    "-m",
    message,
    "--only",
    "--",
    ...presentNames,
    ...deletedNames,
  ];
  const result = await git(...options);
  if (result.ok || /nothing (added )?to commit|no changes added/.test(result.stdout)) return undefined;
  // A person may have removed a file from git's index; the next call adds all files again.
  trackedNames.clear();
  return failureText(result);
}

function failureText({ stderr, stdout, endReason: ended }: GitAnswer): string {
  if (ended !== undefined) return `git was ended because ${ended}; the next iteration tries again.`;
  const lock = /Unable to create '(.+?\.lock)': File exists/.exec(stderr)?.[1];
  if (lock !== undefined) return `git's lock ${lock} exists; if no git is running, delete it.`;
  if (stderr.includes("ignored by one of your .gitignore files"))
    return "the project folder is ignored by git; remove it from .gitignore to commit it.";
  if (stderr.includes("sparse-checkout"))
    return "git was told to ignore a file of the project (a sparse checkout, or skip-worktree); 'git sparse-checkout add' or 'git update-index --no-skip-worktree' with its path ends that.";
  const [line = "nothing"] = `${stderr}\n${stdout}`
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("hint:"));
  return `git said '${line}'; the next iteration tries again.`;
}

const objectsHook = "gc.recentobjectshook";

/** Whether the value of this key is a program that git may start; git-command.ts disables other keys of this kind. */
const isProgramKey = (key: string): boolean => /^(?:filter|hook)\./.test(key) || key === objectsHook;

/** Programs that appeared in the configuration while an unconfined agent ran, by key. */
type AddedPrograms = Readonly<
  Record<string, { readonly now: readonly string[]; readonly before: readonly string[] | null }>
>;

async function readAddedPrograms(path: string): Promise<AddedPrograms> {
  try {
    const value: unknown = JSON.parse(await readRegularText(path));
    const entries = Object.entries(value as AddedPrograms).filter(
      ([, program]) => Array.isArray(program.now) && (program.before === null || Array.isArray(program.before)),
    );
    return Object.fromEntries(entries);
  } catch {
    return {};
  }
}

/** The added programs that are still in the configuration. */
const stillConfigured = (newKeys: AddedPrograms, configuration: GitConfiguration): AddedPrograms =>
  Object.fromEntries(
    Object.entries(newKeys).filter(([key, program]) => isDeepStrictEqual(configuration.get(key), program.now)),
  );

/** The configuration as it was before an earlier run, during which programs were added. */
const withoutEarlierPrograms = (configuration: GitConfiguration, earlierPrograms: AddedPrograms): GitConfiguration =>
  new Map(
    [...configuration].flatMap(([key, values]): [string, readonly string[]][] => {
      const previous = Object.hasOwn(earlierPrograms, key) ? earlierPrograms[key]?.before : values;
      return previous == null ? [] : [[key, previous]];
    }),
  );

/** The keys of programs that are new or changed. */
const changedProgramKeys = (configuration: GitConfiguration, trustedConfiguration: GitConfiguration): string[] =>
  [...configuration].flatMap(([key, values]) =>
    isProgramKey(key) && !isDeepStrictEqual(trustedConfiguration.get(key), values) ? [key] : [],
  );

/**
 * Settings that override those of the configuration files, so that git starts only programs of `trustedConfiguration`:
 * filters keep their earlier value or are empty, and configured hooks never run.
 */
function overridesFor(
  trustedConfiguration: GitConfiguration,
  configuration: GitConfiguration,
): ReadonlyMap<string, string> {
  const hooks = [...configuration.keys()].filter((key) => key.startsWith("hook."));
  return new Map([
    ...changedProgramKeys(configuration, trustedConfiguration).map((key): [string, string] => [
      key,
      trustedConfiguration.get(key)?.at(-1) ?? (key.endsWith(".required") ? "false" : ""),
    ]),
    ...hooks.map((key): [string, string] => [key.replace(/\.[^.]*$/, ".enabled"), "false"]),
  ]);
}

/** Options for git with a default name and address, if the user has not configured them. */
const missingIdentity = (trustedConfiguration: GitConfiguration): string[] =>
  [
    ["user.name", "research-ralph"],
    ["user.email", "research-ralph@localhost"],
  ].flatMap(([key = "", value]) => (trustedConfiguration.has(key) ? [] : ["-c", `${key}=${value}`]));
