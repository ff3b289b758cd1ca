import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { appendFile, cp, mkdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ExpectedError } from "../../engine/lib/errors.js";
import { hiddenName } from "../../engine/lib/layout.js";
import { type GitAnswer, type GitLimits, runGit } from "../../engine/storage/git-command.js";
import { configurationOf, type GitConfiguration, type FolderRepository } from "../../engine/storage/git-repository.js";
import { readRegularFile } from "../../engine/storage/regular-file.js";
import { brokenStatesPattern, stateName, taskName } from "./layout.js";
import { withUnchangingGit } from "./unchanging-git.js";

/** The stored content of the folder at one moment. */
export interface Snapshot {
  readonly commit: string;
  /** The git tree of the content: two equal folders have the same tree. */
  readonly tree: string;
}

/**
 * Stores the folder's content as commits under refs/ralph/<task>/<iteration>. Iteration 0 is the content before the
 * first attempt. The commits are made with a separate index, so HEAD, the index and every branch do not change. Files
 * that git ignores, and the task's own files, are not stored.
 */
export interface Snapshots {
  /** Stores a snapshot. Never throws: the first error is reported, and the iteration then can't be undone. */
  take(iteration: number): Promise<Snapshot | undefined>;
  /** The tree of the folder's current content, without storing a snapshot; undefined if git fails. */
  tree(): Promise<string | undefined>;
  /**
   * Puts the folder back to a snapshot and returns the changed files. The content from before is stored as
   * refs/ralph/<task>/before-undo.
   * @throws ExpectedError if there is no such snapshot, or git fails.
   */
  putBack(iteration: number): Promise<readonly string[]>;
  /** The files that differ between two snapshots. @throws ExpectedError if git fails. */
  changes(from: string, to: string): Promise<readonly ChangedFile[]>;
  /** The diff of one file, as git shows it. @throws ExpectedError if git fails. */
  diff(from: string, to: string, path: string): Promise<string>;
  /** The text of a file in a snapshot; undefined if the file is missing, binary, or larger than 1 MB. */
  textAt(commit: string, path: string): Promise<string | undefined>;
  /**
   * Puts these files back to a snapshot. A file that the snapshot does not have is removed. Returns the ref that stores
   * the content from before; the ancestors of that commit store the content from before earlier calls.
   */
  putBackFiles(commit: string, paths: readonly string[]): Promise<string>;
  /** Creates a folder and writes the whole content of a snapshot into it. */
  writeTo(commit: string, folder: string): Promise<void>;
}

/** A file that differs between two snapshots. */
export interface ChangedFile {
  /** Relative to the folder. */
  readonly path: string;
  readonly kind: "added" | "changed" | "removed";
}

/** Folders into which programs install or build files. In some projects they also contain files of the repository. */
const programFolders = ["node_modules", "target/debug", "target/release", "target/doc", "target/tmp"];
/** Matches a path up to the outermost of these folders. */
const outermostProgramFolder = new RegExp(`^(?:.*?/)??(?:${programFolders.join("|")})(?=/)`);

/**
 * Patterns of git for files that programs install or generate, also if the user's git does not ignore them. They are
 * not files of the project. If such a file was put back, it would be older than its sources, and build tools would
 * still think that it is up to date.
 */
export const generatedFiles: readonly string[] = [
  ...["__pycache__", ".venv", ".tox", ".nox", ".pytest_cache", ".mypy_cache", ".ruff_cache"],
  ...[".hypothesis", ".nyc_output", ".gradle", ...programFolders],
]
  .map((name) => `${name}/**`)
  .concat("*.pyc", "target/.rustc_info.json", "target/CACHEDIR.TAG")
  .map((pattern) => `:(exclude,glob)**/${pattern}`);

/** Larger files are not read, because they are not source code. */
const maxTextBytes = 1_000_000;

const authorOptions = ["-c", "user.name=research-ralph", "-c", "user.email=research-ralph@localhost"];
/** Files are restored with the same line ends, whatever the user's git is configured to do. */
const gitOptions = ["core.autocrlf=false", "core.splitIndex=false", "core.untrackedCache=false", "gc.auto=0"].flatMap(
  (option) => ["-c", option],
);

interface SnapshotOptions {
  /** Absolute path of the git index for snapshots. It is kept, because it makes the next snapshot faster. */
  readonly index: string;
  /** Files that research-ralph writes into the folder. */
  readonly views: readonly string[];
  readonly notify: (message: string) => void;
  readonly abort?: AbortSignal;
}

/** The commands that Git LFS configures as filters. */
const lfsCommand = /^git[- ]lfs (?:clean|smudge|filter-process)(?: --skip)?(?: -- %f)?$/;

/**
 * Settings that turn off all filters except those of Git LFS. Filters run in the folder, outside any sandbox, and may
 * use files that an agent left there: `python -m nbstripout` imports from the folder. The content is then stored
 * unfiltered.
 */
function withoutFilters(configuration: GitConfiguration): ReadonlyMap<string, string> {
  const keys = [...configuration.keys()].filter((key) => key.startsWith("filter."));
  const isLfsFilter = (key: string) => {
    const driver = key.replace(/\.[^.]*$/, "");
    return ["clean", "smudge", "process"].every((name) =>
      lfsCommand.test(configuration.get(`${driver}.${name}`)?.at(-1) ?? "git lfs clean"),
    );
  };
  return new Map(keys.filter((key) => !isLfsFilter(key)).map((key) => [key, key.endsWith(".required") ? "false" : ""]));
}

/** Runs git on the index of the snapshots. */
type Git = (args: readonly string[], more?: GitLimits) => Promise<GitAnswer>;

/** Opens the snapshots of `folder`, which lies in `repository`, for a task. */
export function openSnapshots(
  folder: string,
  repository: FolderRepository,
  id: string,
  { index, views, notify, abort }: SnapshotOptions,
): Snapshots {
  const repositoryOptions = { repository, abort };
  /** Runs a git command that writes neither the index nor a file. Such commands start no filter. */
  const git: Git = (args, extraLimits) =>
    runGit(folder, [...authorOptions, ...gitOptions, ...args], { index, ...repositoryOptions, ...extraLimits });
  /**
   * Calls `action` with a git that changes no byte of a file and starts no filter. A git command that writes the index
   * may start the filters of files that changed a moment ago.
   */
  const withUnchangingRun = <Result>(action: (safeGit: Git) => Promise<Result>): Promise<Result> =>
    withUnchangingGit(repository.commonFolder, async (limits) => {
      // The configuration is read each time, because an agent may have changed a file that it includes. Git resolves
      // the relative path of an included file from the folder in `limits`.
      const filterSettings = withoutFilters(await configurationOf(folder, { ...repositoryOptions, ...limits }));
      return await action((args, extraLimits) => git(args, { settings: filterSettings, ...limits, ...extraLimits }));
    });
  const ownFiles = [hiddenName, taskName, stateName, brokenStatesPattern, ...views].map((name) => `:(exclude)${name}`);
  const refOf = (name: string) => `refs/ralph/${id}/${name}`;
  const programFolderPatterns = programFolders.map((folderName) => `:(glob)**/${folderName}/**`);
  /** Paths of the repositories within this one that the index for snapshots contains. */
  const nestedRepositories = cachedByContent(index, async () => {
    const staged = (await outputOf(git(["ls-files", "--stage", "-z"]))).split("\0");
    return staged.filter((entry) => entry.startsWith("160000 ")).map((entry) => entry.split("\t")[1] ?? "");
  });
  /** The folders of programs that contain files of the repository. */
  const committedFolders = cachedByContent(join(repository.folder, "index"), async () => {
    const tracked = await runGit(folder, ["ls-files", "-z", "--", ...programFolderPatterns], repositoryOptions);
    return [...new Set(tracked.stdout.split("\0").flatMap((path) => outermostProgramFolder.exec(path)?.[0] ?? []))];
  });
  let hasNotified = false;
  let hasNotifiedNested = false;
  /** The latest snapshot; git is asked for it only once. */
  let lastCommit: string | undefined;

  /** Tells the user that changes in nested repositories are not stored, before the user relies on it. */
  async function notifyNested(): Promise<void> {
    const [firstName, ...moreNames] = await nestedRepositories();
    if (firstName === undefined) return;
    hasNotifiedNested = true;
    const [names, predicate] =
      moreNames.length === 0
        ? [firstName, "is a repository"]
        : [namesOf([firstName, ...moreNames]), "are repositories"];
    notify(`${names} ${predicate} within this one, such as submodules: changes inside are not seen, kept or put back.`);
  }

  /**
   * Removes nested repositories from the index for snapshots; the next `add` finds them again. If the index contains a
   * nested repository, git starts another git there, which runs the filters of the nested configuration. An agent may
   * have written that configuration.
   */
  async function removeNestedFromIndex(safeGit: Git): Promise<void> {
    const input = nulTerminated(await nestedRepositories());
    if (input !== "") await outputOf(safeGit(["update-index", "--force-remove", "-z", "--stdin"], { input }));
  }

  /**
   * Adds the folders of programs that contain files of the repository, such as packages that tests need: these files
   * belong to the project.
   */
  async function addCommittedFolders(safeGit: Git): Promise<void> {
    const folders = await committedFolders();
    if (folders.length === 0) return;
    // If git does not find one path, it refuses all of them, so each pattern is updated alone.
    for (const pattern of programFolderPatterns) await safeGit(["add", "--update", "--ignore-errors", "--", pattern]);
    const existingFolders = folders
      .filter((folderPath) => existsSync(join(folder, folderPath)))
      .map((folderPath) => `:(literal)${folderPath}`);
    const add = (paths: readonly string[]) => safeGit(["add", "--all", "--ignore-errors", "--", ...paths]);
    for (let start = 0; start < existingFolders.length; start += 200) {
      const batch = existingFolders.slice(start, start + 200);
      // If git refuses one path, such as a link to another place, the others are still added.
      if (!(await add(batch)).ok) for (const path of batch) await add([path]);
    }
  }

  const writeCurrentTree = (): Promise<string> =>
    withUnchangingRun(async (safeGit) => {
      await removeNestedFromIndex(safeGit);
      // Files that can't be read are skipped; a snapshot of the others is better than no snapshot.
      const result = await safeGit(["add", "--all", "--ignore-errors", "--", ".", ...ownFiles, ...generatedFiles]);
      if (result.endReason !== undefined) throw new ExpectedError(`git was ended because ${result.endReason}`);
      await addCommittedFolders(safeGit);
      return (await outputOf(safeGit(["write-tree"]))).trim();
    });

  async function saveSnapshot(name: string): Promise<Snapshot> {
    const tree = await writeCurrentTree();
    if (!hasNotifiedNested) await notifyNested();
    lastCommit ??= (await git(["rev-parse", "--quiet", "--verify", refOf("last")])).stdout.trim();
    const parent = lastCommit === "" ? [] : ["-p", lastCommit];
    const commit = (await outputOf(git(["commit-tree", tree, ...parent, "-m", `ralph ${id}: ${name}`]))).trim();
    const input = [name, "last"].map((refName) => `update ${refOf(refName)} ${commit}\n`).join("");
    await outputOf(git(["update-ref", "--stdin"], { input }));
    lastCommit = commit;
    return { commit, tree };
  }

  async function changesBetween(from: string, to: string): Promise<ChangedFile[]> {
    const diff = await outputOf(
      git(["diff-tree", "-r", "-z", "--no-renames", "--name-status", "--relative", from, to]),
    );
    const parts = diff.split("\0").filter((part) => part !== "");
    const kinds = { A: "added", D: "removed" } as const;
    return parts.flatMap((part, index) =>
      index % 2 === 0 ? [{ kind: kinds[part as "A" | "D"] ?? "changed", path: parts[index + 1] ?? "" }] : [],
    );
  }

  /** Puts changed files back to a snapshot. `changes`: the difference from the current content to the snapshot. */
  async function putChanged(commit: string, changes: readonly ChangedFile[]): Promise<void> {
    // First remove files: a file may be at the path of a folder of the snapshot.
    for (const { kind, path } of changes) if (kind === "removed") await rm(join(folder, path), { force: true });
    const pathsToWrite = changes.filter(({ kind }) => kind !== "removed").map(({ path }) => path);
    const input = nulTerminated(pathsToWrite);
    await withUnchangingRun(async (safeGit) => {
      await outputOf(safeGit(["read-tree", commit]));
      if (input !== "") await outputOf(safeGit(["checkout-index", "--force", "-z", "--stdin"], { input }));
    });
  }

  return {
    async take(iteration) {
      try {
        return await saveSnapshot(String(iteration));
      } catch (error) {
        if (!(error instanceof ExpectedError)) throw error;
        if (!hasNotified)
          notify(`Iteration ${iteration} can't be undone, as git could not keep the folder: ${error.message}`);
        hasNotified = true;
        return undefined;
      }
    },
    async tree() {
      try {
        return await writeCurrentTree();
      } catch (error) {
        if (!(error instanceof ExpectedError)) throw error;
        return undefined;
      }
    },
    async putBack(iteration) {
      const resolved = await git(["rev-parse", "--quiet", "--verify", `${refOf(String(iteration))}^{commit}`]);
      if (!resolved.ok) {
        const refs = await git(["for-each-ref", "--format=%(refname)", refOf("")]);
        const numbers = [...refs.stdout.matchAll(/\/(\d+)$/gm)].map(([, number]) => Number(number));
        const keptText =
          numbers.length === 0 ? "none is kept" : `kept are ${numbers.toSorted((a, b) => a - b).join(", ")}`;
        throw new ExpectedError(`There is no snapshot of iteration ${iteration} of this task; ${keptText}.`, 2);
      }
      const commit = resolved.stdout.trim();
      const { commit: commitBefore } = await saveSnapshot("before-undo");
      const changes = await changesBetween(commitBefore, commit);
      await putChanged(commit, changes);
      return changes.map(({ path }) => path);
    },
    changes: changesBetween,
    diff: (from, to, path) =>
      outputOf(
        git([
          "diff-tree",
          "-r",
          "-p",
          "--relative",
          "--no-renames",
          "--no-ext-diff",
          "--no-textconv",
          from,
          to,
          "--",
          path,
        ]),
      ),
    async textAt(commit, path) {
      const { ok: isThere, stdout } = await git(["cat-file", "blob", `${commit}:./${path}`]);
      return !isThere || stdout.length > maxTextBytes || stdout.includes("\0") ? undefined : stdout;
    },
    async putBackFiles(commit, paths) {
      const wantedPaths = new Set(paths);
      const { commit: commitBefore } = await saveSnapshot("before-undo");
      await putChanged(
        commit,
        (await changesBetween(commitBefore, commit)).filter(({ path }) => wantedPaths.has(path)),
      );
      return refOf("before-undo");
    },
    async writeTo(commit, target) {
      const { prefix } = repository;
      const fullFolder = prefix === "" ? target : `${target}.whole`;
      await mkdir(fullFolder, { recursive: true });
      const temporaryIndex = `${index}.${process.pid}`;
      try {
        await withUnchangingRun(async (safeGit) => {
          await outputOf(safeGit(["read-tree", commit], { index: temporaryIndex }));
          await outputOf(
            safeGit(["checkout-index", "--all", "--force", `--prefix=${fullFolder}/`], { index: temporaryIndex }),
          );
        });
        if (prefix === "") return;
        await cp(join(fullFolder, prefix), target, { recursive: true, verbatimSymlinks: true });
      } finally {
        await rm(temporaryIndex, { force: true });
        if (prefix !== "") await rm(fullFolder, { recursive: true, force: true });
      }
    },
  };
}

/** Paths in the format that git reads with `-z`. */
const nulTerminated = (paths: readonly string[]): string => paths.map((path) => `${path}\0`).join("");

const namesOf = (names: readonly string[]): string =>
  names.length > 4 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");

async function outputOf(answer: Promise<GitAnswer>): Promise<string> {
  const { ok: isOk, stdout, stderr, endReason: ended } = await answer;
  if (isOk) return stdout;
  const missingObject = /(?:bad object|not a valid object name:?) ([0-9a-f]{40,64})/i.exec(stderr)?.[1];
  if (missingObject !== undefined)
    throw new ExpectedError(
      `The git repository does not contain ${missingObject.slice(0, 12)}, in which files of the task were stored: it may be another clone; move ${stateName} away to start again.`,
    );
  throw new ExpectedError(
    ended === undefined ? stderr.trim().split("\n").slice(-1).join("") : `it was ended because ${ended}.`,
  );
}

/**
 * Caches the answer of `compute` as long as the file at `path` has the same content. Modification times are not used:
 * an agent without a sandbox can set them.
 */
function cachedByContent<Answer>(path: string, compute: () => Promise<Answer>): () => Promise<Answer> {
  let cached: { readonly content: string; readonly answer: Answer } | undefined;
  return async () => {
    const content = existsSync(path) ? await contentOf(path) : "";
    if (cached !== undefined && content === cached.content) return cached.answer;
    const answer = await compute();
    if (content !== undefined) cached = { content, answer };
    return answer;
  };
}

/** A hash of the file's bytes; undefined if it can't be read. */
const contentOf = (path: string): Promise<string | undefined> =>
  readRegularFile(path).then(
    (bytes) => createHash("sha256").update(bytes).digest("hex"),
    () => undefined,
  );

/** Adds these files to .git/info/exclude, which git does not share. Does nothing without a repository. */
export async function excludeFromGit(
  repository: FolderRepository | undefined,
  names: readonly string[],
): Promise<void> {
  if (repository === undefined) return;
  const file = join(repository.commonFolder, "info", "exclude");
  const text = await readFile(file, "utf8").catch(() => "");
  const lines = new Set(text.split("\n").map((line) => line.trim()));
  const missing = names.map((name) => `/${repository.prefix}${name}`).filter((line) => !lines.has(line));
  if (missing.length === 0) return;
  await mkdir(dirname(file), { recursive: true });
  await appendFile(file, `${text === "" || text.endsWith("\n") ? "" : "\n"}${missing.join("\n")}\n`);
}
