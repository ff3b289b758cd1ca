import type { CheckedNumber, Evidence } from "../evidence-record.js";
import { groupBy } from "../../../engine/lib/group.js";
import type { DocumentText } from "../../documents/text/document-text.js";
import { compareQuantities, quantitiesIn, type Quantity } from "./quantities.js";
import { type StoredQuote, placesIn } from "../quoted.js";

/** Whole numbers up to this one are ignored if they have no unit, because they often only count things in prose. */
const maxSmallNumber = 10;
/** Maximum number of stored numbers of one text. */
const maxNumbers = 60;

/**
 * Checks whether every number of a text, such as a reading's results, is in the quotes that were found. Only these are
 * evidence; a place elsewhere in the paper is a hint. Without the paper's text, no number is called false.
 */
export function checkNumbers(
  statement: string,
  evidence: readonly Evidence[],
  text: DocumentText | undefined,
): CheckedNumber[] {
  const quotedNumbers = evidence
    .filter(({ status }) => status === "verified")
    .flatMap((each) => numbersOf(each).quoted);
  // The text is read only if a number is in no quote, which is rare.
  let textNumbers: readonly Quantity[] | undefined;
  const numbersInText = text === undefined ? undefined : () => (textNumbers ??= quantitiesIn(text.text));
  const checked = new Map<string, CheckedNumber>();
  for (const number of quantitiesIn(statement)) {
    if (checked.has(number.written) || checked.size >= maxNumbers) continue;
    if (mayLackUnit(number) && isSmall(number)) continue;
    checked.set(number.written, { number: number.written, ...statusOf(number, quotedNumbers, numbersInText) });
  }
  return [...checked.values()];
}

/** A number in the quoted words. `isPart`: the quote ends within the number, so that a part of its unit is missing. */
type QuotedNumber = Quantity & { readonly isPart?: true };

/** The numbers of a passage, inside and outside the quoted words. */
function numbersOf({ passage, quoted = "", quote = "" }: StoredQuote): {
  readonly quoted: readonly QuotedNumber[];
  readonly around: readonly Quantity[];
} {
  if (passage === undefined) return { quoted: quantitiesIn(quote), around: [] };
  const places = placesIn(quoted);
  const numbers = quantitiesIn(passage);
  const quotedNumbers: QuotedNumber[] = [];
  const numbersAround: Quantity[] = [];
  for (const [index, number] of numbers.entries()) {
    const [quoteStart = 0, quoteEnd] =
      places.find(([begin, close]) => number.start >= begin && number.start < close) ?? [];
    const isSigned = number.isNegative === true && number.start > quoteStart;
    // The unit of "10–20 mg" is after the second number.
    const end = isWithoutOwnUnit(number) ? (numbers[index + 1]?.end ?? number.end) : number.end;
    const hasQuotedSign = isSigned || number.isNegative !== true;
    if (quoteEnd !== undefined && end <= quoteEnd && hasQuotedSign) quotedNumbers.push(number);
    else {
      numbersAround.push(number);
      const part = quoteEnd === undefined ? undefined : quantitiesIn(passage.slice(number.start, quoteEnd))[0];
      if (part?.value !== number.value || part.start !== 0) continue;
      quotedNumbers.push({ ...part, ...(isSigned ? { isNegative: true } : {}), isPart: true });
    }
  }
  return { quoted: quotedNumbers, around: numbersAround };
}

/** Whether the unit of a number is only written after another number, as in "10–20 mg". */
const isWithoutOwnUnit = ({ unit, written }: Quantity): boolean =>
  unit !== undefined && !/[^\p{Nd}.,\s]/u.test(written);

/** Whether a quoted number is the same as a number of a statement, with as much of its unit as is quoted. */
const isSameNumber = (quotedNumber: QuotedNumber, number: Quantity): boolean =>
  isSame(number, quotedNumber) &&
  (quotedNumber.isPart !== true ||
    number.unit === undefined ||
    (quotedNumber.unit !== undefined && number.per === undefined));
const isNear = (quotedNumber: QuotedNumber, number: Quantity): boolean =>
  quotedNumber.isPart !== true && compareQuantities(number, quotedNumber) === "near";

/** The number as it is written in its text, with its minus sign. */
const writtenNumber = ({ isNegative, written }: Quantity): string => `${isNegative === true ? "−" : ""}${written}`;

/** The numbers of a sentence that are not in its quotes. */
export interface QuotedNumbers {
  /** Numbers that are in no passage, as written. */
  readonly missing: readonly string[];
  /** Numbers that are in a passage, but outside the quoted words. */
  readonly outside: readonly string[];
  /** Numbers that a quote has in another unit or with more digits. */
  readonly near: readonly { readonly number: string; readonly quoted: string }[];
}

/** What a sentence may say of a paper that it cites, without a quote: its title and its year. */
export interface CitedWork {
  readonly title: string;
  /** YYYY, YYYY-MM or YYYY-MM-DD. */
  readonly date?: string | null;
}

/**
 * The numbers of a sentence that are in none of its quotes, and not in the title or the year of a paper that it cites.
 * Whole numbers up to ten without a unit are ignored, because in prose they often only count things.
 */
export function numbersWithoutQuote(
  statement: string,
  quotes: readonly StoredQuote[],
  citedWorks: readonly CitedWork[] = [],
): QuotedNumbers {
  const numbersByQuote = quotes.map(numbersOf);
  const quoted = numbersByQuote.flatMap((each) => each.quoted);
  const around = numbersByQuote.flatMap((each) => each.around);
  const namingNumbers = citedWorks.flatMap(({ title, date }) => [
    ...quantitiesIn(title),
    ...quantitiesIn(date?.slice(0, 4) ?? ""),
  ]);
  const missing = new Set<string>();
  const outside = new Set<string>();
  const near = new Map<string, string>();
  for (const number of quantitiesIn(statement)) {
    if (mayLackUnit(number) && isSmall(number)) continue;
    if (namingNumbers.some((each) => isSame(number, each))) continue;
    if (quoted.some((each) => isSameNumber(each, number))) continue;
    const nearNumber = quoted.find((each) => isNear(each, number));
    if (nearNumber !== undefined) near.set(writtenNumber(number), writtenNumber(nearNumber));
    else if (around.some((each) => isSame(number, each))) outside.add(writtenNumber(number));
    else missing.add(writtenNumber(number));
  }
  return {
    missing: [...missing],
    outside: [...outside],
    near: [...near].map(([number, quotedNumber]) => ({ number, quoted: quotedNumber })),
  };
}

/** Adds to each record the numbers of its claim that are in no quote of the claim. */
export function withNumbers(evidence: readonly Evidence[]): Evidence[] {
  const isFound = ({ status }: Evidence) => status === "verified" || status === "near";
  const byClaim = groupBy(evidence.filter(isFound), ({ claim }) => claim);
  return evidence.map((each) => {
    if (!isFound(each)) return each;
    const { missing, outside } = numbersWithoutQuote(each.claim, byClaim.get(each.claim) ?? []);
    const numbers = [
      ...outside.map((number) => ({ number, stands: "in-passage" as const })),
      ...missing.map((number) => ({ number, stands: "nowhere" as const })),
    ];
    return numbers.length === 0 ? each : { ...each, numbers };
  });
}

const withoutSign = ({ isNegative: _, ...number }: Quantity): Quantity => number;
const mayLackUnit = ({ unit }: Quantity): boolean => unit === undefined || unit.isOptional === true;
const isSmall = ({ value }: Quantity): boolean => Number.isInteger(value) && value <= maxSmallNumber;

function statusOf(
  number: Quantity,
  quoted: readonly QuotedNumber[],
  numbersInText: (() => readonly Quantity[]) | undefined,
): Pick<CheckedNumber, "status" | "reason"> {
  if (quoted.some((each) => isSameNumber(each, number))) return { status: "verified" };
  const near = quoted.find((each) => isNear(each, number));
  if (near !== undefined) return { status: "near", reason: `a quote has "${near.written}"` };
  const unsigned = quoted.find((each) => isSameNumber(each, withoutSign(number)));
  if (unsigned !== undefined) return { status: "near", reason: `a quote has "${unsigned.written}" without a minus` };
  if (numbersInText === undefined) return { status: "could-not-check" };
  const isInText = numbersInText().some((each) => isSame(number, each));
  return isInText
    ? { status: "in-text", reason: "it stands in the paper, but in no quote that was found" }
    : { status: "not-in-text" };
}

/** Whether two numbers are the same. A number without a unit matches one with a unit: "94" for "94 %". */
const isSame = (number: Quantity, quotedNumber: Quantity): boolean =>
  (compareQuantities(number, quotedNumber) === "same" ||
    (number.unit === undefined && number.value === quotedNumber.value)) &&
  // "Reduced by 3.2" may mean −3.2; but a minus sign must be in the paper.
  (number.isNegative !== true || quotedNumber.isNegative === true);
