import { withoutUndefined } from "../../../engine/lib/without-undefined.js";

/** Where in a journal a record stands. */
export interface JournalPlace {
  readonly volume?: Numbered;
  readonly issue?: Numbered;
  readonly pages?: Pages;
}

/** A number as a source writes it: "4", "4 (1)", "Suppl. 2", "23-24". */
interface Numbered {
  /**
   * What is written around the numbers: nothing for "4", "suppl #" for "Suppl. 2". Two numbers are compared only where
   * this is the same.
   */
  readonly kind: string;
  readonly numbers: readonly number[];
}

interface Pages {
  /** "s" of "S528", "e" of "e0123"; empty for a plain number. */
  readonly letters: string;
  readonly first: number;
  /** Equal to `first` where only one page is named. */
  readonly last: number;
}

/** `other`: it tells two works apart; `unknown`: one of them says nothing, or says it in another way. */
export type Likeness = "same" | "other" | "unknown";

export const placeOf = (paper: {
  readonly volume?: string | null;
  readonly issue?: string | null;
  readonly pages?: string | null;
}): JournalPlace =>
  withoutUndefined({ volume: numbered(paper.volume), issue: numbered(paper.issue), pages: pagesOf(paper.pages) });

function numbered(text: string | null | undefined): Numbered | undefined {
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
  // "215 p" counts the pages.
  const match =
    /^\D{0,3}?(\p{L}{0,4})[\s.]*(\d+)(?!\d*\s*p(?:p|ages)?\b)(?:\s*[-\u2010-\u2015\u2212]+\s*\p{L}{0,4}(\d+))?/u.exec(
      plain,
    );
  if (match === null) return undefined;
  const [, letters = "", start = "", end = start] = match;
  const first = Number(start);
  // Articles are counted from 1 before they are put into an issue, so this says nothing.
  if (letters === "" && first === 1) return undefined;
  // "943-5" ends on page 945.
  const last = end.length < start.length ? Number(start.slice(0, start.length - end.length) + end) : Number(end);
  return { letters, first, last };
}

const isYear = (number: number): boolean => number >= 1900 && number < 2100;

/**
 * Some journals number their volumes by the year, so a year and a number do not contradict each other. "15" and "15
 * Suppl. 3" are one volume, "Suppl. 15" is another matter.
 */
export const compareVolumes = ({ volume: a }: JournalPlace, { volume: b }: JournalPlace): Likeness =>
  a !== undefined && b !== undefined && a.kind !== b.kind && leads(a) && leads(b) && a.numbers[0] === b.numbers[0]
    ? "same"
    : compareNumbers(a, b, isYear);

/** A year has at most 53 weekly issues; a larger number runs on over the volumes. */
export const compareIssues = ({ issue: a }: JournalPlace, { issue: b }: JournalPlace): Likeness =>
  compareNumbers(a, b, (number) => number > 53);

const leads = ({ kind }: Numbered): boolean => kind === "" || kind.startsWith("#");

/** Two numbers differ only where they count the same: `sort` tells which of two ways of counting a number follows. */
function compareNumbers(a: Numbered | undefined, b: Numbered | undefined, sort: (number: number) => boolean): Likeness {
  if (a === undefined || b === undefined || a.kind !== b.kind) return "unknown";
  if (a.numbers.join() === b.numbers.join()) return "same";
  const [one = 0, other = 0] = [a.numbers[0], b.numbers[0]];
  return sort(one) === sort(other) ? "other" : "unknown";
}

/**
 * "e123" is what others write as 123, and a slip may change the first page or the last; "S12" and "S40" are two pages,
 * "S12" and "40" say nothing.
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
 * The first place as the second shows that it is meant: a database that lost the volume may have put it, "26", where
 * the issue belongs, and the issue, "9", where the pages do.
 */
export function asMeant(place: JournalPlace, { volume, issue }: JournalPlace): JournalPlace {
  const { volume: none, issue: moved, pages } = place;
  if (none !== undefined || moved === undefined || volume === undefined || moved.kind !== "" || !leads(volume))
    return place;
  if (moved.numbers[0] !== volume.numbers[0]) return place;
  if (pages === undefined) return { volume: moved };
  const isIssue = pages.letters === "" && !isRange(pages) && issue?.numbers[0] === pages.first;
  return isIssue ? { volume: moved, ...withoutUndefined({ issue }) } : place;
}

/** Whether it takes up one page or two, as abstracts, letters and corrections do; or only the first is known. */
export const isBrief = ({ pages }: JournalPlace): boolean => pages !== undefined && pages.last - pages.first <= 1;

/** Whether both name the same pages, at least three: only one article stands there. */
export const hasOneRange = ({ pages: a }: JournalPlace, { pages: b }: JournalPlace): boolean =>
  a !== undefined && b !== undefined && a.first === b.first && a.last === b.last && a.last - a.first >= 2;

/** The same, or one names the first of these pages alone. */
export const mayBeOneRange = ({ pages: a }: JournalPlace, { pages: b }: JournalPlace): boolean =>
  a !== undefined &&
  b !== undefined &&
  a.first === b.first &&
  (a.last === b.last || !isRange(a) || !isRange(b)) &&
  Math.max(a.last - a.first, b.last - b.first) >= 2;

/** Whether it stands in a supplement, as the volume, the issue or the page ("S12") says. */
export const isInSupplement = ({ volume, issue, pages }: JournalPlace): boolean =>
  pages?.letters === "s" || [volume, issue].some((number) => /(?:^|[# ])s(?:$|[# ]|uppl)/.test(number?.kind ?? ""));

/** Where a record's title says that a correction of it stands. */
export interface CorrectionPlace {
  readonly volume: number;
  readonly issue?: number;
  readonly page: number;
}

/**
 * Where the corrections of an article stand: Medline writes "[Erratum appears in J Touch. 2009 Jun 4;36(23):2487]".
 * `more`: the database has cut the title within the note of a further one, "].[Erratum".
 */
export function correctionPlaces(title: string): {
  readonly places: readonly CorrectionPlace[];
  readonly more: boolean;
} {
  const noted = /\[(?:published )?(?:errat(?:um|a)|corrections?)\b.*$/is.exec(title)?.[0] ?? "";
  const places = [...noted.matchAll(/;\s?(\d{1,5})(?:\s?\((\d{1,5})[^()]*\))?\s?:\s?\p{L}{0,3}(\d{1,7})/gu)].map(
    ([, volume, issue, page]) => ({
      volume: Number(volume),
      ...withoutUndefined({ issue: issue === undefined ? undefined : Number(issue) }),
      page: Number(page),
    }),
  );
  return {
    places,
    more: places.length > 0 && /\]\W{0,3}\[(?:published )?(?:errat(?:um|a)|corrections?)\b[^\]:;]*$/i.test(noted),
  };
}
