import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { appendFile, cp, mkdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ExpectedError } from "../../engine/lib/errors.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { hiddenName } from "../../engine/lib/layout.js";
import { type GitAnswer, type GitLimits, runGit } from "../../engine/storage/git-command.js";
import { configurationOf, type GitConfiguration, type RepositoryOf } from "../../engine/storage/git-repository.js";
import { readRegularFile } from "../../engine/storage/regular-file.js";
import { brokenStates, stateName, taskName } from "./layout.js";
import { withUnchangingGit } from "./unchanging-git.js";

/** The folder as it was at some moment. */
export interface Snapshot {
  readonly commit: string;
  /** Its content alone: two equal folders have one tree. */
  readonly tree: string;
}

/**
 * Keeps the folder's content as commits under refs/ralph/<task>/<iteration>, 0 being what stood there before the first.
 * They are made with an index of their own, so HEAD, the index and every branch stay as they are. What git ignores is
 * not in them, and neither are the task's own files.
 */
export interface Snapshots {
  /** Never throws: what went wrong is reported, once, and the iteration then can't be undone. */
  take(iteration: number): Promise<Snapshot | undefined>;
  /** The tree of the folder as it is now, which is not kept; undefined where git fails. */
  tree(): Promise<string | undefined>;
  /**
   * Puts the folder back to a snapshot; what stood there is kept as refs/ralph/<task>/before-undo. Answers with the
   * files that changed.
   * @throws ExpectedError where there is no such snapshot, or git fails.
   */
  putBack(iteration: number): Promise<readonly string[]>;
  /** The files that differ between two snapshots. @throws ExpectedError where git fails. */
  changes(from: string, to: string): Promise<readonly Changed[]>;
  /** What differs in one file, as git shows it. @throws ExpectedError where git fails. */
  diff(from: string, to: string, path: string): Promise<string>;
  /** The text of a file in a snapshot; undefined where it is not there, is binary, or larger than 1 MB. */
  textAt(commit: string, path: string): Promise<string | undefined>;
  /**
   * Puts these files to how they are in a snapshot; one that it does not have is removed. Answers with the ref that
   * keeps what stood there; older ones are among its ancestors.
   */
  put(commit: string, paths: readonly string[]): Promise<string>;
  /** Writes the whole content of a snapshot into a folder, which is made. */
  writeTo(commit: string, folder: string): Promise<void>;
}

/** A file that differs between two snapshots. */
export interface Changed {
  /** Relative to the folder. */
  readonly path: string;
  readonly kind: "added" | "changed" | "removed";
}

/** Folders that programs install or build into, and in which a few projects keep files of their own. */
const sharedFolders = ["node_modules", "target/debug", "target/release", "target/doc", "target/tmp"];
/** One of these folders, the outermost, in a path. */
const sharedFolder = new RegExp(`^(?:.*?/)??(?:${sharedFolders.join("|")})(?=/)`);

/**
 * What programs install or build for themselves, also where nobody told git to ignore it, as patterns of git: it is no
 * file of the project. Put back it would be older than what it was built from, and be taken for newer.
 */
export const madeByPrograms: readonly string[] = [
  ...["__pycache__", ".venv", ".tox", ".nox", ".pytest_cache", ".mypy_cache", ".ruff_cache"],
  ...[".hypothesis", ".nyc_output", ".gradle", ...sharedFolders],
]
  .map((name) => `${name}/**`)
  .concat("*.pyc", "target/.rustc_info.json", "target/CACHEDIR.TAG")
  .map((pattern) => `:(exclude,glob)**/${pattern}`);

/** A larger file is not source code. */
const maxTextBytes = 1_000_000;

const identity = ["-c", "user.name=research-ralph", "-c", "user.email=research-ralph@localhost"];
/** A file's line ends come back as they were, whatever the user has git make of them. */
const settings = ["core.autocrlf=false", "core.splitIndex=false", "core.untrackedCache=false", "gc.auto=0"].flatMap(
  (each) => ["-c", each],
);

interface SnapshotOptions {
  /** Absolute path of the index, which makes the next snapshot quicker. */
  readonly index: string;
  /** Files that we write into the folder. */
  readonly views: readonly string[];
  readonly notify: (message: string) => void;
  readonly abort?: AbortSignal;
}

/** What Git LFS has git start. */
const ofLfs = /^git[- ]lfs (?:clean|smudge|filter-process)(?: --skip)?(?: -- %f)?$/;

/**
 * Settings by which git starts no filters but those of Git LFS: they run in the folder, outside of any sandbox, and
 * take what an agent left there for theirs (`python -m nbstripout` imports from it). Content is kept as it is then.
 */
function withoutFilters(configuration: GitConfiguration): ReadonlyMap<string, string> {
  const keys = [...configuration.keys()].filter((key) => key.startsWith("filter."));
  const isKept = (key: string) => {
    const driver = key.replace(/\.[^.]*$/, "");
    return ["clean", "smudge", "process"].every((name) =>
      ofLfs.test(configuration.get(`${driver}.${name}`)?.at(-1) ?? "git lfs clean"),
    );
  };
  return new Map(keys.filter((key) => !isKept(key)).map((key) => [key, key.endsWith(".required") ? "false" : ""]));
}

/** How git is run on the index of the snapshots. */
type Git = (args: readonly string[], more?: GitLimits) => Promise<GitAnswer>;

/** Snapshots of `folder`, which lies in `repository`, for a task. */
export function openSnapshots(
  folder: string,
  repository: RepositoryOf,
  id: string,
  { index, views, notify, abort }: SnapshotOptions,
): Snapshots {
  const inIt = { repository, ...withoutUndefined({ abort }) };
  /** For what starts no filter: all that writes no index and no file. */
  const git: Git = (args, more) => runGit(folder, [...identity, ...settings, ...args], { index, ...inIt, ...more });
  /**
   * Has `act` done with a git that changes no byte of a file and starts no filter. Whatever writes the index may start
   * those of files that changed a moment ago.
   */
  const asItLies = <Result>(act: (raw: Git) => Promise<Result>): Promise<Result> =>
    withUnchangingGit(repository.common, async (raw) => {
      // An agent may have changed a file that the configuration includes, so that is looked at each time. One that it
      // includes by a relative name git looks for beside the folder that it reads from, which is `raw` here.
      const programs = withoutFilters(await configurationOf(folder, { ...inIt, ...raw }));
      return await act((args, more) => git(args, { settings: programs, ...raw, ...more }));
    });
  const own = [hiddenName, taskName, stateName, brokenStates, ...views].map((name) => `:(exclude)${name}`);
  const ref = (name: string) => `refs/ralph/${id}/${name}`;
  const inShared = sharedFolders.map((each) => `:(glob)**/${each}/**`);
  /** The repositories within this one that our index names. */
  const nested = whileSame(index, async () => {
    const staged = (await ok(git(["ls-files", "--stage", "-z"]))).split("\0");
    return staged.filter((entry) => entry.startsWith("160000 ")).map((entry) => entry.split("\t")[1] ?? "");
  });
  /** The folders of programs in which the repository holds files. */
  const committedFolders = whileSame(join(repository.folder, "index"), async () => {
    const tracked = await runGit(folder, ["ls-files", "-z", "--", ...inShared], inIt);
    return [...new Set(tracked.stdout.split("\0").flatMap((path) => sharedFolder.exec(path)?.[0] ?? []))];
  });
  let told = false;
  let toldOfNested = false;
  /** The snapshot that was kept last; asked of git once. */
  let last: string | undefined;

  /** A person who works in one finds that nothing of it is kept, so that is said before. */
  async function tellOfNested(): Promise<void> {
    const [first, ...more] = await nested();
    if (first === undefined) return;
    toldOfNested = true;
    const [names, are] =
      more.length === 0 ? [first, "is a repository"] : [namesOf([first, ...more]), "are repositories"];
    notify(`${names} ${are} within this one, such as submodules: changes inside are not seen, kept or put back.`);
  }

  /**
   * Takes repositories within this one out of our index; adding finds them again. One that the index knows is asked for
   * its state by a git of its own, which runs the filters of its configuration, and an agent may have written that.
   */
  async function forgetNested(raw: Git): Promise<void> {
    const input = ended(await nested());
    if (input !== "") await ok(raw(["update-index", "--force-remove", "-z", "--stdin"], { input }));
  }

  /**
   * Adds the folders of programs in which the repository holds files, such as the packages that tests are made of: they
   * are the project's.
   */
  async function addCommitted(raw: Git): Promise<void> {
    const folders = await committedFolders();
    if (folders.length === 0) return;
    // Git refuses all names where it does not find one, so each is by itself, and what is gone is only updated.
    for (const pattern of inShared) await raw(["add", "--update", "--ignore-errors", "--", pattern]);
    const there = folders.filter((each) => existsSync(join(folder, each))).map((each) => `:(literal)${each}`);
    const add = (some: readonly string[]) => raw(["add", "--all", "--ignore-errors", "--", ...some]);
    for (let at = 0; at < there.length; at += 200) {
      const some = there.slice(at, at + 200);
      // One that git refuses, such as a link to elsewhere, does not keep it from the others.
      if (!(await add(some)).ok) for (const each of some) await add([each]);
    }
  }

  const treeNow = (): Promise<string> =>
    asItLies(async (raw) => {
      await forgetNested(raw);
      // What can't be read is left out; all the rest is better than nothing.
      const added = await raw(["add", "--all", "--ignore-errors", "--", ".", ...own, ...madeByPrograms]);
      if (added.ended !== undefined) throw new ExpectedError(`git was ended because ${added.ended}`);
      await addCommitted(raw);
      return (await ok(raw(["write-tree"]))).trim();
    });

  async function keep(name: string): Promise<Snapshot> {
    const tree = await treeNow();
    if (!toldOfNested) await tellOfNested();
    last ??= (await git(["rev-parse", "--quiet", "--verify", ref("last")])).stdout.trim();
    const parent = last === "" ? [] : ["-p", last];
    const commit = (await ok(git(["commit-tree", tree, ...parent, "-m", `ralph ${id}: ${name}`]))).trim();
    const input = [name, "last"].map((each) => `update ${ref(each)} ${commit}\n`).join("");
    await ok(git(["update-ref", "--stdin"], { input }));
    last = commit;
    return { commit, tree };
  }

  async function changesBetween(from: string, to: string): Promise<Changed[]> {
    const diff = await ok(git(["diff-tree", "-r", "-z", "--no-renames", "--name-status", "--relative", from, to]));
    const parts = diff.split("\0").filter((part) => part !== "");
    const kinds = { A: "added", D: "removed" } as const;
    return parts.flatMap((part, at) =>
      at % 2 === 0 ? [{ kind: kinds[part as "A" | "D"] ?? "changed", path: parts[at + 1] ?? "" }] : [],
    );
  }

  /** Puts the files that differ from a snapshot to how they are in it; `changes`: what leads from now to there. */
  async function putChanged(wanted: string, changes: readonly Changed[]): Promise<void> {
    // First what is in the way: a file may stand where a folder was.
    for (const { kind, path } of changes) if (kind === "removed") await rm(join(folder, path), { force: true });
    const put = changes.filter(({ kind }) => kind !== "removed").map(({ path }) => path);
    const input = ended(put);
    await asItLies(async (raw) => {
      await ok(raw(["read-tree", wanted]));
      if (input !== "") await ok(raw(["checkout-index", "--force", "-z", "--stdin"], { input }));
    });
  }

  return {
    async take(iteration) {
      try {
        return await keep(String(iteration));
      } catch (error) {
        if (!(error instanceof ExpectedError)) throw error;
        if (!told) notify(`Iteration ${iteration} can't be undone, as git could not keep the folder: ${error.message}`);
        told = true;
        return undefined;
      }
    },
    async tree() {
      try {
        return await treeNow();
      } catch (error) {
        if (!(error instanceof ExpectedError)) throw error;
        return undefined;
      }
    },
    async putBack(iteration) {
      const found = await git(["rev-parse", "--quiet", "--verify", `${ref(String(iteration))}^{commit}`]);
      if (!found.ok) {
        const kept = await git(["for-each-ref", "--format=%(refname)", ref("")]);
        const numbers = [...kept.stdout.matchAll(/\/(\d+)$/gm)].map(([, number]) => Number(number));
        const which =
          numbers.length === 0 ? "none is kept" : `kept are ${numbers.toSorted((a, b) => a - b).join(", ")}`;
        throw new ExpectedError(`There is no snapshot of iteration ${iteration} of this task; ${which}.`, 2);
      }
      const wanted = found.stdout.trim();
      const { commit: now } = await keep("before-undo");
      const changes = await changesBetween(now, wanted);
      await putChanged(wanted, changes);
      return changes.map(({ path }) => path);
    },
    changes: changesBetween,
    diff: (from, to, path) =>
      ok(
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
    async put(commit, paths) {
      const wanted = new Set(paths);
      const { commit: now } = await keep("before-undo");
      await putChanged(
        commit,
        (await changesBetween(now, commit)).filter(({ path }) => wanted.has(path)),
      );
      return ref("before-undo");
    },
    async writeTo(commit, target) {
      const { prefix } = repository;
      const whole = prefix === "" ? target : `${target}.whole`;
      await mkdir(whole, { recursive: true });
      const own = `${index}.${process.pid}`;
      try {
        await asItLies(async (raw) => {
          await ok(raw(["read-tree", commit], { index: own }));
          await ok(raw(["checkout-index", "--all", "--force", `--prefix=${whole}/`], { index: own }));
        });
        if (prefix === "") return;
        await cp(join(whole, prefix), target, { recursive: true, verbatimSymlinks: true });
      } finally {
        await rm(own, { force: true });
        if (prefix !== "") await rm(whole, { recursive: true, force: true });
      }
    },
  };
}

/** As git reads paths with `-z`. */
const ended = (paths: readonly string[]): string => paths.map((path) => `${path}\0`).join("");

const namesOf = (all: readonly string[]): string =>
  all.length > 4 ? `${all.slice(0, 3).join(", ")} and ${all.length - 3} more` : all.join(", ");

async function ok(answer: Promise<GitAnswer>): Promise<string> {
  const { ok: fine, stdout, stderr, ended } = await answer;
  if (fine) return stdout;
  const lost = /(?:bad object|not a valid object name:?) ([0-9a-f]{40,64})/i.exec(stderr)?.[1];
  if (lost !== undefined)
    throw new ExpectedError(
      `The git repository does not hold ${lost.slice(0, 12)}, in which files of the task were kept: it may be another clone; move ${stateName} away to begin anew.`,
    );
  throw new ExpectedError(
    ended === undefined ? stderr.trim().split("\n").slice(-1).join("") : `it was ended because ${ended}.`,
  );
}

/**
 * Calls `ask` where the file at `path` is another than at the last call. By its content: an agent that nothing confines
 * may set its times.
 */
function whileSame<Answer>(path: string, ask: () => Promise<Answer>): () => Promise<Answer> {
  let known: { readonly content: string; readonly answer: Answer } | undefined;
  return async () => {
    const content = existsSync(path) ? await contentOf(path) : "";
    if (known !== undefined && content === known.content) return known.answer;
    const answer = await ask();
    if (content !== undefined) known = { content, answer };
    return answer;
  };
}

/** A hash of the file's bytes; undefined where it can't be read. */
const contentOf = (path: string): Promise<string | undefined> =>
  readRegularFile(path).then(
    (bytes) => createHash("sha256").update(bytes).digest("hex"),
    () => undefined,
  );

/** Keeps the task's own files out of git by .git/info/exclude, which is the user's alone; without git, nothing. */
export async function excludeFromGit(repository: RepositoryOf | undefined, names: readonly string[]): Promise<void> {
  if (repository === undefined) return;
  const file = join(repository.common, "info", "exclude");
  const text = await readFile(file, "utf8").catch(() => "");
  const lines = new Set(text.split("\n").map((line) => line.trim()));
  const missing = names.map((name) => `/${repository.prefix}${name}`).filter((line) => !lines.has(line));
  if (missing.length === 0) return;
  await mkdir(dirname(file), { recursive: true });
  await appendFile(file, `${text === "" || text.endsWith("\n") ? "" : "\n"}${missing.join("\n")}\n`);
}
