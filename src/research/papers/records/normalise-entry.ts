import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { withoutReferences } from "../../../text/entities.js";
import { identifiersFrom, retractionInTitle } from "../identifiers.js";
import { partsOfName } from "../authors.js";
import { isGroupName, looksLikePerson } from "../person-name.js";
import type { Identifiers, Publication } from "../paper-record.js";
import { decisionInOwnNotes, isMarkedRetracted, withoutOwnNotes } from "../export/own-notes.js";
import { doisInAddress, parseReference } from "../reference.js";
import { dateOf } from "../../../text/dates.js";
import { type Entry, isStandalone, type RawEntry } from "./entry.js";

const maxAuthors = 200;
const maxTitleChars = 1000;
const maxAbstractChars = 20_000;
const maxShortChars = 300;
const maxPlaceChars = 40;
const maxKeywords = 60;
const maxNoteChars = 5_000;

/** The title of a record without a title. It is not compared with other titles. */
export const untitled = "[No title]";

/**
 * Normalises a record; undefined if it has neither title, author nor identifier. `key`: its name in messages.
 */
export function entryOf(raw: RawEntry, key: string, ownKey?: string): Entry | undefined {
  // The Cochrane Library writes the address of a trial in place of the journal.
  const hasVenue = !isWebAddress(raw.venue ?? "");
  const urls = [...(hasVenue ? [] : [raw.venue ?? ""]), ...(raw.urls ?? [])]
    .map((candidate) => candidate.trim().replace(/^(?=(?:[a-z\d-]+\.)+[a-z]{2,}\/|www\.)/i, "http://"))
    .filter(isWebAddress);
  const [authors, editors] = [namesIn(raw.authors ?? []), namesIn(raw.editors ?? [])];
  const identifiers = identifiersIn(raw, urls);
  const isKnown = authors.names.length > 0 || urls.length > 0 || Object.keys(identifiers).length > 0;
  const title = plainText(raw.title, maxTitleChars) ?? (isKnown ? untitled : undefined);
  if (title === undefined) return undefined;
  const type = typeOf(raw, identifiers);
  // The venue of a book or a report is its series.
  const isStandaloneWork = isStandalone(type);
  const publication = {
    ...publicationOf(isStandaloneWork ? { ...raw, series: raw.series ?? raw.venue } : raw),
    ...(editors.names.length === 0 ? {} : { editors: editors.names }),
    ...(authors.groups.length + editors.groups.length === 0
      ? {}
      : { groups: [...new Set([...authors.groups, ...editors.groups])] }),
  };
  const files = (raw.files ?? []).filter((file) => file.trim() !== "");
  return {
    key,
    title,
    authors: authors.names,
    identifiers,
    ...withoutUndefined({
      date: dateOf(raw.dates ?? [], raw.day),
      venue: isStandaloneWork || !hasVenue ? undefined : plainText(raw.venue, maxShortChars),
      volume: arxivInVolume.test(raw.volume ?? "") ? undefined : placeIn(raw.volume),
      issue: placeIn(raw.issue),
      pages: pagesOf(raw),
      abstract: abstractOf(raw.abstract),
      url: urls[0] === undefined ? undefined : new URL(urls[0]).href,
      type,
      retracted: retractionOf(raw, title),
      ownKey: plainText(ownKey, maxShortChars),
      database: plainText(raw.database, maxShortChars),
      publication: Object.keys(publication).length === 0 ? undefined : publication,
      files: files.length === 0 ? undefined : files,
    }),
  };
}

/** The type. Many programs call a paper on a preprint server a web page, or an article in the journal "bioRxiv". */
function typeOf({ type, venue, publisher }: RawEntry, { arxiv }: Identifiers): RawEntry["type"] {
  const isOnServer = /^\s*(?:arxiv|biorxiv|medrxiv|corr)\b/i.test(venue ?? publisher ?? "");
  const isPreprint =
    (type === "web-page" && arxiv !== undefined) ||
    (isOnServer && (type === undefined || type === "journal-article" || type === "web-page"));
  return isPreprint ? "preprint" : type;
}

/** Whether a field, the title, or the mark in an export of this program says that the work is retracted. */
const retractionOf = ({ retracted, note = "" }: RawEntry, title: string): Entry["retracted"] =>
  retractionInTitle(title) ?? (retracted === true || isMarkedRetracted(note) ? "retraction" : undefined);

/** An arXiv id as DBLP writes it into the volume of "CoRR". */
const arxivInVolume = /^abs\/(\S+)$/;

/** Mark-up that citation formats allow in titles. It does not match a less-than sign. */
const markup =
  /<\/?(?:[biu]|em|strong|code|sub|sup|sc|span|scp|italic|bold|(?:jats|mml):[a-z-]{1,20})(?:\s[^<>]{0,100})?\/?>/gi;
/** Mark-up that separates parts of a text. */
const blockMarkup = /<\/?(?:jats:)?(?:p|br|div|[uo]l|li|h\d|title|sec|list|list-item)(?:\s[^<>]{0,100})?\/?>/gi;

/** One line without mark-up, cut to `maxChars` characters. */
function plainText(value: string | undefined, maxChars: number): string | undefined {
  const withoutMarkup = (value ?? "")
    // TeX puts accents on the dotless i.
    .replace(/ı(?=[\u0300-\u030f])/g, "i")
    .normalize("NFC")
    // Mathematical letters, such as the italic one in "μm".
    .replace(/[\u{1d400}-\u{1d7ff}]/gu, (letter) => letter.normalize("NFKC"))
    .replace(blockMarkup, " ")
    .replace(markup, "");
  // Mark-up may be escaped, as Crossref does in BibTeX; and signs may be escaped twice.
  const decoded = withoutMarkup.includes("&")
    ? withoutReferences(withoutReferences(withoutMarkup)).replace(blockMarkup, " ").replace(markup, "")
    : withoutMarkup;
  const text = decoded.replace(/\s+/g, " ").trim();
  return text === "" ? undefined : text.slice(0, maxChars);
}

/** The abstract; undefined for "[No abstract available]" of Scopus and PsycInfo. */
function abstractOf(value: string | undefined): string | undefined {
  const text = plainText(value, maxAbstractChars);
  return /^\W?no abstract(?: (?:is )?available)?\W{0,2}$/i.test(text ?? "") ? undefined : text;
}

/** Texts in files instead of unknown or omitted authors. */
const missingAuthor =
  /^(?:others|et al\.?|&na;?|\[?anonymous\]?\.?|\[?no (?:authors?|author name|authorship),? (?:listed|available|indicated)\]?\.?|n\/?a|null|undefined)$/i;

/**
 * The distinct names in these values, in their order, and those of groups that look like names of persons. A value may
 * contain several names, separated by semicolons or lines.
 */
function namesIn(values: readonly string[]): { readonly names: readonly string[]; readonly groups: readonly string[] } {
  const markedNames = values
    .flatMap((value) => withoutReferences(value).split(/[;\n]/))
    .flatMap(separatePersons)
    .map((name) => (plainText(name, maxShortChars) ?? "").replace(/^and\s/i, ""))
    // The number with which DBLP distinguishes persons of one name.
    .map((name) => name.replace(/(?<=\p{L}) 0\d{3}(?=,|$)/u, ""));
  const names = markedNames
    .map((marked) => ({
      marked,
      name: marked
        .replace(/(?<![\s,…])[\s,…]+$/, "")
        .replace(/,(?=\S)/g, ", ")
        .trim(),
    }))
    // arXiv writes "OpenAI and : and Ann Lo".
    .filter(({ name }) => /[\p{L}\p{N}]/u.test(name) && !missingAuthor.test(name));
  const isGroup = ({ marked, name }: (typeof names)[number]) =>
    marked.endsWith(",") && !/,/.test(name) && partsOfName(name).initials === undefined && looksLikePerson(name);
  return {
    names: [...new Set(names.map(({ name }) => name))].slice(0, maxAuthors),
    groups: [...new Set(names.filter(isGroup).map(({ name }) => name))],
  };
}

/** The persons in a list such as "Sample A, Example BC" or "Sample, Ann and Example, Bob"; or the name itself. */
function separatePersons(name: string): readonly string[] {
  if (!/, | and /.test(name) || isGroupName(name)) return [name];
  const parts = name.split(", ");
  if (parts.every((part) => partsOfName(part).initials !== undefined)) return parts;
  const joined = name.split(" and ");
  return joined.every((part) => part.split(",").length === 2) ? joined : [name];
}

function publicationOf(raw: RawEntry): Publication {
  const numbers = (raw.numbers ?? []).flatMap((value) => value.split(/[;,\n]/)).map((value) => value.trim());
  const keywords = keywordsIn(raw);
  return withoutUndefined({
    publisher: plainText(raw.publisher, maxShortChars),
    place: plainText(raw.place, maxShortChars),
    // EndNote has the date of the online version in this field.
    edition: /^\d{4}[-/]?\d\d[-/]?\d\d\b/.test(raw.edition ?? "") ? undefined : plainText(raw.edition, maxPlaceChars),
    series: plainText(raw.series, maxShortChars),
    isbn: numbers.map(isbnIn).find((candidate) => candidate !== undefined),
    issn: numbers.map(issnIn).find((candidate) => candidate !== undefined),
    language: plainText(raw.language, maxPlaceChars),
    keywords: keywords.length === 0 ? undefined : keywords.slice(0, maxKeywords),
    note: plainText(withoutOwnNotes(raw.note ?? ""), maxNoteChars),
    accession: plainText(raw.accession, 100),
  });
}

/** The distinct keywords, without the decision that this program's exports have before them. */
function keywordsIn({ keywords = [], note = "" }: RawEntry): string[] {
  const words = keywords.flatMap((word) => plainText(word.replaceAll("*", ""), maxShortChars) ?? []);
  const isDecision = words[0] !== undefined && words[0] === decisionInOwnNotes(note);
  return [...new Set(isDecision ? words.slice(1) : words)];
}

/** An ISBN: ten or thirteen digits, with or without hyphens. */
function isbnIn(value: string): string | undefined {
  const isbn = /(?<![\dX])(?:97[89][- ]?)?\d(?:[- ]?\d){8}[- ]?[\dxX](?![\dX])/.exec(value)?.[0];
  return isbn?.trim();
}

function issnIn(value: string): string | undefined {
  const [, first, last] = /\b(\d{4})-?(\d{3}[\dxX])\b(?!-?\d)/.exec(value) ?? [];
  return first === undefined ? undefined : `${first}-${last}`;
}

/** A volume or an issue; undefined for "n/a". */
const placeIn = (value: string | undefined): string | undefined =>
  /^n\/?a$/i.test(value?.trim() ?? "") ? undefined : plainText(value, maxPlaceChars);

/** The range of pages, "12-34". The field for the first page may already contain the range. */
function pagesOf({ pages, lastPage }: RawEntry): string | undefined {
  const [first, last] = [pageIn(pages), pageIn(lastPage)];
  if (first === undefined || last === undefined || first === last || /[-‐-―−]/.test(first))
    return first?.replace(/(?<!\s)\s*[-‐-―−]+\s*/g, "-") ?? last;
  return `${first}-${last}`;
}

/** A page or a range; undefined for "no pagination", "+", and for the arXiv id that ADS writes into this field. */
function pageIn(value: string | undefined): string | undefined {
  const text = plainText(value, maxPlaceChars)
    ?.replace(/^pp?\.\s*/i, "")
    .replace(/(?<![-‐-―−+\s])[-‐-―−+\s]+$/, "");
  return text !== undefined && /\d|^[ivxlcdm]+\b/i.test(text) && !isArxiv(text) ? text : undefined;
}

const isArxiv = (value: string): boolean => /^arxiv:/i.test(value);

const isWebAddress = (url: string): boolean => /^https?:\/\//i.test(url) && URL.canParse(url);

/** The identifiers of the work from all fields: the most reliable field first, then the addresses. */
function identifiersIn(raw: RawEntry, urls: readonly string[]): Identifiers {
  const arxivInPlace = [
    /\barxiv:?\s*(\d{4}\.\d{4,5}(?:v\d+)?|[a-z-]+(?:\.[a-z]{2})?\/\d{7})/i.exec(raw.venue ?? "")?.[1],
    arxivInVolume.exec(raw.volume ?? "")?.[1],
    [raw.pages ?? ""].find(isArxiv),
  ].filter((value) => value !== undefined);
  const names = [...(raw.arxiv ?? []), ...arxivInPlace, ...(raw.dois ?? []), ...urls].map(identifierIn);
  const firstOfKind = <Kind extends "doi" | "arxiv">(kind: Kind) =>
    names.flatMap((name) => (name?.kind === kind ? [name] : []))[0] as
      | Extract<NonNullable<ReturnType<typeof identifierIn>>, { kind: Kind }>
      | undefined;
  const addresses = urls.map((url) => parseReference(url));
  // Reference managers write identifiers without a field of the format into the note.
  const inNote = (pattern: RegExp) => pattern.exec(withoutOwnNotes(raw.note ?? ""))?.[1];
  return identifiersFrom({
    doi: firstOfKind("doi")?.doi,
    arxiv: firstOfKind("arxiv")?.id,
    pmid:
      raw.pmid ??
      addresses.find((address) => address.kind === "pmid")?.pmid ??
      inNote(/\bPMID:\s?(?:NLM)?(\d{1,9})\b/i),
    pmcid:
      raw.pmcid ?? addresses.find((address) => address.kind === "pmcid")?.pmcid ?? inNote(/\bPMCID:\s?(PMC\d{1,9})\b/i),
  });
}

/** The DOI of a record in the CENTRAL register of the Cochrane Library. It is not a DOI of the work. */
const centralDoi = /^10\.1002\/central\//i;

/** The DOI or arXiv id in a value; also a DOI in a sentence, in a publisher's address, or before another one. */
function identifierIn(
  value: string,
): Extract<ReturnType<typeof parseReference>, { kind: "doi" | "arxiv" }> | undefined {
  const text = value.trim();
  const inText = /\b(?:doi\b[\s:]{0,3}|doi\.org\/|\/doi\/(?:[a-z]{2,8}\/)?)(10\.\d{4,9}\/[^\s"<>]{1,200})/i.exec(
    text,
  )?.[1];
  const beforeAnother = /^(\S+?)(?:[;,|]\s|\s[[(;|])/.exec(text)?.[1];
  for (const name of [text, inText, beforeAnother, doiInAddress(text)]) {
    if (name === undefined || !/10\.\d{4,9}|\d{4}\.\d{4,5}|\/\d{7}/.test(name)) continue;
    const reference = parseReference(name);
    if ((reference.kind === "doi" && !centralDoi.test(reference.doi)) || reference.kind === "arxiv") return reference;
  }
  return undefined;
}

/** The DOI in a web address, if it is certain where it ends: nothing follows that could belong to it or not. */
function doiInAddress(text: string): string | undefined {
  const dois = isWebAddress(text) ? doisInAddress(text) : [];
  return dois.every((doi) => doi.split("/").length === 2) ? dois.at(-1) : undefined;
}
