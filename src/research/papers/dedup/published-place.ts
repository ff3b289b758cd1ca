import { withoutUndefined } from "../../../engine/lib/without-undefined.js";

/** The place of a record in a journal. */
export interface JournalPlace {
  readonly volume?: PlaceNumber;
  readonly issue?: PlaceNumber;
  readonly pages?: Pages;
}

/** A number in a source's format: "4", "4 (1)", "Suppl. 2", "23-24". */
interface PlaceNumber {
  /**
   * The text around the numbers: empty for "4", "suppl #" for "Suppl. 2". Only numbers of the same kind are compared.
   */
  readonly kind: string;
  readonly numbers: readonly number[];
}

interface Pages {
  /** Letters before the number: "s" in "S528", "e" in "e0123"; may be empty. */
  readonly letters: string;
  readonly first: number;
  /** Equal to `first` if only one page is named. */
  readonly last: number;
}

/** `other`: they are different; `unknown`: one value is missing, or they can't be compared. */
export type Likeness = "same" | "other" | "unknown";

export const placeOf = (paper: {
  readonly volume?: string | null;
  readonly issue?: string | null;
  readonly pages?: string | null;
}): JournalPlace =>
  withoutUndefined({ volume: parseNumber(paper.volume), issue: parseNumber(paper.issue), pages: pagesOf(paper.pages) });

function parseNumber(text: string | null | undefined): PlaceNumber | undefined {
  // "4 (1)" is a volume with its issue.
  const plain = (text ?? "")
    .toLowerCase()
    .replace(/^\s*(?:vol(?:ume)?|no|nr|issue)\b\.?/, "")
    .replace(/(?<=\d)\s*\([^)]*\)\s*$/, "");
  const numbers = (plain.match(/\d+/g) ?? []).map(Number);
  if (numbers.length === 0) return undefined;
  const kind = plain
    .replace(/\d+/g, "#")
    .replace(/[^\p{L}#()]+/gu, " ")
    .trim();
  return { kind: kind === "#" ? "" : kind, numbers };
}

function pagesOf(text: string | null | undefined): Pages | undefined {
  const plain = (text ?? "").toLowerCase().replace(/^\s*(?:pages?|pp?)\b\.?\s*/, "");
  // "215 p" is the number of pages.
  const match =
    /^\D{0,3}?(\p{L}{0,4})[\s.]*(\d+)(?!\d*\s*p(?:p|ages)?\b)(?:\s*[-\u2010-\u2015\u2212]+\s*\p{L}{0,4}(\d+))?/u.exec(
      plain,
    );
  if (match === null) return undefined;
  const [, letters = "", start = "", end = start] = match;
  const first = Number(start);
  // An article that is not in an issue yet starts at page 1, so this page is not distinctive.
  if (letters === "" && first === 1) return undefined;
  // "943-5" ends on page 945.
  const last = end.length < start.length ? Number(start.slice(0, start.length - end.length) + end) : Number(end);
  return { letters, first, last };
}

const isYear = (number: number): boolean => number >= 1900 && number < 2100;

/**
 * Compares volumes. Some journals use the year as the number of a volume, so a year and another number can't be
 * compared. "15" and "15 Suppl. 3" are one volume, but not "Suppl. 15".
 */
export const compareVolumes = ({ volume: a }: JournalPlace, { volume: b }: JournalPlace): Likeness =>
  a !== undefined &&
  b !== undefined &&
  a.kind !== b.kind &&
  startsWithNumber(a) &&
  startsWithNumber(b) &&
  a.numbers[0] === b.numbers[0]
    ? "same"
    : compareNumbers(a, b, isYear);

/** Compares issues. A number above 53 is counted over several volumes, so it can't be compared with a lower one. */
export const compareIssues = ({ issue: a }: JournalPlace, { issue: b }: JournalPlace): Likeness =>
  compareNumbers(a, b, (number) => number > 53);

const startsWithNumber = ({ kind }: PlaceNumber): boolean => kind === "" || kind.startsWith("#");

/** Compares numbers. They can only be different if `isOtherKind`, the kind of counting, is equal for both. */
function compareNumbers(
  a: PlaceNumber | undefined,
  b: PlaceNumber | undefined,
  isOtherKind: (number: number) => boolean,
): Likeness {
  if (a === undefined || b === undefined || a.kind !== b.kind) return "unknown";
  if (a.numbers.join() === b.numbers.join()) return "same";
  const [aNumber = 0, bNumber = 0] = [a.numbers[0], b.numbers[0]];
  return isOtherKind(aNumber) === isOtherKind(bNumber) ? "other" : "unknown";
}

/**
 * Compares pages. "e123" and "123" are the same page. Ranges with one common end are the same, because the other end
 * can be an error. "S12" and "S40" are different; "S12" and "40" can't be compared.
 */
export function comparePages({ pages: a }: JournalPlace, { pages: b }: JournalPlace): Likeness {
  if (a === undefined || b === undefined) return "unknown";
  if (a.letters !== b.letters && a.letters !== "" && b.letters !== "") return "unknown";
  if (a.first === b.first) return "same";
  if (a.letters !== b.letters) return "unknown";
  if (a.last === b.last && isRange(a) && isRange(b)) return "same";
  return a.first <= b.last && b.first <= a.last ? "unknown" : "other";
}

const isRange = ({ first, last }: Pages): boolean => last !== first;

/**
 * The first place with values in the right fields, if the second place shows that they are in wrong ones: a database
 * may have the volume in the field for the issue, and the issue in the field for pages.
 */
export function correctedPlace(place: JournalPlace, { volume, issue }: JournalPlace): JournalPlace {
  const { volume: ownVolume, issue: ownIssue, pages } = place;
  if (
    ownVolume !== undefined ||
    ownIssue === undefined ||
    volume === undefined ||
    ownIssue.kind !== "" ||
    !startsWithNumber(volume)
  )
    return place;
  if (ownIssue.numbers[0] !== volume.numbers[0]) return place;
  if (pages === undefined) return { volume: ownIssue };
  const isIssue = pages.letters === "" && !isRange(pages) && issue?.numbers[0] === pages.first;
  return isIssue ? { volume: ownIssue, ...withoutUndefined({ issue }) } : place;
}

/**
 * Whether the text has one or two pages, like abstracts, letters and corrections; also if only the first page is known.
 */
export const isBrief = ({ pages }: JournalPlace): boolean => pages !== undefined && pages.last - pages.first <= 1;

/** Whether both have the same range of at least three pages, which contains only one article. */
export const hasOneRange = ({ pages: a }: JournalPlace, { pages: b }: JournalPlace): boolean =>
  a !== undefined && b !== undefined && a.first === b.first && a.last === b.last && a.last - a.first >= 2;

/** Like hasOneRange, also if one place names only the first page. */
export const mayBeOneRange = ({ pages: a }: JournalPlace, { pages: b }: JournalPlace): boolean =>
  a !== undefined &&
  b !== undefined &&
  a.first === b.first &&
  (a.last === b.last || !isRange(a) || !isRange(b)) &&
  Math.max(a.last - a.first, b.last - b.first) >= 2;

/** Whether the volume, the issue or the page ("S12") is that of a supplement. */
export const isInSupplement = ({ volume, issue, pages }: JournalPlace): boolean =>
  pages?.letters === "s" || [volume, issue].some((number) => /(?:^|[# ])s(?:$|[# ]|uppl)/.test(number?.kind ?? ""));

/** The place of a correction that a record's title names. */
export interface CorrectionPlace {
  readonly volume: number;
  readonly issue?: number;
  readonly page: number;
}

/**
 * The places of an article's corrections, which Medline writes into the title: "[Erratum appears in J Touch. 2009 Jun
 * 4;36(23):2487]". `hasMore`: the title is cut within the note of another correction, "].[Erratum".
 */
export function correctionPlaces(title: string): {
  readonly places: readonly CorrectionPlace[];
  readonly hasMore: boolean;
} {
  const notes = /\[(?:published )?(?:errat(?:um|a)|corrections?)\b.*$/is.exec(title)?.[0] ?? "";
  const places = [...notes.matchAll(/;\s?(\d{1,5})(?:\s?\((\d{1,5})[^()]*\))?\s?:\s?\p{L}{0,3}(\d{1,7})/gu)].map(
    ([, volume, issue, page]) => ({
      volume: Number(volume),
      ...withoutUndefined({ issue: issue === undefined ? undefined : Number(issue) }),
      page: Number(page),
    }),
  );
  return {
    places,
    hasMore: places.length > 0 && /\]\W{0,3}\[(?:published )?(?:errat(?:um|a)|corrections?)\b[^\]:;]*$/i.test(notes),
  };
}
