import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { messageOf } from "../lib/errors.js";
import { given } from "../lib/given.js";
import { uncommittedFile } from "../lib/layout.js";
import { oneLine } from "../lib/sanitise.js";
import { sizeOf, writeFileAtomic } from "./atomic-file.js";
import { type GitAnswer, runGit } from "./git-command.js";
import { commitToBranch, configurationOf, type GitConfiguration, ownBranch, repositoryOf } from "./git-repository.js";
import { withLock } from "./lock.js";
import { readRegularText } from "./regular-file.js";

/** The files of a folder that are kept in git, as far as they are there. */
interface CommittedFiles {
  /** Names within the folder. */
  readonly names: readonly string[];
  /** The one that holds the state: how often it is committed depends on its size. */
  readonly state: string;
  /** The one that tells whether everything is committed. */
  readonly ledger: string;
}

/** Commits the files of a folder, and these alone. */
export interface Checkpoints {
  /**
   * Commits what `folds` have changed; `later`: with the next commit. Never throws: what went wrong is reported, and
   * the next call makes up for it.
   */
  commit(message: string, later?: boolean, folds?: number): Promise<void>;
  /**
   * Notes that files are about to be written of which the ledger says nothing: where a kill comes before their commit,
   * the next process that opens the folder makes it. @throws as writeFileAtomic.
   */
  announce(): Promise<void>;
  /** Commits what a large file or a failure has put off, and lets git tidy up where it wants to. */
  finish(): Promise<void>;
}

/** Every version of a file is stored whole at first: 2 MB times 1,000 iterations would fill a disk. */
const largeFile = 2_000_000;
const foldsBetween = 10;
const msBetween = 10 * 60_000;

/** Git looks for rubbish after every commit, which costs a tenth of it; `finish` has it look once. */
const quick = ["-c", "gc.auto=0", "-c", "maintenance.auto=false"];

type Git = (...args: string[]) => Promise<GitAnswer>;

/** Operations in the middle of which a commit would end up in the wrong place, by the file that git keeps for them. */
const underWay = {
  MERGE_HEAD: "merge",
  CHERRY_PICK_HEAD: "cherry-pick",
  REVERT_HEAD: "revert",
  "rebase-merge": "rebase",
  "rebase-apply": "rebase",
};

/**
 * Checkpoints for `files` of `folder`, or undefined where there is no git or no repository. They go to the branch that
 * was chosen for the folder, else to the one that is checked out. No branch is ever switched, nothing else that is
 * staged is touched, and a lock of git's is reported, never deleted.
 * `unconfined`: an agent that nothing confines may change git's configuration; no program that it names there is
 * started.
 */
export async function openCheckpoints(
  folder: string,
  { names: committed, state, ledger }: CommittedFiles,
  notify: (message: string) => void,
  { abort, unconfined = false }: { readonly abort?: AbortSignal; readonly unconfined?: boolean } = {},
): Promise<Checkpoints | undefined> {
  let hangs = false;
  let settings: ReadonlyMap<string, string> = new Map();
  const git: Git = async (...args) => {
    const answer = await runGit(folder, args, { settings, ...given({ abort }) });
    hangs = answer.ended !== undefined;
    return answer;
  };
  const repository = await repositoryOf(folder, given({ abort }));
  if (repository === undefined) return undefined;
  const { folder: gitFolder, common } = repository;
  const repositoryLock = join(common, "research-ralph.lock");
  const plantedFile = join(common, "research-ralph-planted.json");
  const atStart = await configurationOf(folder, given({ abort }));
  const identity = missingIdentity(atStart);
  // What an unconfined agent of an earlier run left there is nobody's word yet.
  const earlier = stillThere(await readPlanted(plantedFile), atStart);
  const found = withoutEarlier(atStart, earlier);
  settings = withoutPlanted(found, atStart);
  const toldOf = new Set(Object.keys(earlier));
  if (toldOf.size > 0)
    notify(
      `git's configuration names programs that appeared while an unconfined agent ran (${[...toldOf].join(", ")}); checkpoints start none of them. Remove them with 'git config --unset', or delete ${plantedFile} if they are yours.`,
    );
  let inHistory: ReadonlySet<string> | undefined;
  const branch = ownBranch(repository, atStart);
  const ref = `refs/heads/${branch}`;
  const keptFiles = (): Promise<GitAnswer> =>
    branch === undefined ? git("ls-files", "--", ...committed) : git("ls-tree", "--name-only", ref, "--", ...committed);

  const tracked = new Set<string>();
  let told = "";
  let waiting: { message: string; folds: number; since: number } | undefined;
  // A kill between a fold and its commit: after the last fold of a project no other would make up for it. A ledger that
  // is gone was taken away by somebody else, and git has it still.
  const isBehind = async (): Promise<boolean> => {
    if (branch !== undefined) {
      const [own, kept] = [await git("hash-object", "--", ledger), await git("rev-parse", `${ref}:./${ledger}`)];
      return own.ok && own.stdout !== kept.stdout;
    }
    const { ok, stdout } = await git("status", "--porcelain", "--untracked-files=all", "--", ledger);
    return ok && stdout !== "" && !/^(?:D| D)/.test(stdout);
  };
  const note = uncommittedFile(folder);
  if (existsSync(note) || (await isBehind()))
    waiting = { message: "What an interrupted run left", folds: 0, since: Date.now() };

  const tell = (message: string) => {
    if (message !== told) notify(message);
    told = message;
  };

  /** Looks again at what the configuration has git start. */
  const lookAgain = async (): Promise<void> => {
    const now = await configurationOf(folder, given({ abort }));
    settings = withoutPlanted(found, now);
    const all = plantedIn(now, found);
    const planted = all.filter((key) => !toldOf.has(key));
    for (const key of planted) toldOf.add(key);
    if (planted.length === 0) return;
    const record = all.map((key) => [key, { now: now.get(key) ?? [], before: found.get(key) ?? null }]);
    await writeFileAtomic(plantedFile, `${JSON.stringify(Object.fromEntries(record))}\n`);
    notify(
      `git's configuration has changed since the run began (${planted.join(", ")}); checkpoints start no program that it names. Remove it with 'git config --unset', or delete ${plantedFile} if it is yours.`,
    );
  };

  const commitNow = async (message: string): Promise<void> => {
    // Without this git would look further up, and commit to whatever repository holds this one.
    if (!existsSync(gitFolder))
      return tell(
        `No checkpoint: ${gitFolder} is gone; the project continues without git. 'git init' starts a new history.`,
      );
    const operation = Object.entries(underWay).find(([file]) => existsSync(join(gitFolder, file)))?.[1];
    // A branch of its own has no part in what is under way on another.
    if (operation !== undefined && branch === undefined)
      return tell(`No checkpoint while a git ${operation} is under way; finish it and the next iteration commits.`);
    if (unconfined) await lookAgain();
    const present = committed.filter((name) => existsSync(join(folder, name)));
    // Looked up once: the next commit must also remove what a reset takes away.
    inHistory ??= new Set((await keptFiles()).stdout.split("\n"));
    const gone = committed.filter(
      (name) => !present.includes(name) && (tracked.has(name) || inHistory?.has(name) === true),
    );
    const options = { describe: "The repository", waitMs: 10_000, abort };
    const failed = await withLock(repositoryLock, options, async () => {
      if (branch === undefined) return addAndCommit(git, present, gone, tracked, identity, message);
      const apart = (args: readonly string[], index?: string) =>
        runGit(folder, args, { settings, ...given({ abort, index }) });
      const done = await commitToBranch(apart, repository, branch, { present, gone, message, identity });
      for (const name of present) tracked.add(name);
      return done.ok ? undefined : explain(done);
    });
    if (failed !== undefined) {
      inHistory = undefined;
      return tell(`No checkpoint: ${failed}`);
    }
    told = "";
    waiting = undefined;
    await rm(note, { recursive: true, force: true });
    for (const name of gone) tracked.delete(name);
    // From here on what is in the history is tracked too.
    inHistory = new Set();
  };

  const attempt = async (message: string): Promise<void> => {
    try {
      await commitNow(message);
    } catch (error) {
      // Even a bug here must not fail an iteration: the state is on the disk, only its copy in git is missing.
      tell(`No checkpoint: ${messageOf(error)}`);
    }
  };

  return {
    async commit(message, later = false, folds = 1) {
      waiting = { message, folds: (waiting?.folds ?? 0) + folds, since: waiting?.since ?? Date.now() };
      if (later) return;
      const large = sizeOf(join(folder, state)) > largeFile;
      if (large && waiting.folds < foldsBetween && Date.now() - waiting.since < msBetween) return;
      await attempt(message);
    },
    async announce() {
      await writeFileAtomic(note, "", { durable: false });
    },
    async finish() {
      // It would hang again, and a person may be waiting for the end.
      if (hangs && abort?.aborted === true) return;
      if (waiting !== undefined) await attempt(waiting.message);
      if (tracked.size === 0 || !existsSync(gitFolder)) return;
      if (unconfined) await lookAgain();
      // Its hooks for objects can't be taken out of what the files say.
      if (settings.get(objectsHook) === undefined) await git("gc", "--auto", "--quiet");
    },
  };
}

/** One sentence for anyone who expects commits where none can be made; undefined where they can. */
export async function withoutHistory(folder: string): Promise<string | undefined> {
  const { ok, stdout, stderr } = await runGit(folder, ["rev-parse", "--is-inside-work-tree"]);
  // Without git itself there is nothing that a person would expect.
  if ((ok && stdout === "true") || /ENOENT/.test(stderr)) return undefined;
  if (/not a git repository/i.test(stderr))
    return "Nothing is committed, because this folder is not in a git repository; 'research-ralph init' creates one, --no-git turns commits off.";
  return `Nothing is committed, because ${unusable(ok, stderr)}; 'git status' in this folder says more, --no-git turns commits off.`;
}

/** Why git has a repository for a folder and can't work in it. */
export const unusable = (ok: boolean, stderr: string): string =>
  ok
    ? "this folder lies in a git repository without files (core.bare)"
    : `git refuses its repository (${oneLine(stderr.split("\n")[0] ?? "").replace(/^fatal: /, "")})`;

/** Returns what went wrong, for a person. */
async function addAndCommit(
  git: Git,
  present: readonly string[],
  gone: readonly string[],
  tracked: Set<string>,
  identity: readonly string[],
  message: string,
): Promise<string | undefined> {
  const fresh = present.filter((name) => !tracked.has(name));
  if (fresh.length > 0) {
    const added = await git("add", "--", ...fresh);
    if (!added.ok) return explain(added);
    for (const name of fresh) tracked.add(name);
  }
  // One call: --only takes the files as they are and leaves whatever else is staged alone.
  const options = [
    ...identity,
    ...quick,
    "-c",
    "commit.gpgsign=false",
    "commit",
    "-q",
    "-m",
    message,
    "--only",
    "--",
    ...present,
    ...gone,
  ];
  const done = await git(...options);
  if (done.ok || /nothing (added )?to commit|no changes added/.test(done.stdout)) return undefined;
  // A file may have left the index by hand since; the next call adds it again.
  tracked.clear();
  return explain(done);
}

function explain({ stderr, stdout, ended }: GitAnswer): string {
  if (ended !== undefined) return `git was ended because ${ended}; the next iteration tries again.`;
  const lock = /Unable to create '(.+?\.lock)': File exists/.exec(stderr)?.[1];
  if (lock !== undefined) return `git's lock ${lock} exists; if no git is running, delete it.`;
  if (stderr.includes("ignored by one of your .gitignore files"))
    return "the project folder is ignored by git; remove it from .gitignore to commit it.";
  if (stderr.includes("sparse-checkout"))
    return "git was told to ignore a file of the project (a sparse checkout, or skip-worktree); 'git sparse-checkout add' or 'git update-index --no-skip-worktree' with its path ends that.";
  const [line = "nothing"] = `${stderr}\n${stdout}`
    .split("\n")
    .filter((each) => each.trim() !== "" && !each.startsWith("hint:"));
  return `git said '${line}'; the next iteration tries again.`;
}

const objectsHook = "gc.recentobjectshook";

/** Whether git may start what stands under this key, besides what git-command.ts keeps it from. */
const startsProgram = (key: string): boolean => /^(?:filter|hook)\./.test(key) || key === objectsHook;

/** Programs that appeared in the configuration beside an unconfined agent, by their key. */
type Planted = Readonly<Record<string, { readonly now: readonly string[]; readonly before: readonly string[] | null }>>;

async function readPlanted(path: string): Promise<Planted> {
  try {
    const value: unknown = JSON.parse(await readRegularText(path));
    const entries = Object.entries(value as Planted).filter(
      ([, each]) => Array.isArray(each.now) && (each.before === null || Array.isArray(each.before)),
    );
    return Object.fromEntries(entries);
  } catch {
    return {};
  }
}

/** Those that nobody has taken out or changed since. */
const stillThere = (planted: Planted, now: GitConfiguration): Planted =>
  Object.fromEntries(Object.entries(planted).filter(([key, each]) => isDeepStrictEqual(now.get(key), each.now)));

/** The configuration as it was before them. */
const withoutEarlier = (now: GitConfiguration, earlier: Planted): GitConfiguration =>
  new Map(
    [...now].flatMap(([key, values]): [string, readonly string[]][] => {
      const before = Object.hasOwn(earlier, key) ? earlier[key]?.before : values;
      return before == null ? [] : [[key, before]];
    }),
  );

/** The keys of programs that were not there before, or were others. */
const plantedIn = (now: GitConfiguration, known: GitConfiguration): string[] =>
  [...now].flatMap(([key, values]) => (startsProgram(key) && !isDeepStrictEqual(known.get(key), values) ? [key] : []));

/**
 * Values that count before those of the files, so that git starts nothing that was not `known`: filters are as they
 * were or none, configured hooks are never run.
 */
function withoutPlanted(known: GitConfiguration, now: GitConfiguration): ReadonlyMap<string, string> {
  const hooks = [...now.keys()].filter((key) => key.startsWith("hook."));
  return new Map([
    ...plantedIn(now, known).map((key): [string, string] => [
      key,
      known.get(key)?.at(-1) ?? (key.endsWith(".required") ? "false" : ""),
    ]),
    ...hooks.map((key): [string, string] => [key.replace(/\.[^.]*$/, ".enabled"), "false"]),
  ]);
}

/** Options that stand in for a name or address that the person has not told git. */
const missingIdentity = (found: GitConfiguration): string[] =>
  [
    ["user.name", "research-ralph"],
    ["user.email", "research-ralph@localhost"],
  ].flatMap(([key = "", value]) => (found.has(key) ? [] : ["-c", `${key}=${value}`]));
