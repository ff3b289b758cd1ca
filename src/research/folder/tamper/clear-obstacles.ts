import { lstatSync, statSync } from "node:fs";
import { chmod, mkdir, rm } from "node:fs/promises";
import { relative } from "node:path";

import { doneFolder, hiddenFolder, journalFolder, lockFile } from "../../../engine/lib/layout.js";
import { setAsideFolder } from "../layout.js";

/** The permissions of folders, by their path. */
type Modes = ReadonlyMap<string, number>;

/** The permissions of a project folder and of its .ralph, as far as they are there. */
export function modesOf(folder: string): Modes {
  const found = [folder, hiddenFolder(folder)].map((path) => [path, modeOf(path)] as const);
  return new Map(found.flatMap(([path, mode]) => (mode === undefined ? [] : [[path, mode] as const])));
}

/** Undefined where nothing is there, or nothing may be seen. */
function modeOf(path: string): number | undefined {
  try {
    return statSync(path).mode & 0o7777;
  } catch {
    return undefined;
  }
}

/**
 * Makes sure that files can be put back and set aside in a project's folder: its permissions are as they were, and what stands in the
 * place of a folder of research-ralph, or of the lock, and is none, goes. Returns a sentence where there was any.
 */
export async function clearObstacles(folder: string, aside: string, modes: Modes, agent: string): Promise<string[]> {
  // What can't be set right here is told of the file that it keeps from being put back.
  for (const [path, mode] of modes) if (modeOf(path) !== mode) await chmod(path, mode).catch(() => undefined);
  const folders = [hiddenFolder, journalFolder, doneFolder, setAsideFolder].map((at) => at(folder));
  const gone: string[] = [];
  for (const path of [...folders, aside]) {
    if (isThere(path) && !isFolder(path)) {
      await rm(path, { force: true });
      gone.push(path);
    }
  }
  const lock = lockFile(folder);
  if (isThere(lock) && !lstatSync(lock).isFile()) {
    await rm(lock, { recursive: true, force: true });
    gone.push(lock);
  }
  if (gone.length === 0) return [];
  await mkdir(doneFolder(folder), { recursive: true });
  const names = gone.map((path) => relative(folder, path)).join(", ");
  return [
    `${agent} replaced ${names} with something else, which was removed. The previous contents are lost, except the results in rrd.json.`,
  ];
}

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** Also through a link: a person may keep it elsewhere. One that leads to itself is none. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
