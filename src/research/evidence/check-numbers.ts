import type { CheckedNumber, Evidence } from "../generated/rrd.js";
import type { DocumentText } from "../../engine/documents/text/document-text.js";
import { compareQuantities, quantitiesIn, type Quantity } from "./quantities.js";

/** Whole numbers up to this count things in prose. */
const maxSmall = 10;
/** Numbers of one text that are kept in the record. */
const maxNumbers = 60;

/**
 * Looks for every number of a text, such as a reading's results, in the quotes that were found: those are its proof, a
 * place elsewhere in the paper is only a hint. Without the paper's text no number is called false.
 */
export function checkNumbers(
  said: string,
  evidence: readonly Evidence[],
  text: DocumentText | undefined,
): CheckedNumber[] {
  const quoted = evidence.filter(({ status }) => status === "verified").flatMap(({ quote }) => quantitiesIn(quote));
  const everywhere = text === undefined ? [] : quantitiesIn(text.text);
  const checked = new Map<string, CheckedNumber>();
  for (const number of quantitiesIn(said)) {
    if (checked.has(number.written) || checked.size >= maxNumbers) continue;
    if (mayLackUnit(number) && isSmall(number)) continue;
    checked.set(number.written, {
      number: number.written,
      ...statusOf(number, quoted, everywhere, text !== undefined),
    });
  }
  return [...checked.values()];
}

/** How the numbers of a sentence stand to the quotes that it rests on. */
export interface QuotedNumbers {
  /** Numbers that no quote holds, as they are written. */
  readonly missing: readonly string[];
  /** Numbers that a quote holds in another unit or with more digits. */
  readonly near: readonly { readonly number: string; readonly quoted: string }[];
}

/**
 * Which numbers of a sentence stand in none of the quotes that it rests on. Whole numbers up to ten without a unit
 * count things in prose and are let pass, as are `known` ones, such as the years of the papers.
 */
export function numbersWithoutQuote(
  said: string,
  quotes: readonly string[],
  known: ReadonlySet<number> = new Set(),
): QuotedNumbers {
  const quoted = quotes.flatMap(quantitiesIn);
  const missing = new Set<string>();
  const near = new Map<string, string>();
  for (const number of quantitiesIn(said)) {
    if (mayLackUnit(number) && (isSmall(number) || known.has(number.value))) continue;
    if (quoted.some((each) => isSame(number, each))) continue;
    const like = quoted.find((each) => compareQuantities(number, each) === "near");
    if (like === undefined) missing.add(number.written);
    else near.set(number.written, like.written);
  }
  return { missing: [...missing], near: [...near].map(([number, held]) => ({ number, quoted: held })) };
}

const unsignedOf = ({ isNegative: _, ...number }: Quantity): Quantity => number;
const mayLackUnit = ({ unit }: Quantity): boolean => unit === undefined || unit.isOptional === true;
const isSmall = ({ value }: Quantity): boolean => Number.isInteger(value) && value <= maxSmall;

function statusOf(
  number: Quantity,
  quoted: readonly Quantity[],
  everywhere: readonly Quantity[],
  hasText: boolean,
): Pick<CheckedNumber, "status" | "reason"> {
  if (quoted.some((each) => isSame(number, each))) return { status: "verified" };
  const near = quoted.find((each) => compareQuantities(number, each) === "near");
  if (near !== undefined) return { status: "near", reason: `a quote has "${near.written}"` };
  const unsigned = quoted.find((each) => isSame(unsignedOf(number), each));
  if (unsigned !== undefined) return { status: "near", reason: `a quote has "${unsigned.written}" without a minus` };
  if (!hasText) return { status: "could-not-check" };
  const isSomewhere = everywhere.some((each) => isSame(number, each));
  return isSomewhere
    ? { status: "in-text", reason: "it stands in the paper, but in no quote that was found" }
    : { status: "not-in-text" };
}

/** A number written without its unit is the quote's as well: "94" for "94 %". */
const isSame = (said: Quantity, known: Quantity): boolean =>
  (compareQuantities(said, known) === "same" || (said.unit === undefined && said.value === known.value)) &&
  // "Reduced by 3.2" may be said of −3.2; a minus is nobody's but the paper's.
  (said.isNegative !== true || known.isNegative === true);
