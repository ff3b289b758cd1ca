import type { CompanionReport, PaperRecord, Update } from "../paper-record.js";
import type { MatchFeatures } from "./match-features.js";
import { compareIssues, comparePages, compareVolumes, type CorrectionPlace, isBrief } from "./published-place.js";
import { compareAuthors } from "./same-work.js";
import { isLong, matchTitles } from "./title-match.js";
import { compareVenues } from "./venue.js";

/**
 * How one record goes with another that is the main report of the same work: its correction, the abstract that its
 * journal printed before it, or a letter of an exchange that another record holds as a whole. Such companion reports
 * (PRISMA 2020, doi 10.1136/bmj.n71, tells reports from studies) are read with the main one, never screened by
 * themselves.
 */
export interface Companionship {
  readonly kind: CompanionReport["kind"];
  readonly why: string;
}

/** How the first record goes with the second; nothing where no field of theirs proves that it does. */
export function companionship(a: MatchFeatures, b: MatchFeatures): Companionship | undefined {
  if (a.title === undefined || b.title === undefined || b.notice) return undefined;
  if (isCorrectionOf(a, b)) return { kind: "correction", why: "a correction of it, which its own record names" };
  if (a.notice) return undefined;
  if (isItsAbstract(a, b)) return { kind: "abstract", why: "the abstract of it, earlier in the same volume" };
  return isLetterOf(a, b) ? { kind: "letter", why: "a letter of the exchange that it holds" } : undefined;
}

/**
 * Whether the record of the second names the first as its correction. A notice that only says itself what it corrects
 * stays a notice.
 */
function isCorrectionOf(a: MatchFeatures, b: MatchFeatures): boolean {
  const { places, more, dois } = b.corrections;
  if (a.keys.some((key) => key.startsWith("doi ") && dois.includes(key.slice(4)))) return true;
  const isThere = (more && isLater(a, b)) || places.some((place) => standsAt(a, place) && !standsAt(b, place));
  if (!isThere || a.title === undefined || b.title === undefined || compareVenues(a.venue, b.venue) === "other")
    return false;
  const titles = matchTitles({ ...a.title, corrects: false, notice: false }, b.title);
  return titles === "equal" || titles === "near" || titles === "cut";
}

/** Whether the first is a page under the title of the second and by its authors, behind it in the same volume. */
function isLater(a: MatchFeatures, b: MatchFeatures): boolean {
  const [its, main] = [a.place.pages, b.place.pages];
  if (its === undefined || main === undefined || its.letters !== main.letters) return false;
  return (
    isBrief(a.place) &&
    its.first > main.last &&
    compareVolumes(a.place, b.place) === "same" &&
    compareAuthors(a.authors, b.authors) === "all"
  );
}

/** Whether a record stands there: on that page; or in that issue, where its title says that it corrects. */
function standsAt({ title, place: { volume, issue, pages } }: MatchFeatures, where: CorrectionPlace): boolean {
  if (volume?.numbers[0] !== where.volume) return false;
  if (pages !== undefined && pages.first === where.page) return true;
  return title?.corrects === true && where.issue !== undefined && issue?.numbers[0] === where.issue;
}

/**
 * Whether the first is the abstract of the second in the same volume of its journal, as societies print them before
 * their congress. A page of the same title behind the article is a correction rather.
 */
function isItsAbstract(a: MatchFeatures, b: MatchFeatures): boolean {
  const [its, main] = [a.place.pages, b.place.pages];
  if (its === undefined || main === undefined || its.letters !== "" || main.letters !== "") return false;
  if (!isBrief(a.place) || main.last - main.first < 2 || its.last >= main.first) return false;
  return (
    a.year !== undefined &&
    a.year === b.year &&
    a.title?.compact === b.title?.compact &&
    a.title !== undefined &&
    isLong(a.title) &&
    !a.title.generic &&
    Math.min(a.authors.count, b.authors.count) >= 3 &&
    a.authors.surname === b.authors.surname &&
    compareAuthors(a.authors, b.authors) === "all" &&
    compareVenues(a.venue, b.venue) === "same" &&
    compareVolumes(a.place, b.place) === "same"
  );
}

/** Whether the first is a letter, such as the reply, among those that the second holds as "(multiple letters)". */
function isLetterOf(a: MatchFeatures, b: MatchFeatures): boolean {
  const [its, all] = [a.place.pages, b.place.pages];
  if (b.title?.letters !== true || a.title?.letters === true || its === undefined || all === undefined) return false;
  const words = [...a.authors.words];
  return (
    (a.title?.answers ?? a.title?.compact) === b.title.compact &&
    compareVolumes(a.place, b.place) === "same" &&
    compareIssues(a.place, b.place) !== "other" &&
    compareVenues(a.venue, b.venue) !== "other" &&
    comparePages(a.place, b.place) !== "other" &&
    its.first >= all.first &&
    its.last <= all.last &&
    words.length > 0 &&
    words.filter((word) => b.authors.words.has(word)).length / words.length > 0.7
  );
}

/**
 * What a correction adds to the record of the article. A check asks a service for the article alone and takes back what
 * that service said before; this was said by a search.
 */
export const asUpdate = ({ date, source, identifiers: { doi }, url }: PaperRecord) =>
  ({
    type: "correction",
    ...(date !== null && /^\d{4}-\d\d-\d\d$/.test(date) ? { date } : {}),
    source: `a search of ${source}`,
    notice: doi ?? url,
  }) as const satisfies Update;

/** The corrections among these companion reports, each once. */
export function correctionsAmong(companions: readonly CompanionReport[] = []): Update[] {
  const said = companions.flatMap(({ record, kind }) => (kind === "correction" ? [asUpdate(record)] : []));
  return said.filter((each, index) => said.findIndex((one) => isSameUpdate(one, each)) === index);
}

/** Whether two updates are one: told with one date, or of one notice. Versions of a preprint share an address. */
export function isSameUpdate(a: NotedUpdate, b: NotedUpdate): boolean {
  if (a.type !== b.type) return false;
  if (a.type === "version" || a.notice === undefined || b.notice === undefined) return a.date === b.date;
  return (a.date !== undefined && a.date === b.date) || a.notice.toLowerCase() === b.notice.toLowerCase();
}

interface NotedUpdate {
  readonly type: string;
  readonly date?: string;
  readonly notice?: string;
}

/** In the order of their days, those of no day last. */
export const oldestFirst = <Noted extends NotedUpdate>(updates: readonly Noted[]): Noted[] =>
  updates.toSorted((a, b) => ((a.date ?? "9999") < (b.date ?? "9999") ? -1 : a.date === b.date ? 0 : 1));
