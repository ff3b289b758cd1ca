import type { PaperFacts, PaperRecord } from "../papers/paper-record.js";
import { authorsOf, surnameOf } from "../papers/authors.js";
import { yearOf } from "../papers/dedup/match-features.js";
import { isSearchedTitle } from "../papers/dedup/title-match.js";
import { normalTitle } from "../papers/normalise-title.js";

/** The result of comparing a paper's title, authors and year with the records of services for the same identifier. */
export interface CitationCheck {
  /** Services whose record agrees. */
  readonly matched_by: readonly string[];
  /** The differences, one clause each: "Crossref: the title is “…”". */
  readonly differs: readonly string[];
  /** Services that answered but do not know the identifier. */
  readonly unknown_to: readonly string[];
}

/** One service's answer; without a record if it does not know the work. */
export interface ServiceAnswer {
  readonly source: string;
  readonly record?: PaperRecord;
}

/** A preprint is often a year older than the published paper. */
const maxYearDifference = 1;
const maxTitleChars = 120;

/** Compares a paper with the services' records. Undefined if no service answered or the paper has no title. */
export function compareCitation(paper: PaperFacts, answers: readonly ServiceAnswer[]): CitationCheck | undefined {
  const { title } = paper;
  if (title == null || answers.length === 0) return undefined;
  const matched_by: string[] = [];
  const differs: string[] = [];
  for (const { source, record } of answers) {
    if (record === undefined) continue;
    const differences = differencesOf({ ...paper, title }, record);
    if (differences.length === 0) matched_by.push(source);
    else differs.push(...differences.map((difference) => `${source}: ${difference}`));
  }
  return { matched_by, differs, unknown_to: answers.flatMap(({ source, record }) => (record ? [] : source)) };
}

/** Whether the longer title is the shorter one with a subtitle. */
function differsBySubtitle(first: string, second: string): boolean {
  const [short = "", long = ""] = [normalTitle(first), normalTitle(second)].toSorted((a, b) => a.length - b.length);
  return short.split(" ").length >= minWords && long.startsWith(`${short} `);
}

const minWords = 4;

function differencesOf(paper: PaperFacts & { readonly title: string }, record: PaperRecord): string[] {
  const surnames = (authors: PaperFacts["authors"]) =>
    new Set(authorsOf(authors).flatMap((name) => surnameOf(name) ?? []));
  const [ourSurnames, recordSurnames] = [surnames(paper.authors), surnames(record.authors)];
  const [year, recordYear] = [yearOf(paper.date), yearOf(record.date)];
  const isSameTitle = isSearchedTitle(paper.title, record.title) || differsBySubtitle(paper.title, record.title);
  const hasSharedAuthor =
    ourSurnames.size === 0 || recordSurnames.size === 0 || [...ourSurnames].some((name) => recordSurnames.has(name));
  const isSimilarYear =
    year === undefined || recordYear === undefined || Math.abs(year - recordYear) <= maxYearDifference;
  return [
    ...(isSameTitle ? [] : [`the title is “${record.title.slice(0, maxTitleChars)}”`]),
    ...(hasSharedAuthor ? [] : [`the first author is ${record.authors[0] ?? "not known"}`]),
    ...(isSimilarYear ? [] : [`the year is ${recordYear}`]),
  ];
}
