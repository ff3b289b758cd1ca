import { randomUUID } from "node:crypto";
import { execa } from "execa";
import { withoutUndefined } from "../lib/without-undefined.js";
import { killDescendants, markVariable, sendSignal as send } from "../process/descendants.js";
import { terminateGroup } from "../process/run-process.js";
import { pathOutside } from "../process/search-path.js";

export interface GitAnswer {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
  /** Set if this program ended git: the reason, as the end of a sentence with "git was ended because". */
  readonly endReason?: string;
}

/** Absolute paths of a repository's git folder and of its working tree. */
export interface Repository {
  readonly folder: string;
  readonly tree: string;
}

/** How git is run. */
export interface GitLimits {
  /** Aborted when the run must end at once: git then has one second to finish. */
  readonly abort?: AbortSignal;
  /** Maximum duration in milliseconds. */
  readonly maxMs?: number;
  /** Absolute path of an index to use instead of the repository's index. */
  readonly index?: string;
  /** The repository to work on, even if the folder contains another one. */
  readonly repository?: Repository;
  /** Absolute path of the folder that all working trees of the repository share (GIT_COMMON_DIR). */
  readonly commonFolder?: string;
  /** Settings that override those of the configuration files, by key. */
  readonly settings?: ReadonlyMap<string, string>;
  /** Text for git's standard input. */
  readonly input?: string;
}

/** Variables that are set if a git hook started this program. They name the hook's repository, so they are removed. */
const inheritedVariables = [
  "GIT_DIR",
  "GIT_WORK_TREE",
  "GIT_INDEX_FILE",
  "GIT_PREFIX",
  "GIT_COMMON_DIR",
  "GIT_OBJECT_DIRECTORY",
];

/**
 * The environment of git. No optional locks: even `git status` would lock the index and block the commit of another
 * project. No protocol: in a partial clone, git would fetch missing objects with programs that the configuration names.
 */
const environment = {
  LC_ALL: "C",
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_ALLOW_PROTOCOL: "none",
  GIT_NO_LAZY_FETCH: "1",
  ...Object.fromEntries(inheritedVariables.map((name) => [name, undefined])),
};

/** See docs/decisions/git-without-hooks.md. */
const withoutHooks = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"];

/** Settings as environment variables. Unlike with -c, a key may contain "=". */
const configurationVariables = (settings: ReadonlyMap<string, string>): NodeJS.ProcessEnv => ({
  GIT_CONFIG_COUNT: String(settings.size),
  ...Object.fromEntries(
    [...settings].flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ),
});

/** Time that git has to finish after an interrupt. */
const interruptGraceMs = 1000;

/** Time between SIGTERM and SIGKILL. */
const graceMs = 500;

/** Time to read on after git has ended, if another process still holds the pipe open. */
const pipeMs = 1000;

/**
 * Runs git in `folder`, without hooks, file monitors and transports. If git is missing, fails or takes longer than one
 * minute, the answer is not `ok`. Git runs in a separate process group: a signal to the group of this program must not
 * kill it during a commit, because index.lock would remain. If git hangs, for example in a filter, it is ended together
 * with its group and with the descendants that left the group. SIGTERM comes first, so that git can remove its lock.
 */
export async function runGit(
  folder: string,
  args: readonly string[],
  { abort, maxMs = 60_000, settings = new Map(), index, repository, commonFolder, input }: GitLimits = {},
): Promise<GitAnswer> {
  const mark = randomUUID();
  const env = {
    ...environment,
    ...configurationVariables(settings),
    // An agent may have put a program named git into the folder.
    PATH: pathOutside([folder], process.env["PATH"]),
    ...(repository === undefined ? {} : { GIT_DIR: repository.folder, GIT_WORK_TREE: repository.tree }),
    ...withoutUndefined({ GIT_COMMON_DIR: commonFolder, GIT_INDEX_FILE: index }),
    [markVariable]: mark,
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

  let endReason: string | undefined;
  let cleanup: Promise<void> | undefined;
  const endGit = (reason: string): void => {
    endReason = reason;
    cleanup = terminateGroup(pid, graceMs).then(async () => {
      send(-pid, "SIGKILL");
      await killDescendants(mark);
    });
  };
  const timers = [
    setTimeout(endGit, maxMs, `it took longer than ${maxMs / 1000} seconds; a filter of the repository may hang`),
  ];
  const endSoon = (): void => void timers.push(setTimeout(endGit, interruptGraceMs, "the run was interrupted"));
  const stopListening = (): void => [git.stdout, git.stderr].forEach((stream) => stream.destroy());
  if (abort?.aborted === true) endSoon();
  abort?.addEventListener("abort", endSoon);
  let exitCode: number | null = null;
  git.once("exit", (code) => {
    exitCode = code;
    timers.push(setTimeout(stopListening, pipeMs));
  });
  const { stdout, stderr, shortMessage } = await git;
  for (const timer of timers) clearTimeout(timer);
  abort?.removeEventListener("abort", endSoon);
  await cleanup;
  if (exitCode === 0) return { ok: true, stdout, stderr };
  return {
    ok: false,
    stdout,
    stderr: stderr === "" ? String(shortMessage) : stderr,
    ...withoutUndefined({ endReason: endReason }),
  };
}
