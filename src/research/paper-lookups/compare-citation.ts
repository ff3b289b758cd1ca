import type { PaperFacts, PaperRecord } from "../papers/paper-record.js";
import { authorsOf, surnameOf } from "../papers/authors.js";
import { yearOf } from "../papers/dedup/match-features.js";
import { isTitle } from "../papers/dedup/title-match.js";
import { normalTitle } from "../papers/normalise-title.js";

/** What services that know a work's identifier say of the title, authors and year that it is cited with. */
export interface CitationCheck {
  /** Services whose record agrees. */
  readonly matched_by: readonly string[];
  /** What services say otherwise, a clause each: "Crossref: the title is “…”". */
  readonly differs: readonly string[];
  /** Services that answered and do not know the identifier. */
  readonly unknown_to: readonly string[];
}

/** One service's answer: its record of the work, or none where it does not know it. */
export interface Answered {
  readonly source: string;
  readonly record?: PaperRecord;
}

/** A preprint is often a year older than the paper it became. */
const yearsApart = 1;
const maxTitle = 120;

/** Compares a paper with the records of those who answered for it. Undefined where nobody did, or it has no title. */
export function compareCitation(paper: PaperFacts, answers: readonly Answered[]): CitationCheck | undefined {
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

/** A title and the same with a subtitle. */
function isWithSubtitle(one: string, other: string): boolean {
  const [short = "", long = ""] = [normalTitle(one), normalTitle(other)].toSorted((a, b) => a.length - b.length);
  return short.split(" ").length >= minWords && long.startsWith(`${short} `);
}

const minWords = 4;

function differencesOf(paper: PaperFacts & { readonly title: string }, record: PaperRecord): string[] {
  const surnames = (authors: PaperFacts["authors"]) =>
    new Set(authorsOf(authors).flatMap((name) => surnameOf(name) ?? []));
  const [ours, theirs] = [surnames(paper.authors), surnames(record.authors)];
  const [year, itsYear] = [yearOf(paper.date), yearOf(record.date)];
  const isSameTitle = isTitle(paper.title, record.title) || isWithSubtitle(paper.title, record.title);
  const isShared = ours.size === 0 || theirs.size === 0 || [...ours].some((name) => theirs.has(name));
  const isNear = year === undefined || itsYear === undefined || Math.abs(year - itsYear) <= yearsApart;
  return [
    ...(isSameTitle ? [] : [`the title is “${record.title.slice(0, maxTitle)}”`]),
    ...(isShared ? [] : [`the first author is ${record.authors[0] ?? "not known"}`]),
    ...(isNear ? [] : [`the year is ${itsYear}`]),
  ];
}
