import { existsSync } from "node:fs";
import { appendFile, mkdir, readFile, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { ExpectedError } from "../lib/errors.js";
import { oneLine } from "../lib/sanitise.js";
import { type GitAnswer, type GitLimits, type Repository, runGit } from "./git-command.js";

/** A repository, and how a folder lies in it. */
export interface RepositoryOf extends Repository {
  /** Absolute path of the folder of what its working trees have in common. */
  readonly common: string;
  /** The folder within the working tree, with a "/" at its end; empty for the whole. */
  readonly prefix: string;
}

/**
 * The repository in whose working tree a folder is; undefined where it is missing, or no git. To be asked before an
 * agent works: one that it makes in the folder would be found first.
 */
export async function repositoryOf(folder: string, limits: GitLimits = {}): Promise<RepositoryOf | undefined> {
  const what = ["--is-inside-work-tree", "--absolute-git-dir", "--git-common-dir", "--show-toplevel", "--show-prefix"];
  const { stdout } = await runGit(folder, ["rev-parse", ...what], limits);
  const [inside, own = "", common = "", tree = "", prefix = ""] = stdout.split("\n");
  return inside === "true" && tree !== "" ? { folder: own, tree, common: resolve(folder, common), prefix } : undefined;
}

/** Git's configuration: the values of each key, of which the last counts. */
export type GitConfiguration = ReadonlyMap<string, readonly string[]>;

/** All that counts in a folder, whichever file it stands in; empty where git can't read it. */
export async function configurationOf(folder: string, limits: GitLimits): Promise<GitConfiguration> {
  return parseConfiguration((await runGit(folder, ["config", "--list", "-z"], limits)).stdout);
}

/** Reads what `git config --list -z` prints. */
export function parseConfiguration(printed: string): GitConfiguration {
  const values = new Map<string, string[]>();
  for (const entry of printed.split("\0").filter(Boolean)) {
    const [key = "", ...value] = entry.split("\n");
    values.set(key, [...(values.get(key) ?? []), value.join("\n")]);
  }
  return values;
}

/** The key under which a repository keeps the branch of its own that a folder's commits go to. */
const branchKey = ({ prefix }: RepositoryOf): string => `research-ralph.${prefix}.branch`;

/** The branch of its own that the commits of a folder go to; undefined where they go to the one that is checked out. */
export const ownBranch = (repository: RepositoryOf, configuration: GitConfiguration): string | undefined =>
  configuration.get(branchKey(repository))?.at(-1);

/**
 * Has the commits of a folder go to a branch of its own from now on, which is never checked out for it: the person's
 * branch, index and files stay as they are, and git's status tells nothing of the folder.
 * @throws ExpectedError (exit code 2) without a repository, for what can be no branch, and where files of the folder
 * are committed already.
 */
export async function chooseBranch(folder: string, name: string): Promise<void> {
  const repository = await repositoryOf(folder);
  if (repository === undefined || repository.prefix === "")
    throw new ExpectedError(
      "--branch needs a project in a folder of a git repository; 'research-ralph init' makes one.",
      2,
    );
  if (!(await runGit(folder, ["check-ref-format", "--branch", name])).ok)
    throw new ExpectedError(
      `--branch '${oneLine(name)}' can be no name of a branch; give one such as research/hands.`,
      2,
    );
  const { stdout: tracked } = await runGit(folder, ["ls-files", "--", "."]);
  if (tracked !== "")
    throw new ExpectedError(
      `Files of ${folder} are committed on the branch that is checked out; 'git rm -r --cached' with its path takes them out, then --branch can keep them.`,
      2,
    );
  const { ok, stderr } = await runGit(folder, ["config", "--local", branchKey(repository), name]);
  if (!ok) throw new ExpectedError(`git could not note the branch: ${oneLine(stderr)}.`);
  const exclude = join(repository.common, "info", "exclude");
  const line = `/${repository.prefix.replace(/[\\*?[\]#! ]/g, "\\$&")}`;
  const before = existsSync(exclude) ? await readFile(exclude, "utf8") : "";
  if (before.split("\n").includes(line)) return;
  await mkdir(dirname(exclude), { recursive: true });
  await appendFile(exclude, `${before === "" || before.endsWith("\n") ? "" : "\n"}${line}\n`);
}

type Git = (args: readonly string[], index?: string) => Promise<GitAnswer>;

/**
 * Commits files of a folder to a branch that is not checked out, through an index of its own; the first commit follows
 * the one that is checked out. `gone`: files that it is to hold no more. What went wrong is an answer of git's.
 */
export async function commitToBranch(
  git: Git,
  { folder }: Repository,
  branch: string,
  { present, gone, message, identity }: BranchCommit,
): Promise<GitAnswer> {
  const ref = `refs/heads/${branch}`;
  const index = join(folder, `research-ralph-index-${process.pid}`);
  const { stdout: worktrees } = await git(["worktree", "list", "--porcelain"]);
  if (worktrees.split("\n").includes(`branch ${ref}`))
    return { ok: false, stdout: "", stderr: `the branch ${branch} is checked out, and its files would differ from it` };
  const tip = await git(["rev-parse", "--quiet", "--verify", ref]);
  const parent = tip.ok ? tip : await git(["rev-parse", "--quiet", "--verify", "HEAD"]);
  const from = parent.ok ? [parent.stdout.trim()] : [];
  try {
    const steps = [
      ["read-tree", ...(from.length === 0 ? ["--empty"] : from)],
      ...(gone.length === 0 ? [] : [["rm", "-q", "--cached", "--ignore-unmatch", "--", ...gone]]),
      // git is told to overlook the folder.
      ["add", "--force", "--", ...present],
    ];
    for (const step of steps) {
      const done = await git(step, index);
      if (!done.ok) return done;
    }
    const tree = await git(["write-tree"], index);
    if (!tree.ok) return tree;
    const before = from.length === 0 ? undefined : await git(["rev-parse", `${from[0]}^{tree}`]);
    if (before?.stdout.trim() === tree.stdout.trim()) return { ok: true, stdout: "", stderr: "" };
    const parents = from.flatMap((each) => ["-p", each]);
    const made = await git([...identity, "commit-tree", tree.stdout.trim(), ...parents, "-m", message]);
    if (!made.ok) return made;
    return await git(["update-ref", "-m", "research-ralph", ref, made.stdout.trim(), tip.ok ? tip.stdout.trim() : ""]);
  } finally {
    await rm(index, { force: true });
  }
}

interface BranchCommit {
  /** Names within the folder in which git runs. */
  readonly present: readonly string[];
  readonly gone: readonly string[];
  readonly message: string;
  /** Options that stand in for a name or address which git does not know. */
  readonly identity: readonly string[];
}
