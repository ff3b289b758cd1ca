import { webAddressFrom } from "../../../engine/lib/json-fields.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import type { Columns, Step } from "../../generated/rrd.js";

/** A file or web page of the user that lists works and is a source of a project. */
export interface OwnList {
  /** A path, or an address on the web. */
  readonly place: string;
  /** The database of its records, if the user named it. */
  readonly database?: string;
}

/** File extensions of lists of works. The content of a file decides how it is read. */
export const listEnding = /\.(?:bib|bibtex|ris|nbib|medline|ciw|enw|xml|json|csv|tsv|txt)$/i;

/**
 * The list in a source's name: "export.ris", "Embase=embase.ris", or any text after "list:"; undefined for names of
 * services and folders. Such a source is read once and completely, without keywords.
 */
export function ownListIn(name: string): OwnList | undefined {
  const [, prefix, text = ""] = /^(list:)?(.*)$/is.exec(name.trim()) ?? [];
  // An address may contain an equals sign too.
  const [, database, file = text] = /^([^=/\\:]{1,60})=(.*)$/s.exec(text) ?? [];
  const place = file.trim();
  const isFile = listEnding.test(place) && !/^(?:[a-z-]{2,}:|https?:)/i.test(place);
  if (place === "" || (prefix === undefined && !isFile)) return undefined;
  return database === undefined ? { place } : { place, database: database.trim() };
}

/** The search step that reads lists completely. */
export const listRound = (lists: readonly string[], columns?: Columns): Step => ({
  kind: "search",
  sources: [...lists],
  queries: [{ terms: "", most: 20_000, ...withoutUndefined({ columns }) }],
});

/**
 * The part of the user's Zotero library in a source's name: "zotero:" is the complete library, `zotero:"Reading list"`
 * a collection; undefined for other names.
 */
export function zoteroIn(name: string): { readonly collection?: string } | undefined {
  const [match, text = ""] = /^zotero:(.*)$/is.exec(name.trim()) ?? [];
  const collection = text.trim().replace(/^["'](.*)["']$/s, "$1");
  return match === undefined ? undefined : collection === "" ? {} : { collection };
}

/** Whether a source is a folder of the user's documents. */
export const isOwnFolder = (name: string): boolean => name.startsWith("folder:");

/** Whether a source is a folder or a list of the user. */
export const isUserSource = (name: string): boolean => isOwnFolder(name) || isOwnList(name);

/** Whether a source is a list of the user, which is read once and completely. */
export const isOwnList = (name: string): boolean => ownListIn(name) !== undefined || zoteroIn(name) !== undefined;

/** Whether a source stands in files of this machine, so that no service is asked for its records. */
export function isOfFiles(name: string): boolean {
  const list = ownListIn(name);
  return name === "samples" || isOwnFolder(name) || (list !== undefined && webAddressFrom(list.place) === undefined);
}
