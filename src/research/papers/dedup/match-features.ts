import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { authorsOf, partsOfName, surnameOf } from "../authors.js";
import { isGroupName } from "../person-name.js";
import { normalTitle } from "../normalise-title.js";
import { arxivKey } from "../identifiers.js";
import type { PaperFacts, TitledPaper } from "../paper-record.js";
import { parseReference } from "../reference.js";
import { type TitleParts, titleParts } from "./title-match.js";
import { type CorrectionPlace, correctionPlaces, type JournalPlace, placeOf } from "./published-place.js";
import { isPreprintServer, type Venue, venueOf } from "./venue.js";

/** What tells one record from another, computed once a record. */
export interface MatchFeatures {
  readonly title?: TitleParts;
  /**
   * "doi 10.1000/x", "arxiv 2401.12345", "pmid 1": two records that share one are one work, unless their titles say
   * otherwise.
   */
  readonly keys: readonly string[];
  /** DOIs of publishers, without what numbers their versions. */
  readonly published: readonly string[];
  readonly arxiv?: string;
  readonly pmid?: string;
  readonly authors: Authors;
  readonly year?: number;
  /**
   * It lies on a server for preprints, whether or not it was published elsewhere since; its year may be that of the
   * preprint.
   */
  readonly preprint: boolean;
  readonly notice: boolean;
  readonly venue?: Venue;
  readonly place: JournalPlace;
  /** Corrections of it that its own record names: where they stand, or their DOIs. */
  readonly corrections: {
    readonly places: readonly CorrectionPlace[];
    /** It has one more than `places` tells, since its title is cut. */
    readonly more: boolean;
    readonly dois: readonly string[];
  };
}

export interface Authors {
  readonly known: boolean;
  readonly count: number;
  /** Only groups are named, such as "ATLAS Collaboration", and no person. */
  readonly group: boolean;
  /** All words of all names, initials left out; whichever way names are written, these agree. */
  readonly words: ReadonlySet<string>;
  readonly first: ReadonlySet<string>;
  readonly surname?: string;
  /** First letter of the first author's given name. */
  readonly initial?: string;
}

const preprintDoi =
  /^10\.(?:48550\/|1101\/(?:\d{4}\.\d\d\.\d\d\.)?\d{6,}|64898\/|21203\/|2139\/ssrn|20944\/|31234\/|31235\/|31219\/|31223\/|26434\/|36227\/|22541\/|5281\/zenodo|33774\/|2196\/preprints|7287\/peerj\.preprints|32388\/)/;

export const isPreprintDoi = (doi: string): boolean => preprintDoi.test(doi);

/**
 * A DOI without what numbers the versions of one work, "10.1002/14651858.CD002273.pub2",
 * "10.26434/chemrxiv-2021-abc-v2", or the parts of it: "10.1371/journal.pone.0000001.s001".
 */
export const doiStem = (doi: string): string =>
  doi
    .replace(/(?:\.pub|[./-]v)\d{1,2}$|(?<=\d)(?:\.[gst]\d{3}|\/(?:supp|table|fig)-\d{1,3})$/, "")
    .replace(/^(10\.12688\/[a-z\d]+\.\d+)\.\d+$/, "$1");

export function matchFeaturesOf(paper: TitledPaper): MatchFeatures {
  const { identifiers, kind } = paper;
  const named = references(paper);
  const dois = named.flatMap((each) => (each.kind === "doi" ? [each.doi] : []));
  const id = named.find((each) => each.kind === "arxiv")?.id;
  const arxiv = id === undefined ? undefined : arxivKey(id);
  const linked = [...(paper.otherVersions ?? []), ...(paper.other_versions ?? [])]
    .map(({ doi }) => asKey(doi))
    .filter((key) => key !== undefined);
  const published = dois.filter((doi) => !isPreprintDoi(doi)).map(doiStem);
  const title = titleParts(paper.title, paper.venue);
  const venue = venueOf(paper.venue);
  const year = yearOf(paper.date);
  const onServer = paper.venue != null && isPreprintServer(paper.venue);
  return {
    ...withoutUndefined({ title }),
    keys: [
      ...new Set([
        ...dois.map((doi) => `doi ${doi}`),
        ...linked,
        ...(arxiv === undefined ? [] : [`arxiv ${arxiv}`]),
        ...(["pmid", "pmcid", "openalex", "s2"] as const).flatMap((name) =>
          identifiers?.[name] ? [`${name} ${identifiers[name]}`] : [],
        ),
        ...cochraneKey(dois, paper),
        ...(/^(?:arxiv|doi)_/.test(paper.id ?? "") ? [`id ${paper.id}`] : []),
      ]),
    ],
    published: [...new Set(published)],
    ...withoutUndefined({ arxiv }),
    ...(identifiers?.pmid ? { pmid: identifiers.pmid } : {}),
    authors: authorTraits(paper.authors),
    ...withoutUndefined({ year }),
    preprint: kind === "preprint" || onServer || arxiv !== undefined || (published.length === 0 && dois.length > 0),
    notice: kind === "notice" || title?.notice === true,
    // A preprint's venue is what its authors wrote: "Phys.Rev.D76:013009,2007".
    ...(venue === undefined || onServer || kind === "preprint" ? {} : { venue }),
    place: placeOf(paper),
    corrections: {
      ...correctionPlaces(paper.title),
      dois: (paper.updates ?? []).flatMap(({ type, notice }) =>
        notice !== undefined && (type === "correction" || type === "addendum") ? [notice.toLowerCase()] : [],
      ),
    },
  };
}

/** Two records can be the same work only if they share one of these. */
export function blockKeys({ keys, title, authors, place: { volume, pages }, year }: MatchFeatures): string[] {
  const stems = keys.filter((key) => key.startsWith("doi ")).map((key) => `stem ${doiStem(key.slice(4))}`);
  if (title === undefined) return [...keys, ...stems];
  const isPlaced = volume !== undefined && pages !== undefined && year !== undefined;
  const who = authors.surname ?? "";
  const telling = title.words.filter((word) => word.length > 3);
  return [
    ...keys,
    ...stems,
    // Half of all editorials would stand in one block.
    `title ${title.compact}${title.generic || title.short ? ` ${who}` : ""}`,
    ...title.within.map((part) => `title ${part}`),
    ...(title.bare === undefined ? [] : [`title ${title.bare}`]),
    ...(isPlaced ? [`place ${volume.numbers[0]} ${pages.first} ${year}`] : []),
    // Spelling leaves first letters, and subtitles first words, as they are.
    ...(title.words.length < 4
      ? []
      : [`letters ${title.initials} ${who}`, `words ${telling.slice(0, 3).join(" ")} ${who}`]),
  ];
}

function references({ identifiers, url, pdf_url }: PaperFacts) {
  const doi = identifiers?.doi == null ? undefined : doiWithin(identifiers.doi);
  const names = [doi, identifiers?.arxiv, url, pdf_url].filter((name) => typeof name === "string");
  // Anything else would be looked for on this machine's disk.
  return names
    .filter((name) => /^(?:https?:|doi:|arxiv:|10\.|\d{4}\.\d|[a-z.-]+\/\d{7})/i.test(name))
    .map((name) => parseReference(unescaped(name)));
}

/**
 * The DOI in what a database gives as one: PubMed's "S0140(09)1 [pii] 10.1000/x [doi]", a publisher's address of the
 * full text, the hyphens of another font.
 */
function doiWithin(text: string): string {
  const plain = text
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replace(/&#(4[01]);/g, (_, code: string) => String.fromCharCode(Number(code)));
  const doi = /10\.\d{4,9}(?:\.\d+)*(?:\/|%2f)[^\s|]+/i.exec(plain)?.[0];
  return doi?.replace(/(?<=\d|\p{L})\/(?:full|pdf|epdf|abstract|html|meta)$/iu, "") ?? plain;
}

const entities: Readonly<Record<string, string>> = { "&lt;": "<", "&gt;": ">", "&amp;": "&" };

/** Old DOIs carry brackets and angles, which sources escape each in its own way. */
const unescaped = (name: string): string =>
  name.startsWith("10.")
    ? name
        .replace(/%(?:2[389abcf]|3[a-f]|5[bd])/gi, decodeURIComponent)
        .replace(/&(?:lt|gt|amp);/g, (entity) => entities[entity] ?? entity)
    : name;

/** A review of the Cochrane Library has one number through all its updates, in its DOI or in place of pages. */
function cochraneKey(dois: readonly string[], { venue, pages }: TitledPaper): string[] {
  const isThere = dois.some((doi) => doi.startsWith("10.1002/14651858.")) || /cochrane/i.test(venue ?? "");
  const number = isThere ? /\bcd\d{6}\b/i.exec(`${dois.join(" ")} ${pages ?? ""}`)?.[0] : undefined;
  return number === undefined ? [] : [`cochrane ${number.toLowerCase()}`];
}

function asKey(doi: string): string | undefined {
  const reference = /^(?:https?:|doi:|10\.)/i.test(doi) ? parseReference(doi) : undefined;
  if (reference?.kind === "arxiv") return `arxiv ${arxivKey(reference.id)}`;
  return reference?.kind === "doi" ? `doi ${reference.doi}` : undefined;
}

/** "[Anon]", "Anonymous,", "[No authors listed]", and what ends a list that was cut. */
const noName =
  /^[^\p{L}\d]*(?:unknown|anonymous|anon|n\/?a|none|no authors?(?: (?:listed|given|named))?|et al|and others|others)?[^\p{L}\d]*$/iu;

function authorTraits(authors: PaperFacts["authors"]): Authors {
  const names = authorsOf(authors).filter((name) => !noName.test(name));
  const [first] = names;
  if (first === undefined) return { known: false, count: 0, group: false, words: new Set(), first: new Set() };
  const words = names.map((name) => wordsOf(name).filter((word) => word.length > 1));
  const surname = folded(surnameOf(first) ?? "") || undefined;
  const forename = first.includes(",")
    ? first.slice(first.indexOf(",") + 1)
    : (partsOfName(first).initials ?? first.trim().replace(/\s*\S+$/, ""));
  return {
    known: true,
    count: names.length,
    group: names.every(isGroupName),
    words: new Set(words.flat()),
    first: new Set(words[0]),
    ...withoutUndefined({ surname, initial: wordsOf(forename)[0]?.[0] }),
  };
}

function wordsOf(name: string): readonly string[] {
  const words = normalTitle(name).split(" ").filter(Boolean);
  return words.some((word) => word.includes("e")) ? words.map(folded).filter(Boolean) : words;
}

/** "Mueller" as "muller": umlauts are written out by some and lose their dots with others. */
const folded = (word: string): string => word.replace(/([aou])e/g, "$1");

export function yearOf(date: string | null | undefined): number | undefined {
  const year = /\b(?:1[89]|20)\d\d\b/.exec(date ?? "")?.[0];
  return year === undefined ? undefined : Number(year);
}
