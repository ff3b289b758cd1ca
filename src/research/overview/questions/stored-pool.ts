import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { keptWords } from "./stored-words.js";
import { recordText } from "./paper-words.js";
import { type AskedProject, type KeptTexts, openPool, type Pool, type ReadText } from "./pool.js";
import { passagesFile, rrdFile, textsFolder } from "../../project-files/layout.js";
import { readResearch } from "../../project-files/research.js";
import { lastCachedText, cachedTextStamp } from "../../full-text/text-cache.js";

/** The text kept of a paper, and nothing else: no network is asked. */
export const keptTextOf: ReadText = (folder, { id }) => lastCachedText(textsFolder(folder), id);

/** The pool of these projects as their files stand. Writes nothing. */
export async function poolOf(folders: readonly string[]): Promise<Pool> {
  return openPool(await projectsIn(folders), keptTextOf, keptTexts({ readOnly: true }));
}

/** The words of texts that were cut before, by the file of the text and what the record says. */
export const keptTexts = (options: { readonly readOnly: boolean }): KeptTexts => ({
  words: keptWords(passagesFile, options),
  stampOf(folder, paper) {
    const file = cachedTextStamp(textsFolder(folder), paper.id);
    if (file === undefined) return undefined;
    const { title, abstract = "" } = paper;
    return createHash("sha256")
      .update(JSON.stringify([file, title, abstract, recordText(paper)]))
      .digest("base64");
  },
});

export const projectsIn = (folders: readonly string[]): Promise<AskedProject[]> =>
  Promise.all(folders.map(async (folder) => ({ folder, rrd: (await readResearch(folder)).rrd })));

/** Opens the pool of these projects when it is first wanted, and again once the state of one has changed. */
export function openedOnce(folders: readonly string[]): () => Promise<Pool> {
  let kept: { readonly stamp: string; readonly pool: Promise<Pool> } | undefined;
  return () => {
    const stamp = folders.map((folder) => statSync(rrdFile(folder), { throwIfNoEntry: false })?.mtimeMs ?? 0).join(" ");
    if (kept?.stamp !== stamp) kept = { stamp, pool: poolOf(folders) };
    return kept.pool;
  };
}
