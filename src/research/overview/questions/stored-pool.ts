import { statSync } from "node:fs";
import { type AskedProject, openPool, type Pool, type ReadText } from "./pool.js";
import { rrdFile, textsFolder } from "../../folder/layout.js";
import { readResearch } from "../../folder/research.js";
import { keptText } from "../../full-text/text-cache.js";

/** The text kept of a paper, and nothing else: no network is asked. */
export const keptTextOf: ReadText = (folder, { id }) => keptText(textsFolder(folder), id);

/** The pool of these projects as their files stand. */
export async function poolOf(folders: readonly string[]): Promise<Pool> {
  return openPool(await projectsIn(folders), keptTextOf);
}

export const projectsIn = (folders: readonly string[]): Promise<AskedProject[]> =>
  Promise.all(folders.map(async (folder) => ({ folder, rrd: (await readResearch(folder)).rrd })));

/** Opens the pool of a project when it is first wanted, and again once its state has changed. */
export function openedOnce(folder: string): () => Promise<Pool> {
  let kept: { readonly stamp: number; readonly pool: Promise<Pool> } | undefined;
  return () => {
    const stamp = statSync(rrdFile(folder), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (kept?.stamp !== stamp) kept = { stamp, pool: poolOf([folder]) };
    return kept.pool;
  };
}
