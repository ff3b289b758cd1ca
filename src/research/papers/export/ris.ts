import { addressOf } from "../identifiers.js";
import { type AuthorName, looksLikePerson } from "../person-name.js";
import { ownNotes } from "./own-notes.js";
import { type CitedWork, canHaveVolume, isStandalone, type WorkKind } from "./cited-work.js";

const types: Readonly<Record<WorkKind, string>> = {
  article: "JOUR",
  conference: "CPAPER",
  chapter: "CHAP",
  book: "BOOK",
  // The type CONF is not used, because databases use it for a conference paper.
  proceedings: "BOOK",
  thesis: "THES",
  masters: "THES",
  report: "RPRT",
  preprint: "UNPB",
  dataset: "DATA",
  software: "COMP",
  patent: "PAT",
  web: "ELEC",
  other: "GEN",
};

/** Names for kinds of works that a format does not distinguish. */
export const kindNames: Readonly<Partial<Record<WorkKind, string>>> = {
  masters: "Master's thesis",
  proceedings: "Proceedings",
};

/**
 * Works as RIS, for Zotero, EndNote and screening tools. Each value is on one line, because programs that read RIS may
 * join broken lines in the middle of a word. The decision and the tags of insights are keywords. Other facts about the
 * outcome are notes. `L1` is the PDF.
 */
export const risOf = (works: readonly CitedWork[]): string => works.map(entryOf).join("");

/** A RIS tag and its value. Tags without a value are left out. */
type Tag = readonly [name: string, value: string | undefined];

function entryOf(work: CitedWork): string {
  const { date = [], pages, publication } = work;
  const [first, last] = pages?.split(/ ?[-–—]+ ?/) ?? [];
  const hasVolume = canHaveVolume(work.kind);
  const tags: Tag[] = [
    ["TY", types[work.kind]],
    ...work.authors.map((name): Tag => ["AU", authorText(name)]),
    ...work.editors.map((name): Tag => ["ED", authorText(name)]),
    ["TI", work.title],
    ["AB", work.abstract],
    ...titleTags(work),
    ["VL", hasVolume ? work.volume : undefined],
    ["IS", hasVolume ? work.issue : undefined],
    ["SP", hasVolume ? first : undefined],
    ["EP", hasVolume ? last : undefined],
    ["PY", work.year === undefined ? undefined : String(work.year).padStart(4, "0")],
    ["DA", date.length > 1 ? `${date.map((part) => String(part).padStart(2, "0")).join("/")}` : undefined],
    ["PB", publication.publisher ?? (isStandalone(work.kind) ? work.venue : undefined)],
    ["CY", publication.place],
    ["ET", publication.edition],
    ["SN", publication.isbn],
    ["SN", publication.issn],
    ["LA", publication.language],
    ["M3", kindNames[work.kind]],
    ["DO", work.doi],
    ...accessionTags(work),
    // RIS has no tag for arXiv ids.
    ...[...new Set([work.url, work.arxiv && addressOf({ arxiv: work.arxiv })])].map((address): Tag => ["UR", address]),
    ["L1", work.pdf],
    ...[work.decision, ...work.tags, ...(publication.keywords ?? [])].map((word): Tag => ["KW", word]),
    ["N1", work.retracted ? "Retracted." : undefined],
    ["N1", publication.note],
    ...ownNotes(work).map((note): Tag => ["N1", note]),
    ["ID", work.key],
  ];
  const lines = tags.filter(([, value]) => value !== undefined && value !== "");
  return `${lines.map(([tag, value]) => `${tag}  - ${value}\r\n`).join("")}ER  - \r\n\r\n`;
}

/** The title of the venue and of the series. A work that is published by itself has no venue. */
const titleTags = ({ kind, venue, publication: { series } }: CitedWork): Tag[] =>
  isStandalone(kind)
    ? [["T2", series]]
    : [
        ["T2", venue],
        ["T3", series],
      ];

/** The accession number: the PubMed id, or another number without the name of its database. */
function accessionTags({ pmid, pmcid, publication }: CitedWork): Tag[] {
  return [
    ["DB", pmid === undefined ? undefined : "PubMed"],
    ["AN", pmid ?? publication.accession],
    ["C2", pmcid],
  ];
}

/**
 * A name as "van der Berg, Jan, Jr.". Commas in a group's name are removed, because programs split names at commas. A
 * comma after a group's name that could be that of a person says that it has no given name.
 */
function authorText(name: AuthorName): string {
  if ("literal" in name) {
    const text = withoutCommas(name.literal);
    return looksLikePerson(text) ? `${text},` : text;
  }
  const { family, given, particle, suffix } = name;
  const last = withoutCommas(particle === undefined ? family : `${particle} ${family}`);
  return [last, given, suffix].filter((part) => part !== undefined).join(", ");
}

const withoutCommas = (text: string): string => text.replace(/ ?, ?/g, " ").trim();
