import { readFile, stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { hasCode } from "../../engine/lib/errors.js";
import { maxPdfBytes } from "../../text/documents/pdf/read-pdf.js";
import { contentsOf, type OwnFiles } from "./folder-contents.js";
import { documentOf, type OwnDocument } from "../papers/known-documents.js";
import { titlePages, samplesFolder, replaces } from "./local-file.js";
import { namesOfDocument } from "./own-record.js";
import { readUntrusted } from "./reader-process.js";
import { documentExtension, paperId, safeName } from "../papers/reference.js";
import type { DocumentText } from "../../text/documents/text/document-text.js";
import type { PaperRecord } from "../papers/paper-record.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";

const maxFiles = 2000;
const maxAbstractChars = 3000;

/**
 * The documents of a folder and its subfolders as candidates, sorted by path, at most 2,000. An unreadable document is
 * a candidate with its file name as title. `project`: the folder to which their paths are relative.
 * @throws ExpectedError if the folder does not exist.
 */
export async function listFolder(
  dir: string,
  signal: AbortSignal | undefined,
  ownFiles?: OwnFiles & { readonly project: string },
  reading?: ListingCache,
): Promise<PaperRecord[]> {
  return await listDocuments(
    resolve(dir),
    {
      source: `folder:${dir}`,
      urlOf: (path) => pathToFileURL(path).href,
      idOf: (path) => paperId({ kind: "file", path }),
      ...(ownFiles === undefined ? {} : { documentOf: (url, sha256) => documentOf(ownFiles.project, url, sha256) }),
    },
    signal,
    ownFiles,
    reading,
  );
}

/** Saves work if the same folders are listed repeatedly. */
export interface ListingCache {
  /** The documents that were read before, by path. An unchanged document is not read again. */
  readonly documents: Map<string, { readonly stamp: string; readonly text: ListedDocument | undefined }>;
  /** Called with the number of checked documents, of all documents, and of readable documents in a folder. */
  watch?(done: number, all: number, readable: number): void;
}

/** The sample documents of the demo. Their ids and titles say that they are samples. */
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
  ownFiles?: OwnFiles,
  reading?: ListingCache,
): Promise<PaperRecord[]> {
  const { documents } = await contentsOf(folder, ownFiles);
  const texts = new Map<string, ListedDocument | undefined>();
  const paths = documents.slice(0, maxFiles);
  let readableCount = 0;
  for (const path of paths) {
    if (signal?.aborted) break;
    const text = await readIfChanged(path, signal, reading?.documents);
    texts.set(path, text);
    if (text !== undefined) readableCount += 1;
    reading?.watch?.(texts.size, paths.length, readableCount);
  }
  const readable = [...texts.keys()].filter((path) => texts.get(path) !== undefined);
  // A document that replaces an unreadable one is not a separate work.
  const replacements = new Map<string, string>();
  for (const [path, text] of texts) {
    const replacement = text === undefined ? readable.find((candidate) => replaces(candidate, path)) : undefined;
    if (replacement !== undefined) replacements.set(path, replacement);
  }
  const usedReplacements = new Set(replacements.values());
  const candidates: PaperRecord[] = [];
  const usedIds = new Set<string>();
  for (const path of texts.keys()) {
    if (usedReplacements.has(path)) continue;
    const text = texts.get(replacements.get(path) ?? path);
    const ownId = text?.id === undefined ? undefined : safeName(text.id);
    // Two files can have the same id, such as copies. Then the second gets an id from its path.
    const id = ownId !== undefined && !usedIds.has(ownId) ? ownId : naming.idOf(path);
    usedIds.add(id);
    candidates.push(candidateOf(path, id, text, naming));
  }
  return candidates;
}

function candidateOf(path: string, id: string, text: ListedDocument | undefined, naming: Naming): PaperRecord {
  const url = naming.urlOf(path);
  return {
    id,
    title: text?.title ?? basename(path).replace(documentExtension, "").replace(/[_-]+/g, " ").trim(),
    url,
    pdf_url: /\.pdf$/i.test(path) ? url : null,
    authors: text?.authors ?? [],
    date: text?.date ?? null,
    source: naming.source,
    abstract: text?.abstract?.slice(0, maxAbstractChars) ?? null,
    identifiers: text === undefined ? {} : namesOfDocument(text),
    ...withoutUndefined({ publicationType: text?.publicationType, license: text?.license }),
    ...(text?.retracted === true ? { retracted: true } : {}),
    ...withoutUndefined({ document: naming.documentOf?.(url, text?.sha256) }),
  };
}

/** What a listing needs to know about a document. */
type ListedDocument = Omit<DocumentText, "text" | "marks">;

/** Reads a document for a listing; uses the earlier result if the file is unchanged. */
async function readIfChanged(
  path: string,
  signal: AbortSignal | undefined,
  knownDocuments: ListingCache["documents"] = new Map(),
): Promise<ListedDocument | undefined> {
  const { size = 0, mtimeMs = 0, ino = 0 } = (await stat(path).catch(() => undefined)) ?? {};
  const stamp = `${size} ${mtimeMs} ${ino}`;
  const cached = knownDocuments.get(path);
  if (cached?.stamp === stamp) return cached.text;
  const text = await readForListing(path, size, signal);
  // An interrupted read may be incomplete, so it is not cached.
  if (signal?.aborted !== true) knownDocuments.set(path, { stamp, text });
  return text;
}

async function readForListing(
  path: string,
  size: number,
  signal: AbortSignal | undefined,
): Promise<ListedDocument | undefined> {
  try {
    if (size > maxPdfBytes) return undefined;
    const result = await readUntrusted(await readFile(path), {
      name: path,
      ...withoutUndefined({ signal }),
      pages: titlePages,
    });
    if (result.status !== "ok") return undefined;
    const { text: _, marks: __, ...described } = result.text;
    return described;
  } catch (error) {
    if (hasCode(error, "ENOENT", "EACCES", "EPERM", "EIO", "ELOOP")) return undefined;
    throw error;
  }
}
