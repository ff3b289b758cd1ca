import { execa } from "execa";

export interface GitAnswer {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** Set while a git hook runs, and then they point at another repository than the folder's. */
const inherited = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"];

/** Optional locks: a mere look at what has changed would lock the index against another research's commit. */
const environment = {
  LC_ALL: "C",
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  ...Object.fromEntries(inherited.map((name) => [name, undefined])),
};

/**
 * Runs git in `folder`; a missing git, a failure or one minute without an end is an answer that is not `ok`.
 * It runs in a group of its own: a kill of ours in the middle of a commit would leave git's index.lock behind.
 */
export async function runGit(folder: string, args: readonly string[]): Promise<GitAnswer> {
  const result = await execa("git", args, { cwd: folder, env: environment, detached: true, stdin: "ignore", reject: false, timeout: 60_000 });
  const stderr = result.stderr === "" && result.failed ? String(result.shortMessage) : result.stderr;
  return { ok: !result.failed, stdout: result.stdout, stderr };
}
