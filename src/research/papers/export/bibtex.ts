import { ownNotes } from "./own-notes.js";
import type { AuthorName } from "../person-name.js";
import {
  type Cited,
  type CitedWork,
  citedWorks,
  canHaveVolume,
  isStandalone,
  keywordText,
  type WorkKind,
} from "./cited-work.js";

/** Papers as BibTeX, one entry for each. */
export const bibliographyOf = (papers: readonly Cited[]): string => bibtexOf(citedWorks(papers));

/** Works as BibTeX, one entry for each. The decision on a paper is one of its keywords. */
export const bibtexOf = (works: readonly CitedWork[]): string => works.map(entryOf).join("\n");

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

/** The BibTeX field for the venue of a work. */
const venueField = (kind: WorkKind): string =>
  kind === "article" ? "journal" : kind === "conference" || kind === "chapter" ? "booktitle" : "howpublished";

/** The BibTeX field for the publisher of a work. */
const publisherField = (kind: WorkKind): string =>
  kind === "thesis" || kind === "masters" ? "school" : kind === "report" ? "institution" : "publisher";

function entryOf(work: CitedWork): string {
  const { kind, venue, volume, issue, pages, arxiv, publication } = work;
  const hasVolume = canHaveVolume(kind);
  const publisher = publication.publisher ?? (isStandalone(kind) ? venue : undefined);
  const fields: [string, string | undefined][] = [
    // The title is in two pairs of braces, so that no style changes its capitals.
    ["title", `{${escapeText(work.title)}}`],
    ["author", work.authors.map(authorText).join(" and ") || undefined],
    ["editor", work.editors.map(authorText).join(" and ") || undefined],
    [venueField(kind), isStandalone(kind) ? undefined : textValue(venue)],
    [publisherField(kind), textValue(publisher)],
    ["address", textValue(publication.place)],
    ["edition", textValue(publication.edition)],
    ["series", textValue(publication.series)],
    ["type", kind === "preprint" ? "Preprint" : undefined],
    ["volume", hasVolume ? textValue(volume) : undefined],
    ["number", hasVolume ? textValue(issue) : undefined],
    // BibTeX writes a range with two hyphens.
    ["pages", hasVolume ? pages && escapeCharacters(pages).replace(/(?<!\s)\s*[-–—]+\s*/g, "--") : undefined],
    ["year", work.year === undefined ? undefined : String(work.year).padStart(4, "0")],
    ["month", work.date?.[1]?.toString()],
    ["day", work.date?.[2]?.toString()],
    ["doi", urlValue(work.doi)],
    ["eprint", urlValue(arxiv)],
    ["archiveprefix", arxiv === undefined ? undefined : "arXiv"],
    ["pmid", urlValue(work.pmid)],
    ["pmcid", urlValue(work.pmcid)],
    ["isbn", urlValue(publication.isbn)],
    ["issn", urlValue(publication.issn)],
    ["url", urlValue(work.url)],
    ["language", textValue(publication.language)],
    ["accession", textValue(publication.accession)],
    ["abstract", textValue(work.abstract)],
    ["note", textValue([work.retracted ? "Retracted" : "", publication.note ?? ""].filter(Boolean).join(". "))],
    ["annote", work.outcome === undefined ? undefined : textValue(ownNotes(work).join(" "))],
    ["keywords", textValue(keywordText(work))],
  ];
  const lines = fields
    .filter(([, value]) => value !== undefined && value !== "")
    .map(([name, value]) => `  ${name} = {${value}}`);
  return `@${types[kind]}{${work.key},\n${lines.join(",\n")}\n}\n`;
}

/** A name as "van der Berg, Jr., Jan". Names of groups, and names that BibTeX would split wrongly, are in braces. */
function authorText(name: AuthorName): string {
  if ("literal" in name) return `{${escapeText(name.literal)}}`;
  const { family, given, particle, suffix } = name;
  const last =
    particle === undefined ? namePart(family, /(?:^|\s)\p{Ll}/u) : `${escapeText(particle)} ${namePart(family)}`;
  return [last, ...[suffix, given].filter((part) => part !== undefined).map((part) => namePart(part))].join(", ");
}

/** Words of letters with spaces or hyphens between them. */
const plainName = /^[\p{L}\p{M}.'’]+(?:[ -][\p{L}\p{M}.'’]+)*$/u;

/** Part of a name, in braces if BibTeX would split it: it contains "and", a comma or another special character. */
const namePart = (text: string, specialPattern?: RegExp): string =>
  !plainName.test(text) || /(?:^|\s)and(?:\s|$)/i.test(text) || specialPattern?.test(text) === true
    ? `{${escapeText(text)}}`
    : escapeText(text);

/** Replacements of BibTeX's special characters, so that a title can't end its field or start a command. */
const replacements: Readonly<Record<string, string>> = {
  "\\": "\\textbackslash{}",
  "{": "\\textbraceleft{}",
  "}": "\\textbraceright{}",
  "^": "\\textasciicircum{}",
  "~": "\\textasciitilde{}",
};

/** Escapes special characters. BibTeX counts escaped braces too, so unpaired braces are replaced by commands. */
function escapeCharacters(text: string): string {
  const hasPairedBraces = areBracesPaired(text);
  return text
    .replace(/[\\{}^~]/g, (character) =>
      hasPairedBraces && /[{}]/.test(character) ? `\\${character}` : (replacements[character] ?? ""),
    )
    .replace(/[&%$#_]/g, "\\$&");
}

function areBracesPaired(text: string): boolean {
  let depth = 0;
  for (const character of text) {
    if (character === "{") depth += 1;
    else if (character === "}") depth -= 1;
    if (depth < 0) return false;
  }
  return depth === 0;
}

/** Like escapeCharacters, and separates characters that TeX would join to a dash or a quotation mark. */
const escapeText = (text: string): string => escapeCharacters(text).replace(/([-'`])(?=\1)|[?!](?=`)/g, "$&{}");

/** A value that is not TeX, such as an address. Characters that could end the field are percent-encoded. */
const urlValue = (value: string | undefined): string | undefined =>
  value?.replace(/[\s\\{}]/g, (character) => encodeURIComponent(character));

/** An escaped value; undefined if it is undefined or empty. */
const textValue = (value: string | undefined): string | undefined => value && escapeText(value);
