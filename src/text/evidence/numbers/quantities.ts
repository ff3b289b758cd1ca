import { unitOf, type Unit } from "./units.js";

/** A number of a text with the unit behind it. */
export interface Quantity {
  readonly value: number;
  /** Digits behind the point, as written. */
  readonly decimals: number;
  /** Digits that count: without zeros in front. */
  readonly digits: number;
  readonly unit?: Unit;
  /** The unit below the stroke: the litre of "5 mg/L". */
  readonly per?: Unit;
  /** A minus stands right before it; its value has none. */
  readonly isNegative?: true;
  /** As it is written, unit included. */
  readonly written: string;
  readonly start: number;
  readonly end: number;
}

/** A piece of a text as numbers are compared in it: a quantity, or a word or sign in lower case. */
export type Token =
  | { readonly quantity: Quantity; readonly start: number }
  | { readonly word: string; readonly start: number };

const whole = "\\p{Nd}{1,3}(?:[,\\u202f ]\\p{Nd}{3}){1,4}(?!\\p{Nd})(?:\\.\\p{Nd}{1,15})?";
/** A comma is a point where a number has nothing else that it could be: "0,05", "12,5 %". */
const withComma = "0,\\p{Nd}{1,9}(?![\\p{Nd},])|\\p{Nd}{1,4},\\p{Nd}{1,2}(?=\\s?%)";
/** "× 10⁻⁵", "x 10^-5", "e-5". Behind a dash that is not a minus two digits are a range: "3 × 10–12 repetitions". */
const power =
  "\\s?[×x·*]\\s?10(?:\\^\\{?[-−–]?\\p{Nd}{1,3}\\}?|(?:−\\p{Nd}{1,2}|[-–]\\p{Nd})(?!\\p{Nd})|[⁻⁺]?[⁰¹²³⁴-⁹]{1,3})|[eE][-−+]?\\p{Nd}{1,3}(?![\\p{L}\\p{Nd}])";
/** By their number, since names cost half as much again: word, ten, number, power, sign. Most pieces are words. */
const pieces = [
  "(\\p{L}{1,60}(?:[-\\u2010\\u2011]\\n?\\p{L}{1,60}){0,5}\\p{N}{0,9})",
  "\\[(?:p\\. ?)?\\d{1,5}(?:\\s?[,;–-]\\s?\\d{1,3}){0,9}\\]",
  "((?<![\\p{N}.,])10(?:\\^\\{?[-−–]?\\p{Nd}{1,3}\\}?|[⁻⁺]?[⁰¹²³⁴-⁹]{1,3}))",
  `(${withComma}|${whole}|\\p{Nd}{1,15}(?:\\.\\p{Nd}{1,15})?)(${power})?`,
  "([<>≤≥≠±=~≈×+^/−–$€£-])",
];
const piece = new RegExp(pieces.join("|"), "gu");
const unitBehind =
  /^[ \n\u00a0\u202f-]?([%‰℃℉]|° ?[CF]|[Dd]egrees? [CF](?:elsius|ahrenheit)?|[\p{L}µÅ]{1,12}(?:[²³]|(?<=m)[23])?)(?![\p{L}\p{N}])/u;
const perBehind = /^\/([\p{L}µ]{1,8})(?![\p{L}\p{N}/])/u;
/** A minus, and no dash of a range, a compound or a list. */
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

/** A compound and a word broken at a line's end look the same. */
const inOnePiece = (word: string): string => word.replace(/[-\u2010\u2011\n]/g, "").toLowerCase();

/** The words, signs and numbers of a text, in order; a unit is a part of its number. Linear in the length. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let done = 0;
  for (const match of text.matchAll(piece)) {
    if (match.index < done) continue;
    const [written, word, ten, number, power, sign] = match;
    const start = match.index;
    if (word !== undefined) tokens.push({ word: inOnePiece(word), start });
    else if (number !== undefined || ten !== undefined) {
      const quantity = quantityAt(text, start, number ?? "1", written.length, power ?? ten);
      tokens.push({ quantity, start });
      done = quantity.end;
    } else if (sign !== undefined) tokens.push({ word: sign === "−" || sign === "–" ? "-" : sign, start });
  }
  return withUnitsOfRanges(tokens);
}

/** "10–20 mg" and "5.4 ± 0.2 mg" name their unit once. */
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
  const plain = /^(?:0,\p{Nd}{1,9}|\p{Nd}{1,4},\p{Nd}{1,2})$/u.test(number)
    ? number.replace(",", ".")
    : number.replace(/[,\u202f ]/gu, "");
  const exponent = power === undefined ? 0 : exponentIn(power);
  const [whole = "", part = ""] = plain.split(".");
  const digits = `${whole}${part}`.replace(/^0{1,15}/, "").length;
  const numberEnd = start + length;
  const [behind = "", name = ""] = unitBehind.exec(text.slice(numberEnd, numberEnd + 24)) ?? [];
  const unit = unitOf(name);
  const unitEnd = unit === undefined ? numberEnd : numberEnd + behind.length;
  const [stroke = "", perName = ""] =
    unit === undefined ? [] : (perBehind.exec(text.slice(unitEnd, unitEnd + 10)) ?? []);
  const per = unitOf(perName);
  const end = per === undefined ? unitEnd : unitEnd + stroke.length;
  return {
    value: power === undefined ? Number(plain) : Number(`${plain}e${exponent}`),
    decimals: part.length - exponent,
    digits,
    unit,
    per,
    ...(minusBefore.test(text.slice(Math.max(0, start - 4), start)) ? { isNegative: true } : {}),
    written: text.slice(start, end).replace(/\s/g, " "),
    start,
    end,
  };
}

/** The numbers of a text. Digits within words, such as those of "GPT4", do not count. */
export const quantitiesIn = (text: string): Quantity[] =>
  tokensOf(text).flatMap((token) => ("quantity" in token ? [token.quantity] : []));

const withoutUnit = ({ unit: _, per: __, ...number }: Quantity): Quantity => number;

/** The relative error of a conversion in floating point. */
const slack = 1e-9;

/**
 * How a number that was said stands to one that is known: `same`, `near` where only its unit or its rounding differs,
 * else `other`. What is rounded has at least two digits, and fewer than the known one: to say more than the paper does
 * is to invent.
 */
export function compareQuantities(said: Quantity, known: Quantity): "same" | "near" | "other" {
  if (said.unit?.isOptional && known.unit === undefined) return compareQuantities(withoutUnit(said), known);
  if (known.unit?.isOptional && said.unit === undefined) return compareQuantities(said, withoutUnit(known));
  // "5 mg" may be said of "5 mg/day".
  const hasPer = said.per !== undefined && known.per !== undefined;
  const dimensionOf = ({ unit, per }: Quantity) => (hasPer ? `${unit?.dimension}/${per?.dimension}` : unit?.dimension);
  const factorOf = ({ unit, per }: Quantity) => (unit?.factor ?? 1) / (hasPer ? (per?.factor ?? 1) : 1);
  const sameDimension = dimensionOf(said) === dimensionOf(known);
  // 0.94 is 94 %; 5 is not 500 %.
  const asRatio = (one: Quantity, other: Quantity) =>
    one.unit?.dimension === "ratio" && other.unit === undefined && other.value <= 1 && other.decimals > 0;
  // "3 million" is 3,000,000.
  const asCount = (one: Quantity, other: Quantity) => one.unit?.dimension === "count" && other.unit === undefined;
  if (
    !sameDimension &&
    !asRatio(said, known) &&
    !asRatio(known, said) &&
    !asCount(said, known) &&
    !asCount(known, said)
  )
    return "other";
  const [saidFactor, knownFactor] = [factorOf(said), factorOf(known)];
  const hasOffset = said.unit?.offset !== known.unit?.offset;
  // Of one scale it is for others to compare the signs; between two it is a part of the value.
  const valueOf = ({ value, unit, isNegative }: Quantity, factor: number) =>
    (hasOffset ? (isNegative ? -value : value) + (unit?.offset ?? 0) : value) * factor;
  const [saidValue, knownValue] = [valueOf(said, saidFactor), valueOf(known, knownFactor)];
  const apart = Math.abs(saidValue - knownValue);
  const isSameUnit = saidFactor === knownFactor && sameDimension && !hasOffset;
  if (apart <= slack * Math.abs(knownValue)) return isSameUnit ? "same" : "near";
  const step = 10 ** -said.decimals * saidFactor;
  const knownStep = 10 ** -known.decimals * knownFactor;
  // What was converted by a factor that is not a power of ten, such as lb to kg, is seldom a round number.
  const isConverted = !isSameUnit && Math.log10(saidFactor / knownFactor) % 1 !== 0;
  const isRounded = said.digits >= 2 && (knownStep < step * (1 - slack) || isConverted || hasOffset);
  return isRounded && apart <= (step / 2) * (1 + slack) ? "near" : "other";
}
