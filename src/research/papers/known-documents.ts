import { existsSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Exclusion, Paper, Rrd } from "../generated/rrd.js";
import type { PaperRecord } from "./paper-record.js";
import { distinctId } from "./reference.js";

/** Identifies a local document, so that it is found again. */
export type OwnDocument = NonNullable<PaperRecord["document"]>;

/** Identifies a document by its path from the project's folder and by the text of its first pages. */
export const documentOf = (folder: string, url: string, sha256: string | undefined): OwnDocument => ({
  path: relative(folder, fileURLToPath(url)).split(sep).join("/"),
  ...(sha256 === undefined ? {} : { sha256 }),
});

type KnownRecord = Pick<Paper & Exclusion, "id"> & {
  readonly url?: string | null;
  readonly pdf_url?: string | null;
  readonly document?: OwnDocument;
};

/**
 * Updates the addresses of documents if the project's folder was moved together with them. A document is found by its
 * path from the project's folder. In projects of earlier versions, it is found by the end of its path, from the
 * project's folder or a parent folder. Writes nothing; returns the same state if nothing was moved.
 */
export function withDocumentsFound(rrd: Rrd, folder: string): Rrd {
  const find = makeFinder(folder);
  const withFoundAddresses = <One extends KnownRecord>(list: readonly One[]): One[] => {
    const updated = list.map((record) => withAddresses(record, (address) => find(address, record.document?.path)));
    return updated.every((one, index) => one === list[index]) ? (list as One[]) : updated;
  };
  const { papers_pool: pool, excluded = [] } = rrd;
  const [papers, records] = [withFoundAddresses(pool), withFoundAddresses(excluded)];
  if (papers === pool && records === excluded) return rrd;
  return { ...rrd, papers_pool: papers, ...(rrd.excluded === undefined ? {} : { excluded: records }) };
}

function withAddresses<One extends KnownRecord>(record: One, find: (address: string) => string): One {
  const addresses = (["url", "pdf_url"] as const).flatMap((name) => {
    const address = record[name];
    const newAddress = address?.startsWith("file:") === true ? find(address) : address;
    return newAddress === address ? [] : [[name, newAddress] as const];
  });
  return addresses.length === 0 ? record : { ...record, ...Object.fromEntries(addresses) };
}

/** Returns a function that gives the present address of a document, or its old address if it is not found. */
function makeFinder(folder: string): (address: string, path: string | undefined) => string {
  /** Moves of folders that were found so far. */
  let moves: readonly { readonly from: string; readonly to: string }[] = [];
  const parents: string[] = [];
  for (let parent = folder; parents.at(-1) !== parent; parent = dirname(parent)) parents.push(parent);
  return (address, path) => {
    const oldPath = pathOf(address);
    if (oldPath === undefined || exists(oldPath)) return address;
    const projectPath = path === undefined ? undefined : resolve(folder, path);
    if (projectPath !== undefined && exists(projectPath)) return pathToFileURL(projectPath).href;
    for (const { from, to } of moves) {
      const moved = oldPath.startsWith(`${from}${sep}`) ? join(to, oldPath.slice(from.length)) : "";
      if (exists(moved)) return pathToFileURL(moved).href;
    }
    const parts = oldPath.split(sep).slice(1);
    for (let partCount = 1; partCount < parts.length; partCount += 1) {
      const pathEnd = parts.slice(partCount).join(sep);
      const to = parents.find((parent) => exists(join(parent, pathEnd)));
      if (to === undefined) continue;
      moves = [...moves, { from: `${sep}${parts.slice(0, partCount).join(sep)}`, to }];
      return pathToFileURL(join(to, pathEnd)).href;
    }
    return address;
  };
}

/** Whether a file exists. With restricted permissions Node throws here; such a process can't see the file. */
function exists(path: string): boolean {
  try {
    return existsSync(path);
  } catch {
    return false;
  }
}

function pathOf(address: string): string | undefined {
  try {
    return fileURLToPath(address);
  } catch {
    return undefined;
  }
}

/** A paper's document that was moved or changed. */
export interface MovedDocument {
  readonly id: string;
  readonly set: Pick<Paper, "url" | "pdf_url" | "document">;
}

/**
 * Matches the documents of a folder with the project's records. Equal text and path: the same paper. Equal text, other
 * path: the paper was moved. Other text, equal path: the paper was changed. Any other document is new and gets an
 * unused id.
 */
export function knownDocuments(
  documents: readonly PaperRecord[],
  { papers_pool: pool, excluded = [] }: Rrd,
): { readonly documents: readonly PaperRecord[]; readonly moved: readonly MovedDocument[] } {
  const unmatched = new Map<string, KnownRecord>(
    [...excluded, ...pool].filter(({ url }) => url?.startsWith("file:") === true).map((record) => [record.id, record]),
  );
  const ids = new Map<PaperRecord, string>();
  const matchBy = (
    isMatch: (document: PaperRecord, record: KnownRecord) => boolean,
    keyOf: (one: KnownRecord) => string | undefined,
  ) => {
    const byKey = new Map([...unmatched.values()].flatMap((record) => [[keyOf(record), record] as const]));
    for (const document of documents) {
      const record = ids.has(document) ? undefined : byKey.get(keyOf(document));
      if (
        record === undefined ||
        keyOf(document) === undefined ||
        !unmatched.has(record.id) ||
        !isMatch(document, record)
      )
        continue;
      ids.set(document, record.id);
      unmatched.delete(record.id);
    }
  };
  const isSameText = (a: KnownRecord, b: KnownRecord) =>
    a.document?.sha256 === undefined || b.document?.sha256 === undefined || a.document.sha256 === b.document.sha256;
  const [address, path, text] = [
    ({ url }: KnownRecord) => url ?? undefined,
    ({ document }: KnownRecord) => document?.path,
    ({ document }: KnownRecord) => document?.sha256,
  ];
  matchBy(isSameText, address);
  matchBy(isSameText, path);
  matchBy(() => true, text);
  matchBy(() => true, address);
  matchBy(() => true, path);
  const usedIds = new Set([...pool, ...excluded].map(({ id }) => id));
  const withIds = documents.map((document) => {
    const { id, title, document: documentKey } = document;
    const hasOwnId = !id.startsWith("file_");
    const uniqueId =
      ids.get(document) ?? (usedIds.has(id) && !hasOwnId ? distinctId(id, documentKey?.sha256 ?? title) : id);
    return uniqueId === id ? document : { ...document, id: uniqueId };
  });
  const papers = new Map(pool.map((paper) => [paper.id, paper]));
  const moved = withIds.flatMap(({ id, url, pdf_url, document }, index) => {
    const paper = ids.has(documents[index] as PaperRecord) ? papers.get(id) : undefined;
    if (paper === undefined || document === undefined) return [];
    const isUnchanged = paper.url === url && JSON.stringify(paper.document) === JSON.stringify(document);
    return isUnchanged ? [] : [{ id, set: { url, pdf_url, document: { ...document } } }];
  });
  return { documents: withIds, moved };
}
