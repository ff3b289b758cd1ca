import type { Paper, Rrd } from "../../generated/rrd.js";
import { arxivOf } from "../../export/cited-work.js";
import { authorsOf } from "../../papers/authors.js";
import { flat, inline } from "../derived/markdown.js";

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
