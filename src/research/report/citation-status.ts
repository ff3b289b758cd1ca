import type { Paper } from "../generated/rrd.js";
import { fileNameOf } from "../papers/reference.js";
import { identifiersOf } from "../papers/paper-identifiers.js";
import { groupBy } from "../../engine/lib/group.js";

/** What is known of a paper as a citation. Derived from what was checked while the project ran; nothing is asked. */
export type CitationStatus =
  | "verified"
  | "metadata-differ"
  | "not-found"
  | "could-not-check"
  | "not-scholarly"
  | "own-document";

export interface Citation {
  readonly status: CitationStatus;
  /** What it rests on, one sentence. */
  readonly says: string;
}

/** A sign and words for each status; a sign never stands alone. */
export const citationMarks: Readonly<Record<CitationStatus, { readonly sign: string; readonly words: string }>> = {
  verified: { sign: "✓", words: "verified" },
  "metadata-differ": { sign: "≠", words: "metadata differ" },
  "not-found": { sign: "✗", words: "not found in any source reached" },
  "could-not-check": { sign: "?", words: "could not check" },
  "not-scholarly": { sign: "–", words: "not a scholarly work" },
  "own-document": { sign: "–", words: "a document of yours" },
};

/** Sources whose records come from no catalogue of works. */
const notCatalogues = /^(?:web|folder|samples|duckduckgo|searxng|brave|tavily|serper|google search|bing)\b/i;
/** What a source calls a page, data or a program. */
const notWorks = /\b(?:software|dataset|web ?page|website|blog|repository|presentation|video|news|computer program)\b/i;

/**
 * The status of one paper. `verified`: a catalogue gave its record, a service's record agrees with it, or its text was
 * fetched and begins with its title. `not-found`: every service that was asked answered, and none knows its identifier.
 * `could-not-check` means just that.
 */
export function citationOf(paper: Paper): Citation {
  const { found, updates_check: check, text_from, read_depth, publication_type: type, source } = paper;
  const { matched_by: matched = [], differs = [], unknown_to: unknown = [] } = check?.citation ?? {};
  if (differs.length > 0 && matched.length === 0) return { status: "metadata-differ", says: `${differs.join("; ")}.` };
  if (matched.length > 0)
    return {
      status: "verified",
      says: `Title, authors and year agree with ${listed(matched)}.${differs.length === 0 ? "" : ` But ${differs.join("; ")}.`}`,
    };
  const catalogues = [
    ...new Set([...(found?.sources ?? []), ...(found?.merged ?? []).map((each) => each.source)]),
  ].filter((name) => !notCatalogues.test(name));
  if (catalogues.length > 0) return { status: "verified", says: `The record is that of ${listed(catalogues)}.` };
  if (notWorks.test(type ?? "")) return { status: "not-scholarly", says: `Its source calls it ${type}.` };
  if (read_depth !== undefined && read_depth !== "abstract" && text_from !== undefined)
    return { status: "verified", says: `Its text was fetched from ${text_from} and begins with its title.` };
  if (unknown.length > 0 && check?.checked_by.length === 0 && check.unchecked.length === 0)
    return { status: "not-found", says: `${listed(unknown)} ${unknown.length === 1 ? "does" : "do"} not know it.` };
  if (notCatalogues.test(source ?? "") && Object.keys(identifiersOf(paper)).length === 0) {
    if (fileNameOf(paper) !== undefined)
      return { status: "own-document", says: "It prints no identifier of a work, so it was looked up nowhere." };
    const what = source === "samples" ? "A sample of this package" : "A page of the web";
    return { status: "not-scholarly", says: `${what}, without the identifier of a work.` };
  }
  const [reason] = check?.unchecked ?? [];
  return {
    status: "could-not-check",
    says:
      reason === undefined
        ? "No catalogue was asked for it."
        : `It could not be looked up: ${reason.replace(/\.?$/, ".")}`,
  };
}

/** From so many references on, those with one status and one reason are listed together. */
const minTogether = 3;

/** The status that most of these have, with the reason they share; absent where too few share one. */
export function commonCitation(citations: readonly Citation[]): (Citation & { readonly count: number }) | undefined {
  const groups = groupBy(citations, ({ status, says }) => `${status} ${says}`);
  const [most = []] = [...groups.values()].toSorted((a, b) => b.length - a.length);
  return most[0] === undefined || most.length < minTogether ? undefined : { ...most[0], count: most.length };
}

/** What is said of references together, above them: "? could not check (9 of 11): No catalogue was asked for it." */
export const commonText = ({ status, says, count }: Citation & { readonly count: number }, all: number): string =>
  `${citationMarks[status].sign} ${citationMarks[status].words} (${count === all ? `all ${all}` : `${count} of ${all}`}): ${says}`;

const listed = (names: readonly string[]): string =>
  names.length < 3 ? names.join(" and ") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
