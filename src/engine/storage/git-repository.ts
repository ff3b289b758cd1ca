import { resolve } from "node:path";
import { type GitLimits, type Repository, runGit } from "./git-command.js";

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
