import { readFile, stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { hasCode } from "../../engine/lib/errors.js";
import { maxPdf } from "../../text/documents/pdf/read-pdf.js";
import { contentsOf, type OwnFiles } from "./folder-contents.js";
import { documentOf, type OwnDocument } from "../papers/known-documents.js";
import { pagesForATitle, samplesFolder, standsFor } from "./local-file.js";
import { namesOfDocument } from "./own-record.js";
import { readUntrusted } from "./reader-process.js";
import { documentEnding, paperId, safeName } from "../papers/reference.js";
import type { DocumentText } from "../../text/documents/text/document-text.js";
import type { PaperRecord } from "../papers/paper-record.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";

const maxFiles = 2000;
const abstractLength = 3000;

/**
 * The documents of a folder and its subfolders as candidates, in the order of their paths, at most 2,000. A document
 * that cannot be read is a candidate too, under its file's name. `project`: the folder from which their paths are kept.
 * Throws an ExpectedError where there is no such folder.
 */
export async function listFolder(
  dir: string,
  signal: AbortSignal | undefined,
  own?: OwnFiles & { readonly project: string },
  reading?: Reading,
): Promise<PaperRecord[]> {
  return await listDocuments(
    resolve(dir),
    {
      source: `folder:${dir}`,
      urlOf: (path) => pathToFileURL(path).href,
      idOf: (path) => paperId({ kind: "file", path }),
      ...(own === undefined ? {} : { documentOf: (url, sha256) => documentOf(own.project, url, sha256) }),
    },
    signal,
    own,
    reading,
  );
}

/** How the documents of folders are read that are listed again and again. */
export interface Reading {
  /** What was read of a document before, by its path: while it stays as it was it is not read again. */
  readonly kept: Map<string, { readonly stamp: string; readonly text: Described | undefined }>;
  /** Told how many of a folder's documents are looked at, and how many of them can be read. */
  watch?(done: number, all: number, readable: number): void;
}

/** The demo's own documents; their ids and titles say that they are samples. */
export async function listSamples(signal: AbortSignal | undefined): Promise<PaperRecord[]> {
  const idOf = (path: string) => paperId({ kind: "sample", name: basename(path) });
  return await listDocuments(
    samplesFolder,
    { source: "samples", urlOf: (path) => `sample:${basename(path)}`, idOf },
    signal,
  );
}

interface Naming {
  readonly source: string;
  readonly urlOf: (path: string) => string;
  readonly idOf: (path: string) => string;
  readonly documentOf?: (url: string, sha256: string | undefined) => OwnDocument;
}

async function listDocuments(
  folder: string,
  naming: Naming,
  signal: AbortSignal | undefined,
  own?: OwnFiles,
  reading?: Reading,
): Promise<PaperRecord[]> {
  const { documents } = await contentsOf(folder, own);
  const texts = new Map<string, Described | undefined>();
  const all = documents.slice(0, maxFiles);
  let found = 0;
  for (const path of all) {
    if (signal?.aborted) break;
    const text = await readOnce(path, signal, reading?.kept);
    texts.set(path, text);
    if (text !== undefined) found += 1;
    reading?.watch?.(texts.size, all.length, found);
  }
  const readable = [...texts.keys()].filter((path) => texts.get(path) !== undefined);
  // One that stands for a document which can't be read is not a work of its own.
  const others = new Map<string, string>();
  for (const [path, text] of texts) {
    const other = text === undefined ? readable.find((each) => standsFor(each, path)) : undefined;
    if (other !== undefined) others.set(path, other);
  }
  const standIns = new Set(others.values());
  const candidates: PaperRecord[] = [];
  const taken = new Set<string>();
  for (const path of texts.keys()) {
    if (standIns.has(path)) continue;
    const text = texts.get(others.get(path) ?? path);
    const own = text?.id === undefined ? undefined : safeName(text.id);
    // Two files of one id, such as a copy: the second goes by its path.
    const id = own !== undefined && !taken.has(own) ? own : naming.idOf(path);
    taken.add(id);
    candidates.push(candidateOf(path, id, text, naming));
  }
  return candidates;
}

function candidateOf(path: string, id: string, text: Described | undefined, naming: Naming): PaperRecord {
  const url = naming.urlOf(path);
  return {
    id,
    title: text?.title ?? basename(path).replace(documentEnding, "").replace(/[_-]+/g, " ").trim(),
    url,
    pdf_url: /\.pdf$/i.test(path) ? url : null,
    authors: text?.authors ?? [],
    date: text?.date ?? null,
    source: naming.source,
    abstract: text?.abstract?.slice(0, abstractLength) ?? null,
    identifiers: text === undefined ? {} : namesOfDocument(text),
    ...withoutUndefined({ publicationType: text?.publicationType, license: text?.license }),
    ...(text?.retracted === true ? { retracted: true } : {}),
    ...withoutUndefined({ document: naming.documentOf?.(url, text?.sha256) }),
  };
}

/** What a listing tells of a document. */
type Described = Omit<DocumentText, "text" | "marks">;

/** What a document tells of itself; it is opened only where it is new, or has changed since it was read. */
async function readOnce(
  path: string,
  signal: AbortSignal | undefined,
  kept: Reading["kept"] = new Map(),
): Promise<Described | undefined> {
  const { size = 0, mtimeMs = 0, ino = 0 } = (await stat(path).catch(() => undefined)) ?? {};
  const stamp = `${size} ${mtimeMs} ${ino}`;
  const before = kept.get(path);
  if (before?.stamp === stamp) return before.text;
  const text = await readForListing(path, size, signal);
  // One that was cut short was not read.
  if (signal?.aborted !== true) kept.set(path, { stamp, text });
  return text;
}

async function readForListing(
  path: string,
  size: number,
  signal: AbortSignal | undefined,
): Promise<Described | undefined> {
  try {
    if (size > maxPdf) return undefined;
    const read = await readUntrusted(await readFile(path), {
      name: path,
      ...withoutUndefined({ signal }),
      pages: pagesForATitle,
    });
    if (read.status !== "ok") return undefined;
    const { text: _, marks: __, ...described } = read.text;
    return described;
  } catch (error) {
    if (hasCode(error, "ENOENT", "EACCES", "EPERM", "EIO", "ELOOP")) return undefined;
    throw error;
  }
}
