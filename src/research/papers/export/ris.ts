import { addressOf } from "../identifiers.js";
import { type AuthorName, personName } from "../person-name.js";
import { ownNotes } from "./own-notes.js";
import { type CitedWork, canHaveVolume, isStandalone, type WorkKind } from "./cited-work.js";

const types: Readonly<Record<WorkKind, string>> = {
  article: "JOUR",
  conference: "CPAPER",
  chapter: "CHAP",
  book: "BOOK",
  // Not CONF, which databases use for a conference paper.
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
 * Works as RIS, for Zotero, EndNote and screening tools. Values are on one line, because readers would break words. The
 * decision and the tags of insights are keywords. Other facts about the outcome are notes. `L1` is the PDF.
 */
export const risOf = (works: readonly CitedWork[]): string => works.map(entry).join("");

function entry(work: CitedWork): string {
  const { date = [], pages, publication } = work;
  const [first, last] = pages?.split(/ ?[-–—]+ ?/) ?? [];
  const hasVolume = canHaveVolume(work.kind);
  const tags: [string, string | undefined][] = [
    ["TY", types[work.kind]],
    ...work.authors.map((name): [string, string] => ["AU", authorText(name)]),
    ...(publication.editors ?? []).map((name): [string, string] => ["ED", authorText(personName(name))]),
    ["TI", work.title],
    ["AB", work.abstract],
    ...(isStandalone(work.kind)
      ? [["T2", publication.series] as [string, string | undefined]]
      : ([
          ["T2", work.venue],
          ["T3", publication.series],
        ] as [string, string | undefined][])),
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
    ...[...new Set([work.url, work.arxiv && addressOf({ arxiv: work.arxiv })])].map(
      (address): [string, string | undefined] => ["UR", address],
    ),
    ["L1", work.pdf],
    ...[work.decision, ...work.tags, ...(publication.keywords ?? [])].map((word): [string, string | undefined] => [
      "KW",
      word,
    ]),
    ["N1", work.retracted ? "Retracted." : undefined],
    ["N1", publication.note],
    ...ownNotes(work).map((note): [string, string] => ["N1", note]),
    ["ID", work.key],
  ];
  const lines = tags.filter(([, value]) => value !== undefined && value !== "");
  return `${lines.map(([tag, value]) => `${tag}  - ${value}\r\n`).join("")}ER  - \r\n\r\n`;
}

/** The accession number: the PubMed id, or another number without the name of its database. */
function accessionTags({ pmid, pmcid, publication }: CitedWork): [string, string | undefined][] {
  return [
    ["DB", pmid === undefined ? undefined : "PubMed"],
    ["AN", pmid ?? publication.accession],
    ["C2", pmcid],
  ];
}

/** A name as "van der Berg, Jan, Jr.". Commas in names of groups are removed, because readers split at commas. */
function authorText(name: AuthorName): string {
  if ("literal" in name) return withoutCommas(name.literal);
  const { family, given, particle, suffix } = name;
  const last = withoutCommas(particle === undefined ? family : `${particle} ${family}`);
  return [last, given, suffix].filter((part) => part !== undefined).join(", ");
}

const withoutCommas = (text: string): string => text.replace(/ ?, ?/g, " ").trim();
