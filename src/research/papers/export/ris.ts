import { addressOf } from "../identifiers.js";
import { type AuthorName, personName } from "../person-name.js";
import { ownNotes } from "./own-notes.js";
import { type CitedWork, isInVolume, isWhole, type WorkKind } from "./cited-work.js";

const types: Readonly<Record<WorkKind, string>> = {
  article: "JOUR",
  conference: "CPAPER",
  chapter: "CHAP",
  book: "BOOK",
  // CONF is what databases call a paper of a conference.
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

/** What a format that knows fewer kinds is told besides. */
export const kindNames: Readonly<Partial<Record<WorkKind, string>>> = {
  masters: "Master's thesis",
  proceedings: "Proceedings",
};

/**
 * Works as RIS, for Zotero, EndNote and screening tools. A value is never folded: readers break words at the fold. What
 * became of a paper and the tags of its insights are keywords, what the project says of it are notes; `L1` is the PDF.
 */
export const risOf = (works: readonly CitedWork[]): string => works.map(entry).join("");

function entry(work: CitedWork): string {
  const { date = [], pages, publication } = work;
  const [first, last] = pages?.split(/ ?[-–—]+ ?/) ?? [];
  const inVolume = isInVolume(work.kind);
  const tags: [string, string | undefined][] = [
    ["TY", types[work.kind]],
    ...work.authors.map((name): [string, string] => ["AU", authorText(name)]),
    ...(publication.editors ?? []).map((name): [string, string] => ["ED", authorText(personName(name))]),
    ["TI", work.title],
    ["AB", work.abstract],
    ...(isWhole(work.kind)
      ? [["T2", publication.series] as [string, string | undefined]]
      : ([
          ["T2", work.venue],
          ["T3", publication.series],
        ] as [string, string | undefined][])),
    ["VL", inVolume ? work.volume : undefined],
    ["IS", inVolume ? work.issue : undefined],
    ["SP", inVolume ? first : undefined],
    ["EP", inVolume ? last : undefined],
    ["PY", work.year === undefined ? undefined : String(work.year).padStart(4, "0")],
    ["DA", date.length > 1 ? `${date.map((part) => String(part).padStart(2, "0")).join("/")}` : undefined],
    ["PB", publication.publisher ?? (isWhole(work.kind) ? work.venue : undefined)],
    ["CY", publication.place],
    ["ET", publication.edition],
    ["SN", publication.isbn],
    ["SN", publication.issn],
    ["LA", publication.language],
    ["M3", kindNames[work.kind]],
    ["DO", work.doi],
    ...accessionTags(work),
    ["UR", work.url],
    // RIS has no tag for it.
    ["UR", work.arxiv && addressOf({ arxiv: work.arxiv })],
    ["L1", work.pdf],
    ...[work.decision, ...work.tags, ...(publication.keywords ?? [])].map((word): [string, string | undefined] => [
      "KW",
      word,
    ]),
    ["N1", publication.note],
    ["N1", work.retracted ? "Retracted." : undefined],
    ...ownNotes(work).map((note): [string, string] => ["N1", note]),
    ["ID", work.key],
  ];
  const lines = tags.filter(([, value]) => value !== undefined && value !== "");
  return `${lines.map(([tag, value]) => `${tag}  - ${value}\r\n`).join("")}ER  - \r\n\r\n`;
}

/** A number of PubMed is its accession number there; any other one stands without the name of its database. */
function accessionTags({ pmid, pmcid, publication }: CitedWork): [string, string | undefined][] {
  return [
    ["DB", pmid === undefined ? undefined : "PubMed"],
    ["AN", pmid ?? publication.accession],
    ["C2", pmcid],
  ];
}

/** "van der Berg, Jan, Jr."; readers split at commas, so that a group's name has none. */
function authorText(name: AuthorName): string {
  if ("literal" in name) return withoutCommas(name.literal);
  const { family, given, particle, suffix } = name;
  const last = withoutCommas(particle === undefined ? family : `${particle} ${family}`);
  return [last, given, suffix].filter((part) => part !== undefined).join(", ");
}

const withoutCommas = (text: string): string => text.replace(/ ?, ?/g, " ").trim();
