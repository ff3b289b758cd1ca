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

/** The files of a folder that checkpoints commit, where they exist. */
interface CommittedFiles {
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
   * Commits the changes of `folds` folds. `isDeferred`: only with the next commit. Never throws: a failure is reported,
   * and the next call commits its changes too.
   */
  commit(message: string, isDeferred?: boolean, folds?: number): Promise<void>;
  /**
   * Records that files will be written which the ledger does not mention. If the process is killed before the commit,
   * the next process that opens the folder commits them. @throws as writeFileAtomic.
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

/** Git's check for garbage after each commit takes a tenth of its time; `finish` runs the check once. */
const withoutMaintenance = ["-c", "gc.auto=0", "-c", "maintenance.auto=false"];

type Git = (...args: string[]) => Promise<GitAnswer>;

/** Operations of git during which a commit would go to the wrong place, by the file that marks each. */
const unfinishedOperations = {
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
  { names: fileNames, state, ledger }: CommittedFiles,
  notify: (message: string) => void,
  { abort, unconfined = false }: { readonly abort?: AbortSignal; readonly unconfined?: boolean } = {},
): Promise<Checkpoints | undefined> {
  let wasGitEnded = false;
  let settings: ReadonlyMap<string, string> = new Map();
  const git: Git = async (...args) => {
    const answer = await runGit(folder, args, { settings, ...withoutUndefined({ abort }) });
    wasGitEnded = answer.ended !== undefined;
    return answer;
  };
  const repository = await repositoryOf(folder, withoutUndefined({ abort }));
  if (repository === undefined) return undefined;
  const { folder: gitFolder, common } = repository;
  const repositoryLock = join(common, "research-ralph.lock");
  const plantedFile = join(common, "research-ralph-planted.json");
  const startConfiguration = await configurationOf(folder, withoutUndefined({ abort }));
  const identityOptions = missingIdentity(startConfiguration);
  // Settings that an unconfined agent added in an earlier run are not trusted until a person removes the record.
  const earlierPlanted = stillPlanted(await readPlanted(plantedFile), startConfiguration);
  const trustedConfiguration = withoutEarlierPlanted(startConfiguration, earlierPlanted);
  settings = overridesFor(trustedConfiguration, startConfiguration);
  const reportedKeys = new Set(Object.keys(earlierPlanted));
  if (reportedKeys.size > 0)
    notify(
      `git's configuration names programs that appeared while an unconfined agent ran (${[...reportedKeys].join(", ")}); checkpoints start none of them. Remove them with 'git config --unset', or delete ${plantedFile} if they are yours.`,
    );
  let committedNames: ReadonlySet<string> | undefined;
  const branch = separateBranch(repository, startConfiguration);
  const ref = `refs/heads/${branch}`;
  const listCommitted = (): Promise<GitAnswer> =>
    branch === undefined ? git("ls-files", "--", ...fileNames) : git("ls-tree", "--name-only", ref, "--", ...fileNames);

  const trackedNames = new Set<string>();
  let lastNotice = "";
  let pending: { message: string; folds: number; since: number } | undefined;
  // The process may have been killed between a fold and its commit; after the last fold of a project no later commit
  // would include it. If the ledger is missing, somebody else removed it, and git still has it.
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
    pending = { message: "What an interrupted run left", folds: 0, since: Date.now() };

  const notifyOnce = (message: string) => {
    if (message !== lastNotice) notify(message);
    lastNotice = message;
  };

  /** Checks again which programs the configuration makes git start. */
  const recheckConfiguration = async (): Promise<void> => {
    const configuration = await configurationOf(folder, withoutUndefined({ abort }));
    settings = overridesFor(trustedConfiguration, configuration);
    const allPlanted = plantedIn(configuration, trustedConfiguration);
    const newlyPlanted = allPlanted.filter((key) => !reportedKeys.has(key));
    for (const key of newlyPlanted) reportedKeys.add(key);
    if (newlyPlanted.length === 0) return;
    const records = allPlanted.map((key) => [
      key,
      { now: configuration.get(key) ?? [], before: trustedConfiguration.get(key) ?? null },
    ]);
    await writeFileAtomic(plantedFile, `${JSON.stringify(Object.fromEntries(records))}\n`);
    notify(
      `git's configuration has changed since the run began (${newlyPlanted.join(", ")}); checkpoints start no program that it names. Remove it with 'git config --unset', or delete ${plantedFile} if it is yours.`,
    );
  };

  const commitNow = async (message: string): Promise<void> => {
    // Without this check git would search the parent folders and commit to an outer repository.
    if (!existsSync(gitFolder))
      return notifyOnce(
        `No checkpoint: ${gitFolder} is gone; the project continues without git. 'git init' starts a new history.`,
      );
    const operation = Object.entries(unfinishedOperations).find(([file]) => existsSync(join(gitFolder, file)))?.[1];
    // A separate branch is not affected by an operation on the branch that is checked out.
    if (operation !== undefined && branch === undefined)
      return notifyOnce(
        `No checkpoint while a git ${operation} is under way; finish it and the next iteration commits.`,
      );
    if (unconfined) await recheckConfiguration();
    const present = fileNames.filter((name) => existsSync(join(folder, name)));
    // Read only once. It is needed because the next commit must also remove the files that a reset deletes.
    committedNames ??= new Set((await listCommitted()).stdout.split("\n"));
    const deleted = fileNames.filter(
      (name) => !present.includes(name) && (trackedNames.has(name) || committedNames?.has(name) === true),
    );
    const options = { describe: "The repository", waitMs: 10_000, abort };
    const failure = await withLock(repositoryLock, options, async () => {
      if (branch === undefined) return addAndCommit(git, present, deleted, trackedNames, identityOptions, message);
      const gitWithIndex = (args: readonly string[], index?: string) =>
        runGit(folder, args, { settings, ...withoutUndefined({ abort, index }) });
      const result = await commitToBranch(gitWithIndex, repository, branch, {
        present,
        gone: deleted,
        message,
        identity: identityOptions,
      });
      for (const name of present) trackedNames.add(name);
      return result.ok ? undefined : failureText(result);
    });
    if (failure !== undefined) {
      committedNames = undefined;
      return notifyOnce(`No checkpoint: ${failure}`);
    }
    lastNotice = "";
    pending = undefined;
    await rm(uncommittedMarker, { recursive: true, force: true });
    for (const name of deleted) trackedNames.delete(name);
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
      pending = { message, folds: (pending?.folds ?? 0) + folds, since: pending?.since ?? Date.now() };
      if (isDeferred) return;
      const isLarge = sizeOf(join(folder, state)) > largeFileBytes;
      if (isLarge && pending.folds < maxDeferredFolds && Date.now() - pending.since < maxDeferredMs) return;
      await tryToCommit(message);
    },
    async announce() {
      await writeFileAtomic(uncommittedMarker, "", { durable: false });
    },
    async finish() {
      // Git would hang again, and the user may be waiting for the end.
      if (wasGitEnded && abort?.aborted === true) return;
      if (pending !== undefined) await tryToCommit(pending.message);
      if (trackedNames.size === 0 || !existsSync(gitFolder)) return;
      if (unconfined) await recheckConfiguration();
      // `git gc` starts the program of this setting, and no option overrides the setting.
      if (settings.get(objectsHook) === undefined) await git("gc", "--auto", "--quiet");
    },
  };
}

/**
 * One sentence that says why no commits can be made in a folder; undefined if they can. `hasRun`: a person was told
 * before that there is no repository; undefined then too.
 */
export async function withoutHistory(folder: string, { hasRun = false } = {}): Promise<string | undefined> {
  const { ok, stdout, stderr } = await runGit(folder, ["rev-parse", "--is-inside-work-tree"]);
  // Without git installed, nobody expects commits.
  if ((ok && stdout === "true") || /ENOENT/.test(stderr)) return undefined;
  if (/not a git repository/i.test(stderr))
    return hasRun
      ? undefined
      : "Nothing is committed, because this folder is not in a git repository; 'research-ralph init' creates one, --no-git turns commits off.";
  return `Nothing is committed, because ${whyUnusable(ok, stderr)}; 'git status' in this folder says more, --no-git turns commits off.`;
}

/** Why git can't work in a folder although the folder is in a repository. */
export const whyUnusable = (ok: boolean, stderr: string): string =>
  ok
    ? "this folder lies in a git repository without files (core.bare)"
    : `git refuses its repository (${oneLine(stderr.split("\n")[0] ?? "").replace(/^fatal: /, "")})`;

/** Returns the error message for a person; undefined after success. */
async function addAndCommit(
  git: Git,
  present: readonly string[],
  deleted: readonly string[],
  tracked: Set<string>,
  identity: readonly string[],
  message: string,
): Promise<string | undefined> {
  const untracked = present.filter((name) => !tracked.has(name));
  if (untracked.length > 0) {
    const result = await git("add", "--", ...untracked);
    if (!result.ok) return failureText(result);
    for (const name of untracked) tracked.add(name);
  }
  // One call: --only commits the files as they are and leaves all other staged changes untouched.
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
    ...present,
    ...deleted,
  ];
  const result = await git(...options);
  if (result.ok || /nothing (added )?to commit|no changes added/.test(result.stdout)) return undefined;
  // A person may have removed a file from the index since; the next call adds it again.
  tracked.clear();
  return failureText(result);
}

function failureText({ stderr, stdout, ended }: GitAnswer): string {
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

/** Whether git may start a program that this key names; git-command.ts disables the other such keys. */
const startsProgram = (key: string): boolean => /^(?:filter|hook)\./.test(key) || key === objectsHook;

/** Programs that appeared in the configuration while an unconfined agent ran, by key. */
type Planted = Readonly<Record<string, { readonly now: readonly string[]; readonly before: readonly string[] | null }>>;

async function readPlanted(path: string): Promise<Planted> {
  try {
    const value: unknown = JSON.parse(await readRegularText(path));
    const entries = Object.entries(value as Planted).filter(
      ([, planted]) => Array.isArray(planted.now) && (planted.before === null || Array.isArray(planted.before)),
    );
    return Object.fromEntries(entries);
  } catch {
    return {};
  }
}

/** The planted programs that nobody has removed or changed since. */
const stillPlanted = (newlyPlanted: Planted, configuration: GitConfiguration): Planted =>
  Object.fromEntries(
    Object.entries(newlyPlanted).filter(([key, planted]) => isDeepStrictEqual(configuration.get(key), planted.now)),
  );

/** The configuration as it was before the planted programs of an earlier run. */
const withoutEarlierPlanted = (configuration: GitConfiguration, earlierPlanted: Planted): GitConfiguration =>
  new Map(
    [...configuration].flatMap(([key, values]): [string, readonly string[]][] => {
      const previous = Object.hasOwn(earlierPlanted, key) ? earlierPlanted[key]?.before : values;
      return previous == null ? [] : [[key, previous]];
    }),
  );

/** The keys of programs that are new or changed. */
const plantedIn = (configuration: GitConfiguration, trusted: GitConfiguration): string[] =>
  [...configuration].flatMap(([key, values]) =>
    startsProgram(key) && !isDeepStrictEqual(trusted.get(key), values) ? [key] : [],
  );

/**
 * Settings that override those of the configuration files, so that git starts no program outside of `trusted`: filters
 * keep their earlier value or are empty, and configured hooks never run.
 */
function overridesFor(trusted: GitConfiguration, configuration: GitConfiguration): ReadonlyMap<string, string> {
  const hooks = [...configuration.keys()].filter((key) => key.startsWith("hook."));
  return new Map([
    ...plantedIn(configuration, trusted).map((key): [string, string] => [
      key,
      trusted.get(key)?.at(-1) ?? (key.endsWith(".required") ? "false" : ""),
    ]),
    ...hooks.map((key): [string, string] => [key.replace(/\.[^.]*$/, ".enabled"), "false"]),
  ]);
}

/** Options with a default name and address for git, where the person has not configured them. */
const missingIdentity = (trustedConfiguration: GitConfiguration): string[] =>
  [
    ["user.name", "research-ralph"],
    ["user.email", "research-ralph@localhost"],
  ].flatMap(([key = "", value]) => (trustedConfiguration.has(key) ? [] : ["-c", `${key}=${value}`]));
