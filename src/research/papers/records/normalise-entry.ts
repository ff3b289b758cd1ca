import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { withoutReferences } from "../../../text/entities.js";
import { identifiersFrom } from "../identifiers.js";
import type { Identifiers, Publication } from "../paper-record.js";
import { withoutOwnNotes } from "../export/own-notes.js";
import { parseReference } from "../reference.js";
import { dateOf } from "../../../text/dates.js";
import { type Entry, isWhole, type RawEntry } from "./entry.js";

const maxAuthors = 200;
const maxTitle = 1000;
const maxAbstract = 20_000;
const maxShort = 300;
const maxPlace = 40;
const maxKeywords = 60;
const maxNote = 5_000;

/** As it stands for the title of a record that has none; it is compared with no other title. */
export const untitled = "[No title]";

/**
 * A record in the form of this house; undefined where it has neither title, author nor identifier. `key`: how messages
 * name it.
 */
export function entryOf(raw: RawEntry, key: string, ownKey?: string): Entry | undefined {
  const urls = (raw.urls ?? []).map((each) => each.trim()).filter(isWebAddress);
  const authors = namesIn(raw.authors ?? []);
  const identifiers = identifiersIn(raw, urls);
  const isKnown = authors.length > 0 || urls.length > 0 || Object.keys(identifiers).length > 0;
  const title = plain(raw.title, maxTitle) ?? (isKnown ? untitled : undefined);
  if (title === undefined) return undefined;
  // A book or a report stands in a series.
  const isOwn = isWhole(raw.type);
  const publication = publicationOf(isOwn ? { ...raw, series: raw.series ?? raw.venue } : raw);
  const files = (raw.files ?? []).filter((file) => file.trim() !== "");
  return {
    key,
    title,
    authors,
    identifiers,
    ...withoutUndefined({
      date: dateOf(raw.dates ?? [], raw.day),
      venue: isOwn ? undefined : plain(raw.venue, maxShort),
      volume: placeIn(raw.volume),
      issue: placeIn(raw.issue),
      pages: pagesOf(raw),
      abstract: abstractOf(raw.abstract),
      url: urls[0] === undefined ? undefined : new URL(urls[0]).href,
      // Better BibTeX and others write what stands on arXiv as a web page.
      type: raw.type === "web-page" && identifiers.arxiv !== undefined ? "preprint" : raw.type,
      ownKey: plain(ownKey, maxShort),
      database: plain(raw.database, maxShort),
      publication: Object.keys(publication).length === 0 ? undefined : publication,
      files: files.length === 0 ? undefined : files,
    }),
  };
}

/** Mark-up that citation formats allow in titles, and nothing that could be a sign of less. */
const markup = /<\/?(?:[biu]|em|strong|code|sub|sup|sc|span|scp|italic|bold|jats:[a-z]{1,12})(?:\s[^<>]{0,100})?>/gi;

/** One line without mark-up, cut at `most` characters. */
function plain(value: string | undefined, most: number): string | undefined {
  const bare = (value ?? "")
    // TeX sets an accent over the i that has no dot.
    .replace(/ı(?=[\u0300-\u030f])/g, "i")
    .normalize("NFC")
    // Letters of formulas: the italic one of "μm".
    .replace(/[\u{1d400}-\u{1d7ff}]/gu, (letter) => letter.normalize("NFKC"))
    .replace(markup, "")
    .replace(/<\/?(?:p|br|div|[uo]l|li)(?:\s[^<>]{0,100})?\/?>/gi, " ");
  // Mark-up may be escaped, as Crossref does in BibTeX.
  const decoded = bare.includes("&") ? withoutReferences(bare).replace(markup, "") : bare;
  const text = decoded.replace(/\s+/g, " ").trim();
  return text === "" ? undefined : text.slice(0, most);
}

/** Scopus and PsycInfo write "[No abstract available]" in its place. */
function abstractOf(value: string | undefined): string | undefined {
  const text = plain(value, maxAbstract);
  return /^\W?no abstract(?: (?:is )?available)?\W{0,2}$/i.test(text ?? "") ? undefined : text;
}

/** What files write where they know no author, or leave some out. */
const nobody =
  /^(?:others|et al\.?|&na;?|\[?anonymous\]?\.?|\[?no (?:authors?|author name|authorship),? (?:listed|available|indicated)\]?\.?|n\/?a|null|undefined|-+|…)$/i;

/** Names of a list, each once, in its order; several in one value stand apart by semicolons or lines. */
function namesIn(values: readonly string[]): string[] {
  const names = values
    .flatMap((value) => withoutReferences(value).split(/[;\n]/))
    .map((name) => (plain(name, maxShort) ?? "").replace(/^and\s/i, ""))
    .map((name) => name.replace(/(?<![\s,])[\s,]+$/, "").trim())
    .filter((name) => name !== "" && !nobody.test(name));
  return [...new Set(names)].slice(0, maxAuthors);
}

function publicationOf(raw: RawEntry): Publication {
  const numbers = (raw.numbers ?? []).flatMap((value) => value.split(/[;,\n]/)).map((value) => value.trim());
  const keywords = [
    ...new Set((raw.keywords ?? []).flatMap((word) => plain(word.replaceAll("*", ""), maxShort) ?? [])),
  ];
  const editors = namesIn(raw.editors ?? []);
  return withoutUndefined({
    publisher: plain(raw.publisher, maxShort),
    place: plain(raw.place, maxShort),
    editors: editors.length === 0 ? undefined : editors,
    edition: plain(raw.edition, maxPlace),
    series: plain(raw.series, maxShort),
    isbn: numbers.map(isbnIn).find((each) => each !== undefined),
    issn: numbers.map((value) => /\b\d{4}-?\d{3}[\dxX]\b(?!-?\d)/.exec(value)?.[0]).find((each) => each !== undefined),
    language: plain(raw.language, maxPlace),
    keywords: keywords.length === 0 ? undefined : keywords.slice(0, maxKeywords),
    note: plain(withoutOwnNotes(raw.note ?? ""), maxNote),
    accession: plain(raw.accession, 100),
  });
}

/** Ten or thirteen digits, with or without hyphens. */
function isbnIn(value: string): string | undefined {
  const found = /(?<![\dX])(?:97[89][- ]?)?\d(?:[- ]?\d){8}[- ]?[\dxX](?![\dX])/.exec(value)?.[0];
  return found?.trim();
}

/** A volume, an issue or a page; publishers write "n/a" for what an article has not got yet. */
const placeIn = (value: string | undefined): string | undefined =>
  /^n\/?a$/i.test(value?.trim() ?? "") ? undefined : plain(value, maxPlace);

/** "12-34": a first page that is a range already holds the last. */
function pagesOf({ pages, lastPage }: RawEntry): string | undefined {
  const [first, last] = [placeIn(pages), placeIn(lastPage)];
  if (first === undefined || last === undefined || first === last || /[-‐-―−]/.test(first))
    return first?.replace(/(?<!\s)\s*[-‐-―−]+\s*/g, "-") ?? last;
  return `${first}-${last}`;
}

const isWebAddress = (url: string): boolean => /^https?:\/\//i.test(url) && URL.canParse(url);

/** What the work is called, wherever the file has it: the surest field first, then its addresses. */
function identifiersIn(raw: RawEntry, urls: readonly string[]): Identifiers {
  const names = [...(raw.arxiv ?? []), ...(raw.dois ?? []), ...urls].map(namedIn);
  const of = <Kind extends "doi" | "arxiv">(kind: Kind) =>
    names.flatMap((name) => (name?.kind === kind ? [name] : []))[0] as
      | Extract<NonNullable<ReturnType<typeof namedIn>>, { kind: Kind }>
      | undefined;
  const inAddress = (pattern: RegExp) => urls.map((url) => pattern.exec(url)?.[1]).find((id) => id !== undefined);
  // Reference managers keep what a format has no field for as lines of a note.
  const inNote = (pattern: RegExp) => pattern.exec(withoutOwnNotes(raw.note ?? ""))?.[1];
  return identifiersFrom({
    doi: of("doi")?.doi,
    arxiv: of("arxiv")?.id,
    pmid:
      raw.pmid ??
      inAddress(/^https?:\/\/(?:www\.)?(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov\/pubmed)\/(\d{1,9})\b/i) ??
      inNote(/\bPMID:\s?(\d{1,9})\b/i),
    pmcid:
      raw.pmcid ??
      inAddress(
        /^https?:\/\/(?:www\.)?(?:pmc\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov\/pmc)\/articles\/(PMC\d{1,9})\b/i,
      ) ??
      inNote(/\bPMCID:\s?(PMC\d{1,9})\b/i),
  });
}

/** A value that is a DOI or an arXiv id, or names a DOI in a sentence or in a publisher's address. */
function namedIn(value: string): Extract<ReturnType<typeof parseReference>, { kind: "doi" | "arxiv" }> | undefined {
  const text = value.trim();
  const inText = /\b(?:doi\b[\s:]{0,3}|doi\.org\/|\/doi\/(?:[a-z]{2,8}\/)?)(10\.\d{4,9}\/[^\s"<>]{1,200})/i.exec(
    text,
  )?.[1];
  for (const name of [text, inText]) {
    if (name === undefined || !/10\.\d{4,9}|\d{4}\.\d{4,5}|\/\d{7}/.test(name)) continue;
    const reference = parseReference(name);
    if (reference.kind === "doi" || reference.kind === "arxiv") return reference;
  }
  return undefined;
}
