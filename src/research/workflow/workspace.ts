import { createHash } from "node:crypto";
import { lstatSync, statfsSync } from "node:fs";
import { chmod, readdir, rename, rm, rmdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ExpectedError, hasCode, messageOf } from "../../engine/lib/errors.js";
import { truncateName } from "../../engine/lib/layout.js";
import { shellWord } from "../../engine/lib/sanitise.js";
import { inodeAt } from "../../engine/storage/atomic-file.js";
import { makeFolder } from "../../engine/storage/regular-file.js";
import { workspacesFolder } from "../project-files/layout.js";

/** Folders in which agents work, outside the user's files: one for each iteration. */
export interface Workspaces {
  /** The folder of the program's state, which contains them. */
  readonly stateDir: string;
  /** The folder of all workspaces of the project. */
  readonly root: string;
  /** Removes workspaces that a crash left, if possible. Kept workspaces of refused iterations stay. */
  sweep(): Promise<void>;
  /**
   * Removes the kept workspaces of all other iterations: if the process was killed after a fold, they were not removed.
   */
  keepOnly(iterations: ReadonlySet<number>): Promise<void>;
  /** The path of an iteration's workspace. */
  path(iteration: number): string;
  /** Makes an empty workspace. */
  create(iteration: number): Promise<string>;
  /**
   * Keeps the workspace of a refused iteration for the repair and for people. Returns its new path; undefined if it is
   * empty.
   */
  keep(iteration: number): Promise<string | undefined>;
  /** The path of a kept workspace. */
  keptPath(iteration: number): string;
  /** Removes the workspace of an iteration, kept or not. */
  remove(iteration: number): Promise<void>;
  /** Removes the root folder if it contains no kept workspace. */
  close(): Promise<void>;
}

const keptPrefix = "refused-";
/** The names of workspaces. Nothing with another name is removed. */
const workspaceName = new RegExp(`^(${keptPrefix})?(\\d+)$`);

export function workspacesOf(stateDir: string, folder: string): Workspaces {
  const hash = createHash("sha256").update(folder).digest("hex").slice(0, 8);
  const root = join(workspacesFolder(stateDir), `${truncateName(basename(folder))}-${hash}`);
  // Removes a folder, but not through a symbolic link, which an agent may have made to one of the user's folders.
  const removeSafely = async (path: string): Promise<void> => {
    const link = [dirname(root), root].find(
      (folderPath) => lstatSync(folderPath, { throwIfNoEntry: false })?.isSymbolicLink() === true,
    );
    if (link !== undefined)
      throw new ExpectedError(
        `${link} is a symbolic link, so nothing in it is removed; 'rm ${shellWord(link)}' deletes the link; or set state_dir in the config to another folder.`,
      );
    await removeAll(path);
  };
  const path = (iteration: number) => join(root, String(iteration));
  const keptPath = (iteration: number) => join(root, `${keptPrefix}${iteration}`);
  const removeMatching = async (isMatch: (isKept: boolean, iteration: number) => boolean): Promise<void> => {
    for (const name of await readdir(root).catch(() => [])) {
      const [, mark, iteration] = workspaceName.exec(name) ?? [];
      if (iteration === undefined || !isMatch(mark !== undefined, Number(iteration))) continue;
      await removeSafely(join(root, name)).catch(() => undefined);
    }
  };
  return {
    stateDir,
    root,
    async sweep() {
      await removeMatching((isKept) => !isKept);
    },
    async keepOnly(iterations) {
      await removeMatching((isKept, iteration) => isKept && !iterations.has(iteration));
    },
    async close() {
      // Fails if kept workspaces are in it, which stay for people.
      await rmdir(root).catch(() => undefined);
    },
    async create(iteration) {
      const folder = path(iteration);
      try {
        await removeSafely(folder);
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
    keptPath,
    async keep(iteration) {
      const files = await readdir(path(iteration)).catch(() => undefined);
      if (files?.length === 0) {
        await removeSafely(path(iteration)).catch(() => undefined);
        return undefined;
      }
      await removeSafely(keptPath(iteration))
        .then(() => rename(path(iteration), keptPath(iteration)))
        .catch(() => undefined);
      return keptPath(iteration);
    },
    async remove(iteration) {
      await Promise.all([removeSafely(path(iteration)), removeSafely(keptPath(iteration))]).catch(() => undefined);
    },
  };
}

/** Removes a folder, even if an agent has made it read-only, or a link in its place. */
async function removeAll(path: string): Promise<void> {
  if (inodeAt(path) === undefined) return;
  const remove = () => rm(path, { recursive: true, force: true, maxRetries: 3 });
  await remove().catch(async () => {
    if (lstatSync(path).isDirectory()) await makeWritable(path);
    await remove();
  });
}

async function makeWritable(folder: string): Promise<void> {
  await chmod(folder, 0o700).catch(() => undefined);
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await makeWritable(join(folder, entry.name));
}

/** Minimum free space for an agent's result, notes and CLI files. A result has usually 10 KB and at most 5 MB. */
const minFreeBytes = 1_000_000;

/**
 * On a full disk an agent writes an incomplete result, and after three refused results its paper would be given up.
 * @throws ExpectedError if less than 1 MB is free for `folder`.
 */
export function requireSpace(folder: string): void {
  if (hasSpace(folder)) return;
  throw new ExpectedError(
    `There is no space left on the disk for an agent to work in ${folder}; free some space, or set state_dir to another disk, and run again.`,
  );
}

/** Whether 1 MB is free for `folder`. True if the system can't tell; then the write itself reports a full disk. */
export function hasSpace(folder: string): boolean {
  try {
    const { blocks, bfree, bavail, bsize } = statfsSync(folder);
    return blocks === 0 || (process.getuid?.() === 0 ? bfree : bavail) * bsize >= minFreeBytes;
  } catch {
    return true;
  }
}
