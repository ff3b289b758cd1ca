import type { CheckedNumber, Evidence } from "../evidence-record.js";
import { groupBy } from "../../../engine/lib/group.js";
import type { DocumentText } from "../../documents/text/document-text.js";
import { compareQuantities, quantitiesIn, type Quantity } from "./quantities.js";
import { type StoredQuote, placesIn } from "../quoted.js";

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
  const quoted = evidence.filter(({ status }) => status === "verified").flatMap((each) => numbersOf(each).quoted);
  // Read for the first number that no quote has: most readings have none.
  let everywhere: readonly Quantity[] | undefined;
  const inText = text === undefined ? undefined : () => (everywhere ??= quantitiesIn(text.text));
  const checked = new Map<string, CheckedNumber>();
  for (const number of quantitiesIn(said)) {
    if (checked.has(number.written) || checked.size >= maxNumbers) continue;
    if (mayLackUnit(number) && isSmall(number)) continue;
    checked.set(number.written, { number: number.written, ...statusOf(number, quoted, inText) });
  }
  return [...checked.values()];
}

/** A number of the quoted words. `isPart`: what they have of it, the rest of its unit stands behind them. */
type Quoted = Quantity & { readonly isPart?: true };

/** The numbers of a passage, read where they stand: in the quoted words, and around them. */
function numbersOf({ passage, quoted = "", quote = "" }: StoredQuote): {
  readonly quoted: readonly Quoted[];
  readonly around: readonly Quantity[];
} {
  if (passage === undefined) return { quoted: quantitiesIn(quote), around: [] };
  const places = placesIn(quoted);
  const all = quantitiesIn(passage);
  const held: Quoted[] = [];
  const around: Quantity[] = [];
  for (const [index, number] of all.entries()) {
    const [from = 0, to] = places.find(([begin, close]) => number.start >= begin && number.start < close) ?? [];
    const isSigned = number.isNegative === true && number.start > from;
    // The unit of "10–20 mg" stands behind the second number.
    const end = isWithoutOwnUnit(number) ? (all[index + 1]?.end ?? number.end) : number.end;
    if (to !== undefined && end <= to && (isSigned || number.isNegative !== true)) held.push(number);
    else {
      around.push(number);
      const part = to === undefined ? undefined : quantitiesIn(passage.slice(number.start, to))[0];
      if (part?.value !== number.value || part.start !== 0) continue;
      held.push({ ...part, ...(isSigned ? { isNegative: true } : {}), isPart: true });
    }
  }
  return { quoted: held, around };
}

const isWithoutOwnUnit = ({ unit, written }: Quantity): boolean =>
  unit !== undefined && !/[^\p{Nd}.,\s]/u.test(written);

/** Whether the quoted words hold a number. Of a part only what it says itself counts. */
const holds = (held: Quoted, said: Quantity): boolean =>
  isSame(said, held) &&
  (held.isPart !== true || said.unit === undefined || (held.unit !== undefined && said.per === undefined));
const isNear = (held: Quoted, said: Quantity): boolean =>
  held.isPart !== true && compareQuantities(said, held) === "near";

/** As it is written, with its minus. */
const shown = ({ isNegative, written }: Quantity): string => `${isNegative === true ? "−" : ""}${written}`;

/** How the numbers of a sentence stand to the quotes that it rests on. */
export interface QuotedNumbers {
  /** Numbers that stand in no passage, as they are written. */
  readonly missing: readonly string[];
  /** Numbers that stand in a passage, outside the quoted words. */
  readonly outside: readonly string[];
  /** Numbers that a quote holds in another unit or with more digits. */
  readonly near: readonly { readonly number: string; readonly quoted: string }[];
}

/**
 * Which numbers of a sentence do not stand in the quoted words that it rests on. Whole numbers up to ten without a unit
 * count things in prose and are let pass, as are `known` ones, such as the years of the papers.
 */
export function numbersWithoutQuote(
  said: string,
  quotes: readonly StoredQuote[],
  known: ReadonlySet<number> = new Set(),
): QuotedNumbers {
  const held = quotes.map(numbersOf);
  const quoted = held.flatMap((each) => each.quoted);
  const around = held.flatMap((each) => each.around);
  const missing = new Set<string>();
  const outside = new Set<string>();
  const near = new Map<string, string>();
  for (const number of quantitiesIn(said)) {
    if (mayLackUnit(number) && (isSmall(number) || known.has(number.value))) continue;
    if (quoted.some((each) => holds(each, number))) continue;
    const like = quoted.find((each) => isNear(each, number));
    if (like !== undefined) near.set(shown(number), shown(like));
    else if (around.some((each) => isSame(number, each))) outside.add(shown(number));
    else missing.add(shown(number));
  }
  return {
    missing: [...missing],
    outside: [...outside],
    near: [...near].map(([number, held]) => ({ number, quoted: held })),
  };
}

/** Evidence with the numbers of each claim that none of the claim's quotes holds. */
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

const unsignedOf = ({ isNegative: _, ...number }: Quantity): Quantity => number;
const mayLackUnit = ({ unit }: Quantity): boolean => unit === undefined || unit.isOptional === true;
const isSmall = ({ value }: Quantity): boolean => Number.isInteger(value) && value <= maxSmall;

function statusOf(
  number: Quantity,
  quoted: readonly Quoted[],
  inText: (() => readonly Quantity[]) | undefined,
): Pick<CheckedNumber, "status" | "reason"> {
  if (quoted.some((each) => holds(each, number))) return { status: "verified" };
  const near = quoted.find((each) => isNear(each, number));
  if (near !== undefined) return { status: "near", reason: `a quote has "${near.written}"` };
  const unsigned = quoted.find((each) => holds(each, unsignedOf(number)));
  if (unsigned !== undefined) return { status: "near", reason: `a quote has "${unsigned.written}" without a minus` };
  if (inText === undefined) return { status: "could-not-check" };
  const isSomewhere = inText().some((each) => isSame(number, each));
  return isSomewhere
    ? { status: "in-text", reason: "it stands in the paper, but in no quote that was found" }
    : { status: "not-in-text" };
}

/** A number written without its unit is the quote's as well: "94" for "94 %". */
const isSame = (said: Quantity, known: Quantity): boolean =>
  (compareQuantities(said, known) === "same" || (said.unit === undefined && said.value === known.value)) &&
  // "Reduced by 3.2" may be said of −3.2; a minus is nobody's but the paper's.
  (said.isNegative !== true || known.isNegative === true);
