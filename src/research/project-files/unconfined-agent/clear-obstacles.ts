import { lstatSync, realpathSync, statSync } from "node:fs";
import { chmod, mkdir, rm } from "node:fs/promises";
import { relative } from "node:path";

import {
  answersIn,
  backupsFolder,
  doneFolder,
  hiddenFolder,
  inboxFolder,
  journalFolder,
  lockFile,
  notedFolder,
  setAsideFolder,
  transcriptsFolder,
} from "../../../engine/lib/layout.js";
import { aboutFolder, answersFolder, documentsFolder, textsFolder } from "../layout.js";

/** Folders of a project by their path: where each really lies, and its permissions; undefined where it is missing. */
type Places = ReadonlyMap<string, { readonly at: string; readonly mode: number } | undefined>;

const own = [
  hiddenFolder,
  journalFolder,
  doneFolder,
  setAsideFolder,
  inboxFolder,
  notedFolder,
  textsFolder,
  transcriptsFolder,
  aboutFolder,
  backupsFolder,
];
const ofAnswers = [answersFolder, documentsFolder];

/**
 * The project's folder and those of research-ralph in it that files are moved out of or put into, outer ones first.
 * `aside`: see guardFiles.
 */
export const placesOf = (folder: string, aside: string): Places =>
  new Map(
    [
      folder,
      ...own.map((at) => at(folder)),
      ...ofAnswers.flatMap((at) => [at(folder), answersIn(at(folder))]),
      aside,
    ].map((path) => [path, placeOf(path)]),
  );

function placeOf(path: string): { readonly at: string; readonly mode: number } | undefined {
  try {
    const found = statSync(path);
    return found.isDirectory() ? { at: realpathSync(path), mode: found.mode & 0o7777 } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Makes sure that files can be put back and set aside in a project's folder: its permissions are as they were, and what
 * stands in the place of a folder of research-ralph, or of the lock, goes. A folder that was linked there meanwhile is
 * unlinked, and nothing in it is touched; one that a person had linked before stays. Returns a sentence where there was
 * any.
 */
export async function clearObstacles(folder: string, before: Places, agent: string): Promise<string[]> {
  const gone: string[] = [];
  for (const [path, place] of before) {
    // What can't be removed here is reported with the file that can't be restored for it.
    if (place !== undefined && placeOf(path)?.mode !== place.mode && realPath(path) === place.at)
      await chmod(path, place.mode).catch(() => undefined);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (path === folder || found === undefined || found.isDirectory()) continue;
    if (place !== undefined && found.isSymbolicLink() && realPath(path) === place.at) continue;
    await rm(path, { force: true });
    gone.push(path);
  }
  const lock = lockFile(folder);
  if (lstatSync(lock, { throwIfNoEntry: false })?.isFile() === false) {
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

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
