import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import type { Columns, Step } from "../../generated/rrd.js";

/** A file or page of works that a person brings, as a project's sources name it. */
export interface OwnList {
  /** A path, or an address on the web. */
  readonly place: string;
  /** The database that its records came from, where the person says so. */
  readonly database?: string;
}

/** Endings of files that may list works; what is in a file decides how it is read. */
export const listEnding = /\.(?:bib|bibtex|ris|nbib|medline|ciw|enw|xml|json|csv|tsv|txt)$/i;

/**
 * The list that a source's name means: "export.ris", "Embase=embase.ris", or anything behind "list:"; undefined for
 * names of services and folders. Such a source is read once and whole: no keyword chooses from it.
 */
export function ownListIn(name: string): OwnList | undefined {
  const [, marked, text = ""] = /^(list:)?(.*)$/is.exec(name.trim()) ?? [];
  // An address may hold an equals sign of its own.
  const [, database, file = text] = /^([^=/\\:]{1,60})=(.*)$/s.exec(text) ?? [];
  const place = file.trim();
  const isFile = listEnding.test(place) && !/^(?:[a-z-]{2,}:|https?:)/i.test(place);
  if (place === "" || (marked === undefined && !isFile)) return undefined;
  return database === undefined ? { place } : { place, database: database.trim() };
}

/** The round in which lists are read, each once and whole. */
export const listRound = (lists: readonly string[], columns?: Columns): Step => ({
  kind: "search",
  sources: [...lists],
  queries: [{ terms: "", most: 20_000, ...withoutUndefined({ columns }) }],
});

/**
 * The part of a person's Zotero that a source's name means: "zotero:" all of it, `zotero:"Reading list"` a collection;
 * undefined for other names.
 */
export function zoteroIn(name: string): { readonly collection?: string } | undefined {
  const [found, text = ""] = /^zotero:(.*)$/is.exec(name.trim()) ?? [];
  const collection = text.trim().replace(/^["'](.*)["']$/s, "$1");
  return found === undefined ? undefined : collection === "" ? {} : { collection };
}

/** Whether a source is a folder of documents that a person brings. */
export const isOwnFolder = (name: string): boolean => name.startsWith("folder:");

/** Whether a person brings what a source holds: a folder or a list of their own. */
export const isBrought = (name: string): boolean => isOwnFolder(name) || isOwnList(name);

/** Whether a source is read once and whole, as a person brings it. */
export const isOwnList = (name: string): boolean => ownListIn(name) !== undefined || zoteroIn(name) !== undefined;
