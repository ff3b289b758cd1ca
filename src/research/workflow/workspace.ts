import { createHash } from "node:crypto";
import { lstatSync, statfsSync } from "node:fs";
import { chmod, readdir, rename, rm, rmdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ExpectedError, hasCode, messageOf } from "../../engine/lib/errors.js";
import { nameStart } from "../../engine/lib/layout.js";
import { shellWord } from "../../engine/lib/sanitise.js";
import { inodeAt } from "../../engine/storage/atomic-file.js";
import { makeFolder } from "../../engine/storage/regular-file.js";
import { workspacesFolder } from "../project-files/layout.js";

/** Folders for agents to work in, outside the user's tree, one an iteration. */
export interface Workspaces {
  /** The folder of the program's state that they lie in. */
  readonly stateDir: string;
  /** Where they lie. */
  readonly root: string;
  /** Removes what a crash left, as far as it can be; refused ones stay. */
  sweep(): Promise<void>;
  /**
   * Removes the refused ones of all other iterations: a kill may come between a fold and the removal of what it
   * settled.
   */
  keepOnly(iterations: ReadonlySet<number>): Promise<void>;
  /** Where an iteration's lies. */
  path(iteration: number): string;
  /** Makes it, fresh and empty. */
  create(iteration: number): Promise<string>;
  /** Keeps the one of a refused iteration for the repair and for people. Returns where; undefined if it is empty. */
  keep(iteration: number): Promise<string | undefined>;
  /** Where a refused one lies. */
  kept(iteration: number): string;
  /** Removes an iteration's, kept or not. */
  remove(iteration: number): Promise<void>;
  /** Leaves nothing where none is kept. */
  close(): Promise<void>;
}

const keptMark = "refused-";
/** The names that we give; nothing else is ours to remove. */
const ownName = new RegExp(`^(${keptMark})?(\\d+)$`);

export function workspacesOf(stateDir: string, folder: string): Workspaces {
  const hash = createHash("sha256").update(folder).digest("hex").slice(0, 8);
  const root = join(workspacesFolder(stateDir), `${nameStart(basename(folder))}-${hash}`);
  /**
   * Removes one, unless the way to it leads through a link: an agent may have put one there, and behind it stands a
   * person's folder.
   */
  const clear = async (path: string): Promise<void> => {
    const link = [dirname(root), root].find(
      (at) => lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink() === true,
    );
    if (link !== undefined)
      throw new ExpectedError(
        `${link} is a symbolic link, and nothing is removed behind one; 'rm ${shellWord(link)}' deletes the link; or set state_dir in the config to another folder.`,
      );
    await removeAll(path);
  };
  const path = (iteration: number) => join(root, String(iteration));
  const kept = (iteration: number) => join(root, `${keptMark}${iteration}`);
  const clearThose = async (chosen: (isKept: boolean, iteration: number) => boolean): Promise<void> => {
    for (const name of await readdir(root).catch(() => [])) {
      const [, mark, iteration] = ownName.exec(name) ?? [];
      if (iteration === undefined || !chosen(mark !== undefined, Number(iteration))) continue;
      await clear(join(root, name)).catch(() => undefined);
    }
  };
  return {
    stateDir,
    root,
    async sweep() {
      await clearThose((isKept) => !isKept);
    },
    async keepOnly(iterations) {
      await clearThose((isKept, iteration) => isKept && !iterations.has(iteration));
    },
    async close() {
      // Not where refused work is kept for people to look at.
      await rmdir(root).catch(() => undefined);
    },
    async create(iteration) {
      const folder = path(iteration);
      try {
        await clear(folder);
        makeFolder(folder, 0o700);
      } catch (error) {
        if (hasCode(error, "ENOSPC"))
          throw new ExpectedError(
            `The disk is full: no workspace could be made at ${folder}; free some space and run again.`,
          );
        if (error instanceof ExpectedError) throw error;
        throw new ExpectedError(
          `No workspace could be made at ${folder} (${messageOf(error)}); set state_dir in the config to a folder you can write to.`,
        );
      }
      requireSpace(folder);
      return folder;
    },
    path,
    kept,
    async keep(iteration) {
      const files = await readdir(path(iteration)).catch(() => undefined);
      if (files?.length === 0) {
        await clear(path(iteration)).catch(() => undefined);
        return undefined;
      }
      await clear(kept(iteration))
        .then(() => rename(path(iteration), kept(iteration)))
        .catch(() => undefined);
      return kept(iteration);
    },
    async remove(iteration) {
      await Promise.all([clear(path(iteration)), clear(kept(iteration))]).catch(() => undefined);
    },
  };
}

/** Removes a folder, also one in which an agent took away its own right to do so, or a link in its place. */
async function removeAll(path: string): Promise<void> {
  if (inodeAt(path) === undefined) return;
  const remove = () => rm(path, { recursive: true, force: true, maxRetries: 3 });
  await remove().catch(async () => {
    if (lstatSync(path).isDirectory()) await openUp(path);
    await remove();
  });
}

async function openUp(folder: string): Promise<void> {
  await chmod(folder, 0o700).catch(() => undefined);
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await openUp(join(folder, entry.name));
}

/** An agent's result, its notes and the files of its CLI; a result alone may have 5 MB, and most have 10 KB. */
const minFreeBytes = 1_000_000;

/**
 * An agent on a full disk leaves half a result or none, and three of those would give its paper up for no fault of
 * anybody's.
 * @throws ExpectedError when less than 1 MB is left for `folder`.
 */
export function requireSpace(folder: string): void {
  if (hasSpace(folder)) return;
  throw new ExpectedError(
    `There is no space left on the disk for an agent to work in ${folder}; free some, or set state_dir to another disk, and run again.`,
  );
}

/** Whether 1 MB is left for `folder`; true where the system can't say, as the write itself will. */
export function hasSpace(folder: string): boolean {
  try {
    const { blocks, bfree, bavail, bsize } = statfsSync(folder);
    return blocks === 0 || (process.getuid?.() === 0 ? bfree : bavail) * bsize >= minFreeBytes;
  } catch {
    return true;
  }
}
