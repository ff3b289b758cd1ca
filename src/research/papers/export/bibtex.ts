import type { Rrd } from "../../generated/rrd.js";
import { ownNotes } from "./own-notes.js";
import { type AuthorName, personName } from "../person-name.js";
import { type Cited, type CitedWork, citedWorks, isInVolume, isWhole, type WorkKind, worksOf } from "./cited-work.js";

/**
 * references.bib: every paper of the pool, as the report names each, for citation managers; its keyword tells what
 * became of it.
 */
export const bibliography = (rrd: Rrd): string => bibtexOf(worksOf(rrd));

/** Any papers as BibTeX, one entry each. */
export const bibliographyOf = (papers: readonly Cited[]): string => bibtexOf(citedWorks(papers));

/** Works as BibTeX: one entry each, its type by what the work is, its key of surname and year. */
export const bibtexOf = (works: readonly CitedWork[]): string => works.map(entry).join("\n");

const types: Readonly<Record<WorkKind, string>> = {
  article: "article",
  conference: "inproceedings",
  chapter: "incollection",
  book: "book",
  proceedings: "proceedings",
  thesis: "phdthesis",
  masters: "mastersthesis",
  report: "techreport",
  preprint: "misc",
  dataset: "dataset",
  software: "software",
  patent: "patent",
  web: "online",
  other: "misc",
};

/** The field that names where a work of this kind stands. */
const venueField = (kind: WorkKind): string =>
  kind === "article" ? "journal" : kind === "conference" || kind === "chapter" ? "booktitle" : "howpublished";

/** The field that names who published it. */
const publisherField = (kind: WorkKind): string =>
  kind === "thesis" || kind === "masters" ? "school" : kind === "report" ? "institution" : "publisher";

function entry(work: CitedWork): string {
  const { kind, venue, volume, issue, pages, arxiv, publication } = work;
  const inVolume = isInVolume(kind);
  const publisher = publication.publisher ?? (isWhole(kind) ? venue : undefined);
  const keywords = [work.decision, ...work.tags, ...(publication.keywords ?? [])];
  const fields: [string, string | undefined][] = [
    // Twice in braces, so that no style changes its capitals.
    ["title", `{${escaped(work.title)}}`],
    ["author", work.authors.map(authorText).join(" and ") || undefined],
    ["editor", (publication.editors ?? []).map((name) => authorText(personName(name))).join(" and ") || undefined],
    [venueField(kind), isWhole(kind) ? undefined : plain(venue)],
    [publisherField(kind), plain(publisher)],
    ["address", plain(publication.place)],
    ["edition", plain(publication.edition)],
    ["series", plain(publication.series)],
    ["type", kind === "preprint" ? "Preprint" : undefined],
    ["volume", inVolume ? plain(volume) : undefined],
    ["number", inVolume ? plain(issue) : undefined],
    // A range has two hyphens there.
    ["pages", inVolume ? pages && escapedSigns(pages).replace(/(?<!\s)\s*[-–—]+\s*/g, "--") : undefined],
    ["year", work.year === undefined ? undefined : String(work.year).padStart(4, "0")],
    ["month", work.date?.[1]?.toString()],
    ["day", work.date?.[2]?.toString()],
    ["doi", verbatim(work.doi)],
    ["eprint", verbatim(arxiv)],
    ["archiveprefix", arxiv === undefined ? undefined : "arXiv"],
    ["pmid", verbatim(work.pmid)],
    ["pmcid", verbatim(work.pmcid)],
    ["isbn", verbatim(publication.isbn)],
    ["issn", verbatim(publication.issn)],
    ["url", verbatim(work.url)],
    ["language", plain(publication.language)],
    ["accession", plain(publication.accession)],
    ["abstract", plain(work.abstract)],
    ["note", plain([work.retracted ? "Retracted" : "", publication.note ?? ""].filter(Boolean).join(". "))],
    ["annote", work.outcome === undefined ? undefined : plain(ownNotes(work).join(" "))],
    ["keywords", plain(keywords.filter((word) => word !== undefined).join(", "))],
  ];
  const lines = fields
    .filter(([, value]) => value !== undefined && value !== "")
    .map(([name, value]) => `  ${name} = {${value}}`);
  return `@${types[kind]}{${work.key},\n${lines.join(",\n")}\n}\n`;
}

/** "van der Berg, Jr., Jan"; a group and a name that BibTeX would take apart stand in braces. */
function authorText(name: AuthorName): string {
  if ("literal" in name) return `{${escaped(name.literal)}}`;
  const { family, given, particle, suffix } = name;
  const last = particle === undefined ? inOne(family, /(?:^|\s)\p{Ll}/u) : `${escaped(particle)} ${inOne(family)}`;
  return [last, ...[suffix, given].filter((part) => part !== undefined).map((part) => inOne(part))].join(", ");
}

/** Words of letters with spaces or hyphens between them. */
const plainName = /^[\p{L}\p{M}.'’]+(?:[ -][\p{L}\p{M}.'’]+)*$/u;

/** Part of a name, in braces where BibTeX would take it apart: at an "and", a comma, a small word before others. */
const inOne = (text: string, also?: RegExp): string =>
  !plainName.test(text) || /(?:^|\s)and(?:\s|$)/i.test(text) || also?.test(text) === true
    ? `{${escaped(text)}}`
    : escaped(text);

/** BibTeX's own characters, so that a title can neither end its field nor start a command. */
const signs: Readonly<Record<string, string>> = {
  "\\": "\\textbackslash{}",
  "{": "\\textbraceleft{}",
  "}": "\\textbraceright{}",
  "^": "\\textasciicircum{}",
  "~": "\\textasciitilde{}",
};

/** BibTeX counts braces also where they are escaped: those without a partner are written by their names. */
function escapedSigns(text: string): string {
  const areNested = isNested(text);
  return text
    .replace(/[\\{}^~]/g, (sign) => (areNested && /[{}]/.test(sign) ? `\\${sign}` : (signs[sign] ?? "")))
    .replace(/[&%$#_]/g, "\\$&");
}

function isNested(text: string): boolean {
  let depth = 0;
  for (const sign of text) {
    if (sign === "{") depth += 1;
    else if (sign === "}") depth -= 1;
    if (depth < 0) return false;
  }
  return depth === 0;
}

/** The same, and no two signs that TeX would draw together to a dash or a quotation mark. */
const escaped = (text: string): string => escapedSigns(text).replace(/([-'`])(?=\1)|[?!](?=`)/g, "$&{}");

/** An address or a name that BibTeX takes as it stands; what could end its field is written as addresses write it. */
const verbatim = (value: string | undefined): string | undefined =>
  value?.replace(/[\s\\{}]/g, (character) => encodeURIComponent(character));

/** A value without what BibTeX reads as its own. */
const plain = (value: string | undefined): string | undefined => value && escaped(value);
