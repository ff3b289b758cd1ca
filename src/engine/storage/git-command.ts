import { randomUUID } from "node:crypto";
import { execa } from "execa";
import { given } from "../lib/given.js";
import { killDescendants, marker, signal as send } from "../process/descendants.js";
import { terminateGroup } from "../process/run-process.js";
import { pathOutside } from "../process/search-path.js";

export interface GitAnswer {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
  /** Set where we ended it: why, as the end of a sentence that begins with "git was ended because". */
  readonly ended?: string;
}

/** Absolute paths of a repository's own folder and of its working tree. */
export interface Repository {
  readonly folder: string;
  readonly tree: string;
}

/** How git is run. */
export interface GitLimits {
  /** Aborted when the run ends at once: git is then given a second to finish what it is at. */
  readonly abort?: AbortSignal;
  /** Most milliseconds. */
  readonly maxMs?: number;
  /** Absolute path of an index to use in place of the repository's. */
  readonly index?: string;
  /** The repository to work on, whatever is found in the folder. */
  readonly repository?: Repository;
  /** Absolute path of the folder to read what a repository's working trees have in common from. */
  readonly common?: string;
  /** Values that count before those of the configuration files, by their key. */
  readonly settings?: ReadonlyMap<string, string>;
  /** What it reads from its standard input. */
  readonly input?: string;
}

/** Set while a git hook runs, and then they point at another repository than the folder's. */
const inherited = [
  "GIT_DIR",
  "GIT_WORK_TREE",
  "GIT_INDEX_FILE",
  "GIT_PREFIX",
  "GIT_COMMON_DIR",
  "GIT_OBJECT_DIRECTORY",
];

/**
 * Optional locks: a mere look at what has changed would lock the index against another project's commit. No protocol:
 * in a partial clone git fetches what it misses, by programs that the configuration names.
 */
const environment = {
  LC_ALL: "C",
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_ALLOW_PROTOCOL: "none",
  GIT_NO_LAZY_FETCH: "1",
  ...Object.fromEntries(inherited.map((name) => [name, undefined])),
};

/** See docs/decisions/git-without-hooks.md. */
const withoutHooks = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"];

/** Unlike after -c, a key may then hold a "=". */
const inVariables = (settings: ReadonlyMap<string, string>): NodeJS.ProcessEnv => ({
  GIT_CONFIG_COUNT: String(settings.size),
  ...Object.fromEntries(
    [...settings].flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ),
});

const hurryMs = 1000;
const graceMs = 500;
/** How long a pipe that something else holds open is listened to after git's own end. */
const pipeMs = 1000;

/**
 * Runs git in `folder`, without its hooks, file monitors and transports; a missing git, a failure or one minute without
 * an end is an answer that is not `ok`. It runs in a group of its own: a kill by us in the middle of a commit would
 * leave git's index.lock behind. One that hangs, in a filter of the repository say, is ended with its group and with
 * what left the group; SIGTERM comes first, at which git takes its lock away.
 */
export async function runGit(
  folder: string,
  args: readonly string[],
  { abort, maxMs = 60_000, settings = new Map(), index, repository, common, input }: GitLimits = {},
): Promise<GitAnswer> {
  const run = randomUUID();
  const env = {
    ...environment,
    ...inVariables(settings),
    // An agent may have left a program of its name in the folder.
    PATH: pathOutside([folder], process.env["PATH"]),
    ...(repository === undefined ? {} : { GIT_DIR: repository.folder, GIT_WORK_TREE: repository.tree }),
    ...given({ GIT_COMMON_DIR: common, GIT_INDEX_FILE: index }),
    [marker]: run,
  };
  const git = execa("git", [...withoutHooks, ...args], {
    cwd: folder,
    env,
    detached: true,
    ...(input === undefined ? { stdin: "ignore" as const } : { input }),
    reject: false,
  });
  const { pid } = git;
  if (pid === undefined) {
    const { shortMessage } = await git;
    return { ok: false, stdout: "", stderr: String(shortMessage) };
  }

  let ended: string | undefined;
  let swept: Promise<void> | undefined;
  const end = (why: string): void => {
    ended = why;
    swept = terminateGroup(pid, graceMs).then(async () => {
      send(-pid, "SIGKILL");
      await killDescendants(run);
    });
  };
  const timers = [
    setTimeout(end, maxMs, `it took longer than ${maxMs / 1000} seconds; a filter of the repository may hang`),
  ];
  const hurry = (): void => void timers.push(setTimeout(end, hurryMs, "the run was interrupted"));
  const stopListening = (): void => [git.stdout, git.stderr].forEach((stream) => stream.destroy());
  if (abort?.aborted === true) hurry();
  abort?.addEventListener("abort", hurry);
  let exitCode: number | null = null;
  git.once("exit", (code) => {
    exitCode = code;
    timers.push(setTimeout(stopListening, pipeMs));
  });
  const { stdout, stderr, shortMessage } = await git;
  for (const timer of timers) clearTimeout(timer);
  abort?.removeEventListener("abort", hurry);
  await swept;
  if (exitCode === 0) return { ok: true, stdout, stderr };
  return { ok: false, stdout, stderr: stderr === "" ? String(shortMessage) : stderr, ...given({ ended }) };
}
