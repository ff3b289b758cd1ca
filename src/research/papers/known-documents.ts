import { existsSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Exclusion, Paper, Rrd } from "../generated/rrd.js";
import type { PaperRecord } from "./paper-record.js";
import { idApart } from "./reference.js";

/** By what a document of this machine is known again. */
export type OwnDocument = NonNullable<PaperRecord["document"]>;

/** How a document is known again: by its path from the project's folder, and the text of its first pages. */
export const documentOf = (folder: string, url: string, sha256: string | undefined): OwnDocument => ({
  path: relative(folder, fileURLToPath(url)).split(sep).join("/"),
  ...(sha256 === undefined ? {} : { sha256 }),
});

type Kept = Pick<Paper & Exclusion, "id"> & {
  readonly url?: string | null;
  readonly pdf_url?: string | null;
  readonly document?: OwnDocument;
};

/**
 * The state with the addresses of documents as they lie today, where its folder was moved together with them: each by
 * its path from the project's folder, or, of folders that earlier versions wrote, by the end of its path that leads to
 * a file from the project's folder or one above it. Writes nothing; the same state where nothing was moved.
 */
export function withDocumentsFound(rrd: Rrd, folder: string): Rrd {
  const find = finder(folder);
  const found = <One extends Kept>(list: readonly One[]): One[] => {
    const all = list.map((one) => withAddresses(one, (address) => find(address, one.document?.path)));
    return all.every((one, index) => one === list[index]) ? (list as One[]) : all;
  };
  const { papers_pool: pool, excluded = [] } = rrd;
  const [papers, records] = [found(pool), found(excluded)];
  if (papers === pool && records === excluded) return rrd;
  return { ...rrd, papers_pool: papers, ...(rrd.excluded === undefined ? {} : { excluded: records }) };
}

function withAddresses<One extends Kept>(one: One, find: (address: string) => string): One {
  const addresses = (["url", "pdf_url"] as const).flatMap((name) => {
    const address = one[name];
    const found = address?.startsWith("file:") === true ? find(address) : address;
    return found === address ? [] : [[name, found] as const];
  });
  return addresses.length === 0 ? one : { ...one, ...Object.fromEntries(addresses) };
}

/** Answers where a document lies today; with its old address where nothing tells. */
function finder(folder: string): (address: string, path: string | undefined) => string {
  /** Folders that documents lay in, and lie in now. */
  let moves: readonly { readonly from: string; readonly to: string }[] = [];
  const above: string[] = [];
  for (let at = folder; above.at(-1) !== at; at = dirname(at)) above.push(at);
  return (address, path) => {
    const old = pathOf(address);
    if (old === undefined || isThere(old)) return address;
    const own = path === undefined ? undefined : resolve(folder, path);
    if (own !== undefined && isThere(own)) return pathToFileURL(own).href;
    for (const { from, to } of moves) {
      const moved = old.startsWith(`${from}${sep}`) ? join(to, old.slice(from.length)) : "";
      if (isThere(moved)) return pathToFileURL(moved).href;
    }
    const parts = old.split(sep).slice(1);
    for (let cut = 1; cut < parts.length; cut += 1) {
      const end = parts.slice(cut).join(sep);
      const to = above.find((each) => isThere(join(each, end)));
      if (to === undefined) continue;
      moves = [...moves, { from: `${sep}${parts.slice(0, cut).join(sep)}`, to }];
      return pathToFileURL(join(to, end)).href;
    }
    return address;
  };
}

/** Whether a file is there. Node throws in a process that it confines; such a process sees no file. */
function isThere(path: string): boolean {
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

/** A document of a paper that lies elsewhere than the paper says, or of which more is known now. */
export interface MovedDocument {
  readonly id: string;
  readonly set: Pick<Paper, "url" | "pdf_url" | "document">;
}

/**
 * Documents of a folder under the ids that the project has for them. Same text and path: the same paper; the same text
 * elsewhere: the same paper, moved; another text under the path: the same paper, changed. Any other is a new one, under
 * an id that no record has.
 */
export function knownDocuments(
  documents: readonly PaperRecord[],
  { papers_pool: pool, excluded = [] }: Rrd,
): { readonly documents: readonly PaperRecord[]; readonly moved: readonly MovedDocument[] } {
  const known = new Map<string, Kept>(
    [...excluded, ...pool].filter(({ url }) => url?.startsWith("file:") === true).map((one) => [one.id, one]),
  );
  const ids = new Map<PaperRecord, string>();
  const claim = (isOne: (document: PaperRecord, kept: Kept) => boolean, keyOf: (one: Kept) => string | undefined) => {
    const byKey = new Map([...known.values()].flatMap((one) => [[keyOf(one), one] as const]));
    for (const document of documents) {
      const kept = ids.has(document) ? undefined : byKey.get(keyOf(document));
      if (kept === undefined || keyOf(document) === undefined || !known.has(kept.id) || !isOne(document, kept))
        continue;
      ids.set(document, kept.id);
      known.delete(kept.id);
    }
  };
  const isSameText = (a: Kept, b: Kept) =>
    a.document?.sha256 === undefined || b.document?.sha256 === undefined || a.document.sha256 === b.document.sha256;
  const [address, path, text] = [
    ({ url }: Kept) => url ?? undefined,
    ({ document }: Kept) => document?.path,
    ({ document }: Kept) => document?.sha256,
  ];
  claim(isSameText, address);
  claim(isSameText, path);
  claim(() => true, text);
  claim(() => true, address);
  claim(() => true, path);
  const taken = new Set([...pool, ...excluded].map(({ id }) => id));
  const own = documents.map((document) => {
    const { id, title, document: about } = document;
    const isOwnName = !id.startsWith("file_");
    const known = ids.get(document) ?? (taken.has(id) && !isOwnName ? idApart(id, about?.sha256 ?? title) : id);
    return known === id ? document : { ...document, id: known };
  });
  const papers = new Map(pool.map((paper) => [paper.id, paper]));
  const moved = own.flatMap(({ id, url, pdf_url, document }, index) => {
    const paper = ids.has(documents[index] as PaperRecord) ? papers.get(id) : undefined;
    if (paper === undefined || document === undefined) return [];
    const isKnown = paper.url === url && JSON.stringify(paper.document) === JSON.stringify(document);
    return isKnown ? [] : [{ id, set: { url, pdf_url, document: { ...document } } }];
  });
  return { documents: own, moved };
}
