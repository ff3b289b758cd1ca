import { existsSync, lstatSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import type { Tell } from "../../engine/loop/types.js";
import { hiddenFolder, inboxFolder, journalFolder, lastGoodOf, setAsideFolder } from "../../engine/lib/layout.js";
import {
  hasChanged,
  keepAside,
  moveAside,
  putVersion,
  type Snapshot,
  snapshotOf,
} from "../../engine/storage/file-snapshot.js";
import { isOurMessage } from "../../engine/storage/state/steering-inbox.js";
import { readRegularText } from "../../engine/storage/regular-file.js";
import { runGit } from "../../engine/storage/git-command.js";
import type { RepositoryOf } from "../../engine/storage/git-repository.js";
import { logName, stateName, taskLedger, taskName } from "./layout.js";

/**
 * What agents may not change in a task's folder: the task and its state, our own records, and git's own files. A hook
 * or a setting of git planted there would run as the user later.
 */
export interface Protected {
  /** Files, each whole. */
  readonly files: readonly string[];
  /** Folders, with all that is in them but these names. */
  readonly folders: readonly { readonly path: string; readonly except: ReadonlySet<string> }[];
  /** The folders of the repository that hold these, and that of its hooks where it is another. */
  readonly git: readonly string[];
  /** The folder of our own records. */
  readonly records: string;
}

/**
 * Remembers what stands around an attempt and nobody but this program and the user may change, before an agent starts,
 * or what it wrote is run.
 */
export type Protect = (iteration: number) => Promise<{
  /** Puts back what was changed; a sentence each. `during`: what was going on, in words. */
  putBack(during: string): Promise<readonly string[]>;
}>;

/**
 * Does `act`, by which what an agent wrote is run, and puts back what that changes of what is protected. `iteration`:
 * of the agent that worked last; undefined where none has worked yet, and nothing is put back.
 */
export async function protecting<Result>(
  protect: Protect,
  iteration: number | undefined,
  during: string,
  tell: Tell,
  act: () => Promise<Result>,
): Promise<Result> {
  if (iteration === undefined) return await act();
  const protection = await protect(iteration);
  try {
    return await act();
  } finally {
    for (const message of await protection.putBack(during)) await tell({ type: "notice", level: "warning", message });
  }
}

/** Of a repository: what configures git, or a program that it starts. Content and history do not count. */
const settingsOfGit = ["config", "config.worktree", "commondir", "gitdir", "hooks", "info"];
/** What moves where somebody commits. A person may do so while an agent works that can't. */
const historyOfGit = ["HEAD", "packed-refs", "refs", "index", "logs", "ORIG_HEAD", "MERGE_HEAD"];

/**
 * What is protected of a task in `folder` whose agents work in `workspace`. `everything`: the agent could commit as
 * well, so branches and the index are put back too. `configs`: the user's configuration in the folder, which may name
 * commands.
 */
export async function protectedIn(
  workspace: string,
  folder: string,
  {
    repository,
    everything,
    configs,
    more,
  }: {
    /** Of the workspace. */
    readonly repository: RepositoryOf | undefined;
    readonly everything: boolean;
    readonly configs: readonly string[];
    /** More files of the folder: those of another wing that has its records there. */
    readonly more: readonly string[];
  },
): Promise<Protected> {
  // Of our own records what is read again; the rest is written while agents work.
  const names = [taskName, stateName, ...more];
  const read = [taskLedger, logName].map((name) => join(folder, name));
  const copies = names.map((name) => lastGoodOf(folder, name));
  const own = [...names.map((name) => join(folder, name)), ...read, ...copies];
  const hidden = [journalFolder(folder), inboxFolder(folder)].map((path) => ({ path, except: nothing }));
  // In a folder of a repository too: git would find one that an agent makes there before the one around it.
  const files = [...own, ...configs, join(workspace, ".git")];
  if (repository === undefined) return { files, folders: hidden, git: [], records: hiddenFolder(folder) };
  const kept = [...settingsOfGit, ...(everything ? historyOfGit : [])];
  const roots = [...new Set([repository.folder, repository.common])];
  const git = roots.flatMap((root) => kept.map((name) => ({ path: join(root, name), except: nothing })));
  const modules = roots.map((root) => ({
    path: join(root, "modules"),
    except: new Set(["objects", "logs", "refs", "index"]),
  }));
  // Of a worktree and of a submodule it is a file that names the folder.
  const file = join(repository.tree, ".git");
  const hooks = await hooksWithin(workspace, repository.tree);
  return {
    files: [...new Set([...files, file])],
    folders: [...hidden, ...git, ...modules, ...hooks.map((path) => ({ path, except: nothing }))],
    git: [...roots, ...hooks],
    records: hiddenFolder(folder),
  };
}

/** The folder in the workspace in which the user has git look for hooks, such as husky's. `top`: of the repository. */
async function hooksWithin(workspace: string, top: string): Promise<string[]> {
  const { stdout } = await runGit(workspace, ["config", "-z", "--type=path", "--get-all", "core.hooksPath"]);
  // The last value is the one by which our own git runs none.
  const named = stdout.split("\0").slice(0, -2).at(-1) ?? "";
  const path = resolve(top, named);
  return named !== "" && path.startsWith(`${workspace}${sep}`) ? [path] : [];
}

const nothing: ReadonlySet<string> = new Set();

/** What is there: in a sandbox it is shown and can't be changed. The folder of git as a whole, history included. */
export function existingIn({ files, git, records }: Protected): string[] {
  const outside = files.filter((path) => !path.startsWith(`${records}/`));
  return [...new Set([...outside, records, ...git])].filter((path) => existsSync(path));
}

/** What is not there, so that nothing can be laid over it: a file of that name can be made, and is taken away again. */
export const absentIn = ({ files, folders, git, records }: Protected): Pick<Protected, "files" | "folders"> => ({
  // Our own records are shown as a whole.
  files: files.filter((path) => !existsSync(path) && !path.startsWith(`${records}/`)),
  folders: folders.filter(({ path }) => git.includes(path) && !existsSync(path)),
});

/**
 * Remembers what is protected; `putBack` restores it and names what it restored, but for messages that a person has
 * left meanwhile: those are signed with the key in `stateDir`.
 */
export async function remember(
  folder: string,
  { files, folders }: Pick<Protected, "files" | "folders">,
  iteration: number,
  stateDir: string,
) {
  const known = new Map<string, Snapshot>();
  for (const path of files) if (!isFolder(path)) known.set(path, await snapshotOf(path));
  for (const each of folders) for (const path of filesIn(each)) known.set(path, await snapshotOf(path));
  return {
    async putBack(during: string): Promise<readonly string[]> {
      const restored: string[] = [];
      const aside = freeAside(folder, iteration);
      // A link in place of a folder would lead what is put back, and the look at it, to somewhere else.
      for (const { path: root } of folders)
        for (const path of known.keys())
          if (path.startsWith(`${root}${sep}`))
            for (const each of between(root, dirname(path)))
              if (isThere(each) && !isFolder(each)) {
                await moveAside(each, dirname(join(aside, placeAside(folder, each))));
                restored.push(each);
              }
      for (const path of new Set([...known.keys(), ...folders.flatMap(filesIn)])) {
        const before = known.get(path);
        const kept = dirname(join(aside, placeAside(folder, path)));
        if (before === undefined) {
          if (await isMessage(folder, path, stateDir)) continue;
          await moveAside(path, kept);
        } else if (await hasChanged(path, before)) {
          const { version: now } = await snapshotOf(path);
          const { version } = before;
          if (now.kind !== "absent") await keepAside(path, now, kept);
          if (version.kind === "absent") await rm(path, { recursive: true, force: true });
          else {
            if (isFolder(path)) await rm(path, { recursive: true, force: true });
            await putVersion(path, version);
          }
        } else continue;
        restored.push(path);
      }
      if (restored.length === 0) return [];
      const names = restored.map((path) => relative(folder, path));
      const shown =
        names.length > 5 ? `${names.slice(0, 5).join(", ")} and ${names.length - 5} more` : names.join(", ");
      const kept = existsSync(aside) ? `; the earlier content is in ${relative(folder, aside)}` : "";
      return [`${shown} changed while ${during}, and ${restored.length === 1 ? "was" : "were"} put back${kept}.`];
    },
  };
}

/** The folders from one down to another that lies in it, both included. */
function between(root: string, inner: string): string[] {
  const parts = relative(root, inner).split(sep).filter(Boolean);
  return [root, ...parts.map((_, index) => join(root, ...parts.slice(0, index + 1)))];
}

/** Where nothing is kept yet: what was set aside in an iteration before may be a person's. */
function freeAside(folder: string, iteration: number, count = 1): string {
  const wanted = join(setAsideFolder(folder), `${iteration}${count === 1 ? "" : `-${count}`}`);
  return isThere(wanted) ? freeAside(folder, iteration, count + 1) : wanted;
}

/**
 * Where what stood at `path` is kept within a folder of what was set aside: as it lies in the project, so that two
 * files of one name are both kept. Git's own folder gets another name: nobody's git shall take it for a repository.
 */
const placeAside = (folder: string, path: string): string =>
  relative(folder, path)
    .split(sep)
    .map((part) => (part === ".." ? "above" : part === ".git" ? "git" : part))
    .join(sep);

const isMessage = async (folder: string, path: string, stateDir: string): Promise<boolean> =>
  dirname(path) === inboxFolder(folder) &&
  (await readRegularText(path).then(
    (text) => isOurMessage(folder, basename(path), text, stateDir),
    () => false,
  ));

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** All files and links in a folder, its inner folders included; the file itself where it is one. */
function filesIn({ path, except }: Protected["folders"][number]): string[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (!found.isDirectory()) return [path];
  return readdirSync(path, { withFileTypes: true })
    .filter(({ name }) => !except.has(name))
    .flatMap((entry) =>
      entry.isDirectory() ? filesIn({ path: join(path, entry.name), except }) : [join(path, entry.name)],
    );
}
