import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { wordStore } from "./stored-words.js";
import { recordText } from "./paper-words.js";
import { type AskedProject, type StoredTexts, openPool, type Pool, type ReadText } from "./pool.js";
import { passagesFile, rrdFile, textsFolder } from "../../project-files/layout.js";
import { readResearch } from "../../project-files/research.js";
import { lastCachedText, cachedTextStamp } from "../../full-text/text-cache.js";

/** Reads the stored text of a paper, without the network. */
export const storedTextOf: ReadText = (folder, { id }) => lastCachedText(textsFolder(folder), id);

/** The pool of these projects in their present state. Writes nothing. */
export async function openStoredPool(folders: readonly string[]): Promise<Pool> {
  return openPool(await readProjects(folders), storedTextOf, storedTexts({ readOnly: true }));
}

/** The stored words of texts, by the file of the text and the content of the record. */
export const storedTexts = (options: { readonly readOnly: boolean }): StoredTexts => ({
  words: wordStore(passagesFile, options),
  stampOf(folder, paper) {
    const file = cachedTextStamp(textsFolder(folder), paper.id);
    if (file === undefined) return undefined;
    const { title, abstract = "" } = paper;
    return createHash("sha256")
      .update(JSON.stringify([file, title, abstract, recordText(paper)]))
      .digest("base64");
  },
});

const readProjects = (folders: readonly string[]): Promise<AskedProject[]> =>
  Promise.all(folders.map(async (folder) => ({ folder, rrd: (await readResearch(folder)).rrd })));

/** Opens the pool of these projects at the first call, and again when a project has changed. */
export function lazyPool(folders: readonly string[]): () => Promise<Pool> {
  let cached: { readonly stamp: string; readonly pool: Promise<Pool> } | undefined;
  return () => {
    const stamp = folders.map((folder) => statSync(rrdFile(folder), { throwIfNoEntry: false })?.mtimeMs ?? 0).join(" ");
    if (cached?.stamp !== stamp) cached = { stamp, pool: openStoredPool(folders) };
    return cached.pool;
  };
}
