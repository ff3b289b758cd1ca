import type { Paper, Rrd } from "../../generated/rrd.js";
import { authorsOf } from "../../papers/authors.js";
import { flat, inline } from "../derived/markdown.js";

/**
 * references.bib: every paper of the pool, as the report names each, for citation managers; its keyword tells what
 * became of it.
 */
export const bibliography = (rrd: Rrd): string =>
  bibliographyOf(rrd.papers_pool.map((paper) => ({ ...paper, keyword: paper.status.replaceAll("_", " ") })));

type Cited = Pick<
  Paper,
  "id" | "title" | "authors" | "date" | "identifiers" | "url" | "retracted" | "venue" | "volume" | "issue" | "pages"
> & { readonly keyword?: string };

/** Any papers as BibTeX, one entry each. */
export const bibliographyOf = (papers: readonly Cited[]): string => papers.map(entry).join("\n");

/** A paper's number on arXiv, undefined where it has none. */
const arxivOf = ({ id, identifiers }: Pick<Paper, "id" | "identifiers">): string | undefined =>
  identifiers?.arxiv ?? /^arxiv_(.+)$/.exec(id)?.[1]?.replace("_", "/");

function entry(paper: Cited): string {
  const arxiv = arxivOf(paper);
  const inJournal =
    plain(paper.venue) !== undefined &&
    [paper.volume, paper.issue, paper.pages].some((part) => plain(part) !== undefined);
  const fields: [string, string | undefined][] = [
    ["title", `{${escape(paper.title)}}`],
    ["author", authorsOf(paper.authors).map(escape).join(" and ") || undefined],
    ["journal", inJournal ? escape(paper.venue ?? "") : undefined],
    ["howpublished", inJournal ? undefined : plain(paper.venue)],
    ["volume", plain(paper.volume)],
    ["number", plain(paper.issue)],
    // A range has two hyphens there.
    ["pages", plain(paper.pages)?.replace(/(?<!\s)\s*[-–—]+\s*/g, "--")],
    ["year", /^\d{4}/.exec(paper.date ?? "")?.[0]],
    ["doi", verbatim(paper.identifiers?.doi)],
    ["eprint", verbatim(arxiv)],
    ["archiveprefix", arxiv === undefined ? undefined : "arXiv"],
    ["url", verbatim(paper.url)],
    ["note", paper.retracted === true ? "Retracted" : undefined],
    ["keywords", paper.keyword],
  ];
  const lines = fields.filter(([, value]) => value !== undefined).map(([name, value]) => `  ${name} = {${value}}`);
  return `@${inJournal ? "article" : "misc"}{${paper.id.replace(/[^\w.:-]/g, "_")},\n${lines.join(",\n")}\n}\n`;
}

/** BibTeX's own characters, so that a title can neither end its field nor start a command. */
const escape = (text: string): string => flat(text.replace(/[\\{}]/g, "")).replace(/[&%$#_]/g, "\\$&");

/** An address or a name that BibTeX takes as it stands; what could end its field is written as addresses write it. */
const verbatim = (value: string | null | undefined): string | undefined =>
  flat(value).replace(/[\s\\{}]/g, (character) => encodeURIComponent(character)) || undefined;

/** A value without what BibTeX reads as its own; undefined where nothing is left. */
const plain = (value: string | null | undefined): string | undefined => escape(value ?? "") || undefined;

/** The report's list of references: every paper of the pool, as each is named somewhere in it, by id. */
export const referencesOf = (rrd: Rrd): string =>
  rrd.papers_pool
    .toSorted((a, b) => a.id.localeCompare(b.id, "en", { numeric: true }))
    .map(reference)
    .join("\n") || "_No paper was found._";

function reference(paper: Paper): string {
  const { id, title, date, venue, identifiers, url, retracted } = paper;
  const authors = authorsOf(paper.authors);
  const by =
    authors.length === 0
      ? "No author known"
      : `${authors.slice(0, 6).join(", ")}${authors.length > 6 ? " and others" : ""}`;
  const year = /^\d{4}/.exec(date ?? "")?.[0] ?? "no year known";
  const arxiv = arxivOf(paper);
  const where = [
    ...(venue ? [inline(venue)] : []),
    ...(identifiers?.doi ? [`DOI ${inline(identifiers.doi)}`] : []),
    ...(arxiv === undefined ? [] : [`arXiv:${inline(arxiv)}`]),
    ...(url ? [/^https?:\/\//i.test(url) ? `<${address(url)}>` : inline(url)] : []),
  ];
  return `- **${inline(id)}**: ${retracted === true ? "[RETRACTED] " : ""}${inline(by)} (${year}). ${inline(title).replace(/\.$/, "")}.${where.map((each) => ` ${each}.`).join("")}`;
}

/** An address between angle brackets: nothing in it ends it, or is one half of code or of a link. */
const address = (url: string): string =>
  flat(url)
    .replace(/[<>\s]/g, "")
    .replace(/[`[\]\\]/g, (character) => encodeURIComponent(character));
