import { identifiersOf } from "../papers/identifiers.js";
import type { Paper } from "../generated/rrd.js";
import { isOwnList } from "../papers/records/own-list.js";
import { fileNameOf } from "../papers/reference.js";
import { groupBy } from "../../engine/lib/group.js";
import { listText } from "../../engine/lib/words.js";

/**
 * The result of checking a paper as a citation. Computed from checks that were made while the project ran; sends no
 * requests.
 */
export type CitationStatus =
  | "verified"
  | "metadata-differ"
  | "not-found"
  | "could-not-check"
  | "not-scholarly"
  | "own-document";

export interface Citation {
  readonly status: CitationStatus;
  /** The reason for the status, one sentence. */
  readonly says: string;
}

/** A sign and words for each status. A sign is always shown with its words. */
export const citationMarks: Readonly<Record<CitationStatus, { readonly sign: string; readonly words: string }>> = {
  verified: { sign: "✓", words: "verified" },
  "metadata-differ": { sign: "≠", words: "metadata differ" },
  "not-found": { sign: "✗", words: "not found in any source reached" },
  "could-not-check": { sign: "?", words: "could not check" },
  "not-scholarly": { sign: "–", words: "not a scholarly work" },
  "own-document": { sign: "–", words: "a document of yours" },
};

/** Sources that are not catalogues of works. */
const notCatalogues = /^(?:web|folder|samples|duckduckgo|searxng|brave|tavily|serper|google search|bing)\b/i;
/** Publication types of web pages, data and programs. */
const notWorks = /\b(?:software|dataset|web ?page|website|blog|repository|presentation|video|news|computer program)\b/i;

/**
 * The citation status of a paper. `verified`: a catalogue has its record, a service's record agrees with it, or its
 * text was fetched and begins with its title. `not-found`: every service that was asked answered, and none of them
 * knows its identifier. `could-not-check`: the status is unknown.
 */
export function citationStatusOf(paper: Paper): Citation {
  const { found, updates_check: check, text_from, read_depth, publication_type: type, source } = paper;
  const {
    matched_by: agreeingServices = [],
    differs: differences = [],
    unknown_to: servicesWithoutRecord = [],
  } = check?.citation ?? {};
  if (differences.length > 0 && agreeingServices.length === 0)
    return { status: "metadata-differ", says: `${differences.join("; ")}.` };
  if (agreeingServices.length > 0)
    return {
      status: "verified",
      says: `Title, authors and year agree with ${listText(agreeingServices)}.${differences.length === 0 ? "" : ` But ${differences.join("; ")}.`}`,
    };
  const catalogues = [
    ...new Set([...(found?.sources ?? []), ...(found?.merged ?? []).map((record) => record.source)]),
  ].filter((name) => !notCatalogues.test(name));
  const [lists, services] = [catalogues.filter(isOwnList), catalogues.filter((name) => !isOwnList(name))];
  if (services.length > 0) return { status: "verified", says: `The record is that of ${listText(services)}.` };
  if (notWorks.test(type ?? "")) return { status: "not-scholarly", says: `Its source calls it ${type}.` };
  if (read_depth !== undefined && read_depth !== "abstract" && text_from !== undefined)
    return { status: "verified", says: `Its text was fetched from ${text_from} and begins with its title.` };
  if (servicesWithoutRecord.length > 0 && check?.checked_by.length === 0 && check.unchecked.length === 0)
    return {
      status: "not-found",
      says: `${listText(servicesWithoutRecord)} ${servicesWithoutRecord.length === 1 ? "does" : "do"} not know it.`,
    };
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
        ? lists.length > 0
          ? `It stands as ${listText(lists)} has it; no catalogue was asked for it.`
          : "No catalogue was asked for it."
        : `It could not be looked up: ${reason.replace(/\.?$/, ".")}`,
  };
}

/** At least this many references with the same status and reason are listed together. */
const minGroupSize = 3;

/** The most frequent status and reason; undefined if too few references share one. */
export function commonCitation(citations: readonly Citation[]): (Citation & { readonly count: number }) | undefined {
  const groups = groupBy(citations, ({ status, says }) => `${status} ${says}`);
  const [largest = []] = [...groups.values()].toSorted((a, b) => b.length - a.length);
  return largest[0] === undefined || largest.length < minGroupSize
    ? undefined
    : { ...largest[0], count: largest.length };
}

/** The line above references that share a status: "? could not check (9 of 11): No catalogue was asked for it." */
export const commonText = ({ status, says, count }: Citation & { readonly count: number }, total: number): string =>
  `${citationMarks[status].sign} ${citationMarks[status].words} (${count === total ? `all ${total}` : `${count} of ${total}`}): ${says}`;
