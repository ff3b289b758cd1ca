import { existsSync } from "node:fs";
import { appendFile, mkdir, readFile, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { ExpectedError } from "../lib/errors.js";
import { oneLine } from "../lib/sanitise.js";
import { type GitAnswer, type GitLimits, type Repository, runGit } from "./git-command.js";

/** A repository, and the position of a folder in it. */
export interface FolderRepository extends Repository {
  /** Absolute path of the folder that all its working trees share. */
  readonly commonFolder: string;
  /** The folder's path within the working tree, with a "/" at its end; empty for the root. */
  readonly prefix: string;
}

/**
 * The repository whose working tree contains a folder; undefined without a repository or without git. Call it before an
 * agent works: a repository that the agent creates in the folder would be found first.
 */
export async function repositoryOf(folder: string, limits: GitLimits = {}): Promise<FolderRepository | undefined> {
  const queries = [
    "--is-inside-work-tree",
    "--absolute-git-dir",
    "--git-common-dir",
    "--show-toplevel",
    "--show-prefix",
  ];
  const { stdout } = await runGit(folder, ["rev-parse", ...queries], limits);
  const [isInside, gitFolder = "", common = "", tree = "", prefix = ""] = stdout.split("\n");
  return isInside === "true" && tree !== ""
    ? { folder: gitFolder, tree, commonFolder: resolve(folder, common), prefix }
    : undefined;
}

/** Git's configuration: the values of each key; the last value is used. */
export type GitConfiguration = ReadonlyMap<string, readonly string[]>;

/** The whole configuration for a folder, from all files of git; empty if git can't read it. */
export async function configurationOf(folder: string, limits: GitLimits): Promise<GitConfiguration> {
  return parseConfiguration((await runGit(folder, ["config", "--list", "-z"], limits)).stdout);
}

/** Parses the output of `git config --list -z`. */
export function parseConfiguration(output: string): GitConfiguration {
  const values = new Map<string, string[]>();
  for (const entry of output.split("\0").filter(Boolean)) {
    const [key = "", ...value] = entry.split("\n");
    values.set(key, [...(values.get(key) ?? []), value.join("\n")]);
  }
  return values;
}

/** The configuration key that holds the separate branch for the commits of a folder. */
const branchKey = ({ prefix }: FolderRepository): string => `research-ralph.${prefix}.branch`;

/** The separate branch for the commits of a folder; undefined if they go to the branch that is checked out. */
export const separateBranch = (repository: FolderRepository, configuration: GitConfiguration): string | undefined =>
  configuration.get(branchKey(repository))?.at(-1);

/**
 * Chooses a separate branch for the commits of a folder. That branch is never checked out: the user's branch, index and
 * files stay unchanged, and `git status` does not show the folder.
 * @throws ExpectedError (exit code 2) without a repository, for an invalid branch name, or if files of the folder are
 * already committed.
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
      `'${oneLine(name)}' is not a valid name for --branch; give a name such as research/hands.`,
      2,
    );
  const { stdout: trackedFiles } = await runGit(folder, ["ls-files", "--", "."]);
  if (trackedFiles !== "")
    throw new ExpectedError(
      `Files of ${folder} are committed on the branch that is checked out; 'git rm -r --cached' with its path removes them there; then use --branch.`,
      2,
    );
  const { ok, stderr } = await runGit(folder, ["config", "--local", branchKey(repository), name]);
  if (!ok) throw new ExpectedError(`git could not store the branch: ${oneLine(stderr)}.`);
  const excludeFile = join(repository.commonFolder, "info", "exclude");
  const line = `/${repository.prefix.replace(/[\\*?[\]#! ]/g, "\\$&")}`;
  const existingText = existsSync(excludeFile) ? await readFile(excludeFile, "utf8") : "";
  if (existingText.split("\n").includes(line)) return;
  await mkdir(dirname(excludeFile), { recursive: true });
  await appendFile(excludeFile, `${existingText === "" || existingText.endsWith("\n") ? "" : "\n"}${line}\n`);
}

type Git = (args: readonly string[], index?: string) => Promise<GitAnswer>;

/**
 * Commits files of a folder to a branch that is not checked out, with a separate index. The parent of the first commit
 * is HEAD. A failure is returned as git's answer.
 */
export async function commitToBranch(
  git: Git,
  { folder }: Repository,
  branch: string,
  { presentNames, removedNames, message, identity }: BranchCommit,
): Promise<GitAnswer> {
  const ref = `refs/heads/${branch}`;
  const index = join(folder, `research-ralph-index-${process.pid}`);
  const { stdout: worktrees } = await git(["worktree", "list", "--porcelain"]);
  if (worktrees.split("\n").includes(`branch ${ref}`))
    return { ok: false, stdout: "", stderr: `the branch ${branch} is checked out, and its files would differ from it` };
  const tip = await git(["rev-parse", "--quiet", "--verify", ref]);
  const parent = tip.ok ? tip : await git(["rev-parse", "--quiet", "--verify", "HEAD"]);
  const parentIds = parent.ok ? [parent.stdout.trim()] : [];
  try {
    const steps = [
      ["read-tree", ...(parentIds.length === 0 ? ["--empty"] : parentIds)],
      ...(removedNames.length === 0 ? [] : [["rm", "-q", "--cached", "--ignore-unmatch", "--", ...removedNames]]),
      // --force: git is configured to ignore the folder.
      ["add", "--force", "--", ...presentNames],
    ];
    for (const step of steps) {
      const result = await git(step, index);
      if (!result.ok) return result;
    }
    const tree = await git(["write-tree"], index);
    if (!tree.ok) return tree;
    const existingTree = parentIds.length === 0 ? undefined : await git(["rev-parse", `${parentIds[0]}^{tree}`]);
    if (existingTree?.stdout.trim() === tree.stdout.trim()) return { ok: true, stdout: "", stderr: "" };
    const parents = parentIds.flatMap((parentId) => ["-p", parentId]);
    const commit = await git([...identity, "commit-tree", tree.stdout.trim(), ...parents, "-m", message]);
    if (!commit.ok) return commit;
    return await git([
      "update-ref",
      "-m",
      "research-ralph",
      ref,
      commit.stdout.trim(),
      tip.ok ? tip.stdout.trim() : "",
    ]);
  } finally {
    await rm(index, { force: true });
  }
}

interface BranchCommit {
  /** Paths relative to the folder in which git runs. */
  readonly presentNames: readonly string[];
  /** Files to remove from the branch. */
  readonly removedNames: readonly string[];
  readonly message: string;
  /** Options with a default name and address, if git's configuration has none. */
  readonly identity: readonly string[];
}
