import { basename, dirname, extname, resolve } from "node:path";
import { oneLine, shellWord } from "../../engine/lib/sanitise.js";
import { quantity } from "../../engine/lib/words.js";
import type { DocumentText } from "../../text/documents/text/document-text.js";
import { contentsOf } from "../full-text/folder-contents.js";
import type { Paper, Rrd } from "../generated/rrd.js";
import { nameOf } from "../papers/paper-keys.js";
import { textsFolder } from "../project-files/layout.js";
import { readWithoutNetwork } from "../full-text/find-text.js";
import { localFile, readLocal } from "../full-text/local-file.js";
import { isOwnFolder } from "../papers/records/own-list.js";

/** A local document that is no longer as it was read. */
export interface DocumentChange {
  readonly paper: Paper;
  readonly path: string;
  /** The present text; undefined if the file is missing. */
  readonly text?: DocumentText;
}

/** Where a project's documents are. */
export interface DocumentPlaces {
  readonly rrd: Pick<Rrd, "papers_pool" | "requirements">;
  /** The folder to which its sources are relative. */
  readonly root: string;
  /** What was read so far to find missing documents. Each folder and each document is read once. */
  readonly known: {
    /** The hashes of texts, by path. */
    readonly hashes: Map<string, string>;
    /** The documents of each folder that belong to no paper. */
    readonly documents: Map<string, Promise<readonly string[]>>;
  };
}

/** Nothing was read yet. Callers that compare several papers pass one value for all, so that nothing is read twice. */
export const nothingRead = (): DocumentPlaces["known"] => ({ hashes: new Map(), documents: new Map() });

/** Maximum number of documents that are read to find missing ones. */
const maxRead = 100;

/**
 * How the local document of a paper differs from the text that was read; undefined if it does not, also if the file was
 * only moved or renamed. Writes nothing.
 */
export async function documentChange(
  folder: string,
  paper: Paper,
  places: DocumentPlaces,
  signal: AbortSignal,
): Promise<DocumentChange | undefined> {
  const path = localFile(paper);
  if (path === undefined || paper.text_sha256 == null) return undefined;
  const present = await readWithoutNetwork(paper, { cacheDir: textsFolder(folder), signal });
  if (present?.status === "not-found")
    return (await hasMoved(path, paper.text_sha256, places, signal)) ? undefined : { paper, path };
  return present?.status !== "ok" || present.text.sha256 === paper.text_sha256
    ? undefined
    : { paper, path, text: present.text };
}

/**
 * Whether a document with this text that belongs to no paper is in the folder of a missing file, or in a folder of the
 * project.
 */
async function hasMoved(
  path: string,
  sha256: string,
  { rrd, root, known: { hashes, documents: known } }: DocumentPlaces,
  signal: AbortSignal,
): Promise<boolean> {
  const sourceFolders = (rrd.requirements.sources ?? [])
    .filter(isOwnFolder)
    .map((source) => resolve(root, source.slice("folder:".length).trim()));
  for (const folder of new Set([dirname(path), ...sourceFolders])) {
    const documents = known.get(folder) ?? unknownDocuments(folder, rrd);
    known.set(folder, documents);
    for (const document of (await documents).filter((each) => extname(each) === extname(path))) {
      if (!hashes.has(document) && hashes.size < maxRead) {
        const read = await readLocal(document, signal);
        hashes.set(document, read.status === "ok" ? read.text.sha256 : "");
      }
      if (hashes.get(document) === sha256) return true;
    }
  }
  return false;
}

/** The documents of a folder that belong to no paper. A folder that was deleted contains none. */
async function unknownDocuments(
  folder: string,
  { papers_pool: pool }: DocumentPlaces["rrd"],
): Promise<readonly string[]> {
  const ownPaths = new Set(pool.map(localFile));
  const { documents } = await contentsOf(folder, undefined).catch(() => ({ documents: [] }));
  return documents.filter((document) => !ownPaths.has(document));
}

/** Maximum number of documents that `documentSentences` names. */
const maxNamed = 3;

/** The local documents that are no longer as they were read: one sentence for each of the first three. */
export async function documentSentences(
  folder: string,
  places: Omit<DocumentPlaces, "known">,
  name: string,
): Promise<string[]> {
  const { signal } = new AbortController();
  const changes: DocumentChange[] = [];
  const known = nothingRead();
  for (const paper of places.rrd.papers_pool) {
    const change = await documentChange(folder, paper, { ...places, known }, signal);
    if (change !== undefined) changes.push(change);
  }
  const others = changes.length - maxNamed;
  return [
    ...changes.slice(0, maxNamed).map((change) => documentSentence(change, name)),
    ...(others > 0 ? [`${quantity(others, "other document")} of ${name} changed too or can't be found.`] : []),
  ];
}

/** One sentence: what happened to the document, and what to do. `name`: the project, as a command names it. */
export function documentSentence({ paper, path, text }: DocumentChange, name: string): string {
  const file = oneLine(basename(path));
  return text === undefined
    ? `${file} is missing: it was read at ${oneLine(path)}; put it back there.`
    : `${file} has changed since it was read; 'research-ralph reset ${shellWord(name)} --paper ${shellWord(nameOf(paper))}' and a run read it again.`;
}
