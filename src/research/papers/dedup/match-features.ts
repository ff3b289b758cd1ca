import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { withoutReferences } from "../../../text/entities.js";
import { authorsOf, partsOfName, surnameOf } from "../authors.js";
import { isGroupName } from "../person-name.js";
import { normalTitle } from "../normalise-title.js";
import { arxivKey } from "../identifiers.js";
import type { PaperFacts, TitledPaper } from "../paper-record.js";
import { parseReference } from "../reference.js";
import { type TitleParts, titleParts } from "./title-match.js";
import { type CorrectionPlace, correctionPlaces, type JournalPlace, placeOf } from "./published-place.js";
import { isPreprintServer, type Venue, venueOf } from "./venue.js";

/** The features by which records are compared, computed once for each record. */
export interface MatchFeatures {
  readonly title?: TitleParts;
  /**
   * Identifiers such as "doi 10.1000/x", "arxiv 2401.12345", "pmid 1". Records with a common key are one work, unless
   * their titles differ.
   */
  readonly keys: readonly string[];
  /** DOIs of publishers, without version numbers. */
  readonly publisherDois: readonly string[];
  readonly arxiv?: string;
  readonly pmid?: string;
  readonly authors: Authors;
  readonly year?: number;
  /**
   * Whether it is on a preprint server, even if it was published later. Its year may be that of the preprint.
   */
  readonly isPreprint: boolean;
  readonly isNotice: boolean;
  readonly venue?: Venue;
  readonly place: JournalPlace;
  /** Corrections that the record names, by their places or DOIs. */
  readonly corrections: {
    readonly places: readonly CorrectionPlace[];
    /** Whether it has more corrections than `places`, because its title is cut. */
    readonly hasMore: boolean;
    readonly dois: readonly string[];
  };
}

export interface Authors {
  readonly isKnown: boolean;
  readonly count: number;
  /** Whether only groups are named, such as "ATLAS Collaboration", and no person. */
  readonly isGroup: boolean;
  /** All words of all names without initials. They are equal in all formats of names. */
  readonly words: ReadonlySet<string>;
  readonly firstAuthorWords: ReadonlySet<string>;
  readonly surname?: string;
  /** First letter of the first author's given name. */
  readonly initial?: string;
}

const preprintDoi =
  /^10\.(?:48550\/|1101\/(?:\d{4}\.\d\d\.\d\d\.)?\d{6,}|64898\/|21203\/|2139\/ssrn|20944\/|31234\/|31235\/|31219\/|31223\/|26434\/|36227\/|22541\/|5281\/zenodo|33774\/|2196\/preprints|7287\/peerj\.preprints|32388\/)/;

export const isPreprintDoi = (doi: string): boolean => preprintDoi.test(doi);

/**
 * A DOI without the number of a version ("10.1002/14651858.CD002273.pub2", "10.26434/chemrxiv-2021-abc-v2") or of a
 * part ("10.1371/journal.pone.0000001.s001").
 */
export const doiStem = (doi: string): string =>
  doi
    .replace(/(?:\.pub|[./-]v)\d{1,2}$|(?<=\d)(?:\.[gst]\d{3}|\/(?:supp|table|fig)-\d{1,3})$/, "")
    .replace(/^(10\.12688\/[a-z\d]+\.\d+)\.\d+$/, "$1");

export function matchFeaturesOf(paper: TitledPaper): MatchFeatures {
  const { identifiers, kind } = paper;
  const paperReferences = references(paper);
  const dois = paperReferences.flatMap((reference) => (reference.kind === "doi" ? [reference.doi] : []));
  const id = paperReferences.find((reference) => reference.kind === "arxiv")?.id;
  const arxiv = id === undefined ? undefined : arxivKey(id);
  const linkedKeys = [...(paper.otherVersions ?? []), ...(paper.other_versions ?? [])]
    .map(({ doi }) => doiKey(doi))
    .filter((key) => key !== undefined);
  const publisherDois = dois.filter((doi) => !isPreprintDoi(doi)).map(doiStem);
  const title = titleParts(paper.title, paper.venue);
  const venue = venueOf(paper.venue);
  const year = yearOf(paper.date);
  const isOnPreprintServer = paper.venue != null && isPreprintServer(paper.venue);
  return {
    ...withoutUndefined({ title }),
    keys: [
      ...new Set([
        ...dois.map((doi) => `doi ${doi}`),
        ...linkedKeys,
        ...(arxiv === undefined ? [] : [`arxiv ${arxiv}`]),
        ...(["pmid", "pmcid", "openalex", "s2"] as const).flatMap((name) =>
          identifiers?.[name] ? [`${name} ${identifiers[name]}`] : [],
        ),
        ...cochraneKey(dois, paper),
        ...(/^(?:arxiv|doi)_/.test(paper.id ?? "") ? [`id ${paper.id}`] : []),
      ]),
    ],
    publisherDois: [...new Set(publisherDois)],
    ...withoutUndefined({ arxiv }),
    ...(identifiers?.pmid ? { pmid: identifiers.pmid } : {}),
    authors: authorFeatures(paper.authors),
    ...withoutUndefined({ year }),
    isPreprint:
      kind === "preprint" ||
      isOnPreprintServer ||
      arxiv !== undefined ||
      (publisherDois.length === 0 && dois.length > 0),
    isNotice: kind === "notice" || title?.isNotice === true,
    // A preprint's venue is a text of its authors: "Phys.Rev.D76:013009,2007".
    ...(venue === undefined || isOnPreprintServer || kind === "preprint" ? {} : { venue }),
    place: placeOf(paper),
    corrections: {
      ...correctionPlaces(paper.title),
      dois: (paper.updates ?? []).flatMap(({ type, notice }) =>
        notice !== undefined && (type === "correction" || type === "addendum") ? [notice.toLowerCase()] : [],
      ),
    },
  };
}

/** Keys for blocking: only records with a common key are compared. */
export function blockKeys({ keys, title, authors, place: { volume, pages }, year }: MatchFeatures): string[] {
  const stems = keys.filter((key) => key.startsWith("doi ")).map((key) => `stem ${doiStem(key.slice(4))}`);
  if (title === undefined) return [...keys, ...stems];
  const hasPlace = volume !== undefined && pages !== undefined && year !== undefined;
  const surname = authors.surname ?? "";
  const longWords = title.words.filter((word) => word.length > 3);
  return [
    ...keys,
    ...stems,
    // With the surname, because otherwise all editorials would be in one block.
    `title ${title.compact}${title.isGeneric || title.isShort ? ` ${surname}` : ""}`,
    ...title.innerTitles.map((part) => `title ${part}`),
    ...(title.withoutAbbreviations === undefined ? [] : [`title ${title.withoutAbbreviations}`]),
    ...(hasPlace ? [`place ${volume.numbers[0]} ${pages.first} ${year}`] : []),
    // Other spellings keep the first letters, and subtitles keep the first words.
    ...(title.words.length < 4
      ? []
      : [`letters ${title.initials} ${surname}`, `words ${longWords.slice(0, 3).join(" ")} ${surname}`]),
  ];
}

function references({ identifiers, url, pdf_url }: PaperFacts) {
  const doi = identifiers?.doi == null ? undefined : doiWithin(identifiers.doi);
  const names = [doi, identifiers?.arxiv, url, pdf_url].filter((name) => typeof name === "string");
  // Other texts are not parsed, because parsing may look for a file.
  return names
    .filter((name) => /^(?:https?:|doi:|arxiv:|10\.|\d{4}\.\d|[a-z.-]+\/\d{7})/i.test(name))
    .map((name) => parseReference(unescapeDoi(name)));
}

/**
 * The DOI in a database's field: PubMed's "S0140(09)1 [pii] 10.1000/x [doi]", a publisher's address of the full text,
 * or a DOI with other hyphens.
 */
function doiWithin(text: string): string {
  const cleanText = withoutReferences(text.replace(/[\u2010-\u2015\u2212]/g, "-"));
  const doi = /10\.\d{4,9}(?:\.\d+)*(?:\/|%2f)[^\s|]+/i.exec(cleanText)?.[0];
  return doi?.replace(/(?<=\d|\p{L})\/(?:full|pdf|epdf|abstract|html|meta)$/iu, "") ?? cleanText;
}

/** A DOI without escapes. Old DOIs contain brackets, which sources escape in several ways. */
const unescapeDoi = (name: string): string =>
  name.startsWith("10.") ? withoutReferences(name.replace(/%(?:2[389abcf]|3[a-f]|5[bd])/gi, decodeURIComponent)) : name;

/** The number of a Cochrane review, which is equal in all its updates. It is in the DOI or in the field for pages. */
function cochraneKey(dois: readonly string[], { venue, pages }: TitledPaper): string[] {
  const isCochrane = dois.some((doi) => doi.startsWith("10.1002/14651858.")) || /cochrane/i.test(venue ?? "");
  const number = isCochrane ? /\bcd\d{6}\b/i.exec(`${dois.join(" ")} ${pages ?? ""}`)?.[0] : undefined;
  return number === undefined ? [] : [`cochrane ${number.toLowerCase()}`];
}

function doiKey(doi: string): string | undefined {
  const reference = /^(?:https?:|doi:|10\.)/i.test(doi) ? parseReference(doi) : undefined;
  if (reference?.kind === "arxiv") return `arxiv ${arxivKey(reference.id)}`;
  return reference?.kind === "doi" ? `doi ${reference.doi}` : undefined;
}

/** Texts for missing names, such as "[Anon]" or "[No authors listed]", and the end of a cut list, such as "et al". */
const missingName =
  /^[^\p{L}\d]*(?:unknown|anonymous|anon|n\/?a|none|no authors?(?: (?:listed|given|named))?|et al|and others|others)?[^\p{L}\d]*$/iu;

/** A name in a script without spaces as one word, because some programs separate its parts: "山田, 太郎". */
const withoutSpaces = (name: string): string =>
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー・\s,]+$/u.test(name)
    ? name.replace(/[\s,]+/g, "")
    : name;

function authorFeatures(authors: PaperFacts["authors"]): Authors {
  const names = authorsOf(authors)
    .filter((name) => !missingName.test(name))
    .map(withoutSpaces);
  const [first] = names;
  if (first === undefined)
    return { isKnown: false, count: 0, isGroup: false, words: new Set(), firstAuthorWords: new Set() };
  const words = names.map((name) => wordsOf(name).filter((word) => word.length > 1));
  const surname = withoutUmlautE(surnameOf(first) ?? "") || undefined;
  const forename = first.includes(",")
    ? first.slice(first.indexOf(",") + 1)
    : (partsOfName(first).initials ?? first.trim().replace(/\s*\S+$/, ""));
  return {
    isKnown: true,
    count: names.length,
    isGroup: names.every(isGroupName),
    words: new Set(words.flat()),
    firstAuthorWords: new Set(words[0]),
    ...withoutUndefined({ surname, initial: wordsOf(forename)[0]?.[0] }),
  };
}

function wordsOf(name: string): readonly string[] {
  const words = normalTitle(name).split(" ").filter(Boolean);
  return words.some((word) => word.includes("e")) ? words.map(withoutUmlautE).filter(Boolean) : words;
}

/** Makes "Mueller" and "Müller" equal: both become "muller". */
const withoutUmlautE = (word: string): string => word.replace(/([aou])e/g, "$1");

export function yearOf(date: string | null | undefined): number | undefined {
  const year = /\b(?:1[89]|20)\d\d\b/.exec(date ?? "")?.[0];
  return year === undefined ? undefined : Number(year);
}
