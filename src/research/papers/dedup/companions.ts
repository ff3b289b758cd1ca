import type { CompanionReport, PaperRecord, Update } from "../paper-record.js";
import type { MatchFeatures } from "./match-features.js";
import { compareIssues, comparePages, compareVolumes, type CorrectionPlace, isBrief } from "./published-place.js";
import { compareAuthors } from "./same-work.js";
import { isLong, matchTitles } from "./title-match.js";
import { compareVenues } from "./venue.js";

/**
 * The relation of a companion report to the main report of the same work: a correction, an abstract that the journal
 * printed before, or a letter of an exchange that is one record. Companion reports (PRISMA 2020, doi 10.1136/bmj.n71,
 * distinguishes reports and studies) are read with the main report and not screened separately.
 */
export interface Companionship {
  readonly kind: CompanionReport["kind"];
  readonly why: string;
}

/** The relation of the first record as a companion report of the second; undefined if the fields do not prove one. */
export function companionship(a: MatchFeatures, b: MatchFeatures): Companionship | undefined {
  if (a.title === undefined || b.title === undefined || b.isNotice) return undefined;
  if (isCorrectionOf(a, b)) return { kind: "correction", why: "a correction of it, which its own record names" };
  if (a.isNotice) return undefined;
  if (isAbstractOf(a, b)) return { kind: "abstract", why: "the abstract of it, earlier in the same volume" };
  return isLetterOf(a, b) ? { kind: "letter", why: "a letter of the exchange that it holds" } : undefined;
}

/**
 * Whether the second record names the first as its correction. It is not enough if only the first record says that.
 */
function isCorrectionOf(a: MatchFeatures, b: MatchFeatures): boolean {
  const { places, hasMore, dois } = b.corrections;
  if (a.keys.some((key) => key.startsWith("doi ") && dois.includes(key.slice(4)))) return true;
  const isAtNamedPlace =
    (hasMore && isLaterPageOf(a, b)) || places.some((place) => isAtPlace(a, place) && !isAtPlace(b, place));
  if (!isAtNamedPlace || a.title === undefined || b.title === undefined || compareVenues(a.venue, b.venue) === "other")
    return false;
  const titles = matchTitles({ ...a.title, isCorrection: false, isNotice: false }, b.title);
  return titles === "equal" || titles === "near" || titles === "cut";
}

/** Whether the first is one page by the same authors, later in the same volume. */
function isLaterPageOf(a: MatchFeatures, b: MatchFeatures): boolean {
  const [ownPages, mainPages] = [a.place.pages, b.place.pages];
  if (ownPages === undefined || mainPages === undefined || ownPages.letters !== mainPages.letters) return false;
  return (
    isBrief(a.place) &&
    ownPages.first > mainPages.last &&
    compareVolumes(a.place, b.place) === "same" &&
    compareAuthors(a.authors, b.authors) === "all"
  );
}

/** Whether a record is at the place of a correction: on its page, or, for a correction by its title, in its issue. */
function isAtPlace({ title, place: { volume, issue, pages } }: MatchFeatures, correction: CorrectionPlace): boolean {
  if (volume?.numbers[0] !== correction.volume) return false;
  if (pages !== undefined && pages.first === correction.page) return true;
  return title?.isCorrection === true && correction.issue !== undefined && issue?.numbers[0] === correction.issue;
}

/**
 * Whether the first is the abstract of the second, printed earlier in the same volume, for example before a congress. A
 * page with the same title after the article is usually a correction.
 */
function isAbstractOf(a: MatchFeatures, b: MatchFeatures): boolean {
  const [ownPages, mainPages] = [a.place.pages, b.place.pages];
  if (ownPages === undefined || mainPages === undefined || ownPages.letters !== "" || mainPages.letters !== "")
    return false;
  if (!isBrief(a.place) || mainPages.last - mainPages.first < 2 || ownPages.last >= mainPages.first) return false;
  return (
    a.year !== undefined &&
    a.year === b.year &&
    a.title?.compact === b.title?.compact &&
    a.title !== undefined &&
    isLong(a.title) &&
    !a.title.isGeneric &&
    Math.min(a.authors.count, b.authors.count) >= 3 &&
    a.authors.surname === b.authors.surname &&
    compareAuthors(a.authors, b.authors) === "all" &&
    compareVenues(a.venue, b.venue) === "same" &&
    compareVolumes(a.place, b.place) === "same"
  );
}

/** Whether the first is one of the letters that the second record, "(multiple letters)", contains. */
function isLetterOf(a: MatchFeatures, b: MatchFeatures): boolean {
  const [ownPages, allPages] = [a.place.pages, b.place.pages];
  if (
    b.title?.isLetterExchange !== true ||
    a.title?.isLetterExchange === true ||
    ownPages === undefined ||
    allPages === undefined
  )
    return false;
  const words = [...a.authors.words];
  return (
    (a.title?.repliedTitle ?? a.title?.compact) === b.title.compact &&
    compareVolumes(a.place, b.place) === "same" &&
    compareIssues(a.place, b.place) !== "other" &&
    compareVenues(a.venue, b.venue) !== "other" &&
    comparePages(a.place, b.place) !== "other" &&
    ownPages.first >= allPages.first &&
    ownPages.last <= allPages.last &&
    words.length > 0 &&
    words.filter((word) => b.authors.words.has(word)).length / words.length > 0.7
  );
}

/**
 * The update that a correction adds to the article's record. Its source is a search, so that a later check of a service
 * does not remove it.
 */
const updateFromCorrection = ({ date, source, identifiers: { doi }, url }: PaperRecord) =>
  ({
    type: "correction",
    ...(date !== null && /^\d{4}-\d\d-\d\d$/.test(date) ? { date } : {}),
    source: `a search of ${source}`,
    notice: doi ?? url,
  }) as const satisfies Update;

/** The distinct corrections among these companion reports. */
export function correctionsAmong(companions: readonly CompanionReport[] = []): Update[] {
  const updates = companions.flatMap(({ record, kind }) =>
    kind === "correction" ? [updateFromCorrection(record)] : [],
  );
  return updates.filter((update, index) => updates.findIndex((earlier) => isSameUpdate(earlier, update)) === index);
}

/**
 * Whether two updates are equal: the same date or notice. Versions of a preprint have one address, so their dates
 * count.
 */
export function isSameUpdate(a: UpdateNotice, b: UpdateNotice): boolean {
  if (a.type !== b.type) return false;
  if (a.type === "version" || a.notice === undefined || b.notice === undefined) return a.date === b.date;
  return (a.date !== undefined && a.date === b.date) || a.notice.toLowerCase() === b.notice.toLowerCase();
}

interface UpdateNotice {
  readonly type: string;
  readonly date?: string;
  readonly notice?: string;
}

/** The updates by date; those without a date are last. */
export const oldestFirst = <Noted extends UpdateNotice>(updates: readonly Noted[]): Noted[] =>
  updates.toSorted((a, b) => ((a.date ?? "9999") < (b.date ?? "9999") ? -1 : a.date === b.date ? 0 : 1));
