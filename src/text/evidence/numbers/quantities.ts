import { unitOf, type Unit } from "./units.js";

/** A number of a text with its unit. */
export interface Quantity {
  readonly value: number;
  /** Number of decimal digits, as written. */
  readonly decimals: number;
  /** Number of significant digits, without leading zeros. */
  readonly digits: number;
  readonly unit?: Unit;
  /** The unit after the slash: the litre of "5 mg/L". */
  readonly per?: Unit;
  /** Set if a minus sign is directly before it. `value` is then positive. */
  readonly isNegative?: true;
  /** As written, with the unit. */
  readonly written: string;
  readonly start: number;
  readonly end: number;
}

/** A piece of a text for comparing: a quantity, or a word or sign in lower case. */
export type Token =
  | { readonly quantity: Quantity; readonly start: number }
  | { readonly word: string; readonly start: number };

/** A number with thousands separators. */
const withThousands = "\\p{Nd}{1,3}(?:[,\\u202f ]\\p{Nd}{3}){1,4}(?!\\p{Nd})(?:\\.\\p{Nd}{1,15})?";
/** A comma is a decimal point if no other meaning is possible: "0,05", "12,5 %". */
const withComma = "0,\\p{Nd}{1,9}(?![\\p{Nd},])|\\p{Nd}{1,4},\\p{Nd}{1,2}(?=\\s?%)";
/**
 * A power of ten after a number: "× 10⁻⁵", "x 10^-5", "e-5". After a dash that is not a minus sign, two digits are a
 * range: "3 × 10–12 repetitions".
 */
const power =
  "\\s?[×x·*]\\s?10(?:\\^\\{?[-−–]?\\p{Nd}{1,3}\\}?|(?:−\\p{Nd}{1,2}|[-–]\\p{Nd})(?!\\p{Nd})|[⁻⁺]?[⁰¹²³⁴-⁹]{1,3})|[eE][-−+]?\\p{Nd}{1,3}(?![\\p{L}\\p{Nd}])";
/**
 * The patterns for a piece of a text. Their groups are: word, power of ten without a number before it, number, power,
 * sign. They have no names, because matching would take 50 % longer.
 */
const piecePatterns = [
  "(\\p{L}{1,60}(?:[-\\u2010\\u2011]\\n?\\p{L}{1,60}){0,5}\\p{N}{0,9})",
  "\\[(?:p\\. ?)?\\d{1,5}(?:\\s?[,;–-]\\s?\\d{1,3}){0,9}\\]",
  "((?<![\\p{N}.,])10(?:\\^\\{?[-−–]?\\p{Nd}{1,3}\\}?|[⁻⁺]?[⁰¹²³⁴-⁹]{1,3}))",
  `(${withComma}|${withThousands}|\\p{Nd}{1,15}(?:\\.\\p{Nd}{1,15})?)(${power})?`,
  "([<>≤≥≠±=~≈×+^/−–$€£-])",
];
const piecePattern = new RegExp(piecePatterns.join("|"), "gu");
const unitPattern =
  /^[ \n\u00a0\u202f-]?([%‰℃℉]|° ?[CF]|[Dd]egrees? [CF](?:elsius|ahrenheit)?|[\p{L}µÅ]{1,12}(?:[²³]|(?<=m)[23])?)(?![\p{L}\p{N}])/u;
const perPattern = /^\/([\p{L}µ]{1,8})(?![\p{L}\p{N}/])/u;
/** A minus sign, not the dash of a range, a compound or a list. */
const minusBefore = /(?:^|[^\p{Nd}%\s\p{L}]\s{0,2}|\p{L}\s{1,2})[-−–]$/u;
const exponentIn = (power: string): number =>
  Number(
    /[-+]?\d{1,3}/.exec(
      power
        .replace(/^\s?[×x·*]?\s?10/u, "")
        .normalize("NFKC")
        .replace(/[−–]/g, "-"),
    )?.[0] ?? 0,
  );

/** A word without hyphens, because a compound and a word at a line break look the same. */
const withoutHyphens = (word: string): string => word.replace(/[-\u2010\u2011\n]/g, "").toLowerCase();

/** The words, signs and numbers of a text, in order. A unit is part of its number. Linear in the length. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let lastEnd = 0;
  for (const match of text.matchAll(piecePattern)) {
    if (match.index < lastEnd) continue;
    const [written, word, ten, number, power, sign] = match;
    const start = match.index;
    if (word !== undefined) tokens.push({ word: withoutHyphens(word), start });
    else if (number !== undefined || ten !== undefined) {
      const quantity = quantityAt(text, start, number ?? "1", written.length, power ?? ten);
      tokens.push({ quantity, start });
      lastEnd = quantity.end;
    } else if (sign !== undefined) tokens.push({ word: sign === "−" || sign === "–" ? "-" : sign, start });
  }
  return withUnitsOfRanges(tokens);
}

/**
 * Adds the unit to the first number of "10–20 mg" and "5.4 ± 0.2 mg", where it is only written after the second one.
 */
const withUnitsOfRanges = (tokens: readonly Token[]): Token[] =>
  tokens.map((token, index) => {
    const [joint, next] = [tokens[index + 1], tokens[index + 2]];
    if (!("quantity" in token) || token.quantity.unit !== undefined) return token;
    if (joint === undefined || "quantity" in joint || !["-", "to", "±"].includes(joint.word)) return token;
    if (next === undefined || !("quantity" in next) || next.quantity.unit === undefined) return token;
    const { unit, per } = next.quantity;
    return { ...token, quantity: { ...token.quantity, unit, ...(per === undefined ? {} : { per }) } };
  });

function quantityAt(text: string, start: number, number: string, length: number, power?: string): Quantity {
  const digitsText = /^(?:0,\p{Nd}{1,9}|\p{Nd}{1,4},\p{Nd}{1,2})$/u.test(number)
    ? number.replace(",", ".")
    : number.replace(/[,\u202f ]/gu, "");
  const exponent = power === undefined ? 0 : exponentIn(power);
  const [integerPart = "", decimalPart = ""] = digitsText.split(".");
  const digits = `${integerPart}${decimalPart}`.replace(/^0{1,15}/, "").length;
  const numberEnd = start + length;
  const [unitText = "", name = ""] = unitPattern.exec(text.slice(numberEnd, numberEnd + 24)) ?? [];
  const unit = unitOf(name);
  const unitEnd = unit === undefined ? numberEnd : numberEnd + unitText.length;
  const [perText = "", perName = ""] =
    unit === undefined ? [] : (perPattern.exec(text.slice(unitEnd, unitEnd + 10)) ?? []);
  const per = unitOf(perName);
  const end = per === undefined ? unitEnd : unitEnd + perText.length;
  return {
    value: power === undefined ? Number(digitsText) : Number(`${digitsText}e${exponent}`),
    decimals: decimalPart.length - exponent,
    digits,
    unit,
    per,
    ...(minusBefore.test(text.slice(Math.max(0, start - 4), start)) ? { isNegative: true } : {}),
    written: text.slice(start, end).replace(/\s/g, " "),
    start,
    end,
  };
}

/** The numbers of a text, without digits in words, such as "GPT4". */
export const quantitiesIn = (text: string): Quantity[] =>
  tokensOf(text).flatMap((token) => ("quantity" in token ? [token.quantity] : []));

const withoutUnit = ({ unit: _, per: __, ...number }: Quantity): Quantity => number;

/** The relative tolerance for rounding errors of floating-point numbers. */
const tolerance = 1e-9;

/**
 * Compares a number of a statement with a known one: `same`, `near` if only the unit or the rounding differs, or
 * `other`. A rounded number has at least two digits and fewer than the known one: more digits than in the paper would
 * be invented.
 */
export function compareQuantities(number: Quantity, known: Quantity): "same" | "near" | "other" {
  if (number.unit?.isOptional && known.unit === undefined) return compareQuantities(withoutUnit(number), known);
  if (known.unit?.isOptional && number.unit === undefined) return compareQuantities(number, withoutUnit(known));
  // "5 mg" may be stated for "5 mg/day".
  const hasPer = number.per !== undefined && known.per !== undefined;
  const dimensionOf = ({ unit, per }: Quantity) => (hasPer ? `${unit?.dimension}/${per?.dimension}` : unit?.dimension);
  const factorOf = ({ unit, per }: Quantity) => (unit?.factor ?? 1) / (hasPer ? (per?.factor ?? 1) : 1);
  const sameDimension = dimensionOf(number) === dimensionOf(known);
  // 0.94 is 94 %; 5 is not 500 %.
  const isRatioOf = (ratio: Quantity, plainNumber: Quantity) =>
    ratio.unit?.dimension === "ratio" &&
    plainNumber.unit === undefined &&
    plainNumber.value <= 1 &&
    plainNumber.decimals > 0;
  // "3 million" is 3,000,000.
  const isCountOf = (count: Quantity, plainNumber: Quantity) =>
    count.unit?.dimension === "count" && plainNumber.unit === undefined;
  if (
    !sameDimension &&
    !isRatioOf(number, known) &&
    !isRatioOf(known, number) &&
    !isCountOf(number, known) &&
    !isCountOf(known, number)
  )
    return "other";
  const [factor, knownFactor] = [factorOf(number), factorOf(known)];
  const hasOffset = number.unit?.offset !== known.unit?.offset;
  // Between °C and °F, the sign is part of the value. In other cases, the caller compares the signs.
  const valueOf = (quantity: Quantity, unitFactor: number) => {
    const signedValue = quantity.isNegative ? -quantity.value : quantity.value;
    return (hasOffset ? signedValue + (quantity.unit?.offset ?? 0) : quantity.value) * unitFactor;
  };
  const [value, knownValue] = [valueOf(number, factor), valueOf(known, knownFactor)];
  const difference = Math.abs(value - knownValue);
  const isSameUnit = factor === knownFactor && sameDimension && !hasOffset;
  if (difference <= tolerance * Math.abs(knownValue)) return isSameUnit ? "same" : "near";
  const step = 10 ** -number.decimals * factor;
  const knownStep = 10 ** -known.decimals * knownFactor;
  // A number that was converted by a factor that is not a power of ten, such as lb to kg, is usually not a round
  // number.
  const isConverted = !isSameUnit && Math.log10(factor / knownFactor) % 1 !== 0;
  const isRounded = number.digits >= 2 && (knownStep < step * (1 - tolerance) || isConverted || hasOffset);
  return isRounded && difference <= (step / 2) * (1 + tolerance) ? "near" : "other";
}
