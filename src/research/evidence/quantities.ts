import { unitOf, type Unit } from "./units.js";

/** A number of a text with the unit behind it. */
export interface Quantity {
  readonly value: number;
  /** Digits behind the point, as written. */
  readonly decimals: number;
  /** Digits that count: without zeros in front. */
  readonly digits: number;
  readonly unit?: Unit;
  /** As it is written, unit included. */
  readonly written: string;
  readonly start: number;
  readonly end: number;
}

/** A piece of a text as numbers are compared in it: a quantity, or a word or sign in lower case. */
export type Token =
  | { readonly quantity: Quantity; readonly start: number }
  | { readonly word: string; readonly start: number };

const piece =
  /\[(?:p\. ?)?\d{1,5}(?:\s?[,;–-]\s?\d{1,3}){0,9}\]|(?<number>\p{Nd}{1,3}(?:[,\u202f ]\p{Nd}{3}){1,4}(?!\p{Nd})(?:\.\p{Nd}{1,15})?|\p{Nd}{1,15}(?:\.\p{Nd}{1,15})?)|(?<word>\p{L}{1,60}(?:[-\u2010\u2011]\n?\p{L}{1,60}){0,5}\p{N}{0,9})|(?<sign>[<>≤≥≠±=~≈×+^/−–$€£-])/gu;
const unitBehind = /^[ \n\u00a0\u202f-]?([%‰]|[\p{L}µÅ]{1,12})(?![\p{L}\p{N}])/u;

/** The words, signs and numbers of a text, in order; a unit is a part of its number. Linear in the length. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let done = 0;
  for (const match of text.matchAll(piece)) {
    if (match.index < done) continue;
    const { number, word, sign } = match.groups ?? {};
    const start = match.index;
    if (number !== undefined) {
      const quantity = quantityAt(text, start, number);
      tokens.push({ quantity, start });
      done = quantity.end;
    } else if (word !== undefined || sign !== undefined)
      // A compound and a word broken at a line's end look the same.
      tokens.push({
        word:
          word?.replace(/[-\u2010\u2011\n]/g, "").toLowerCase() ?? (sign === "−" || sign === "–" ? "-" : (sign ?? "")),
        start,
      });
  }
  return tokens;
}

function quantityAt(text: string, start: number, number: string): Quantity {
  const plain = number.replace(/[,\u202f ]/gu, "");
  const [whole = "", part = ""] = plain.split(".");
  const digits = `${whole}${part}`.replace(/^0{1,15}/, "").length;
  const numberEnd = start + number.length;
  const [behind = "", name = ""] = unitBehind.exec(text.slice(numberEnd, numberEnd + 16)) ?? [];
  const unit = unitOf(name);
  const end = unit === undefined ? numberEnd : numberEnd + behind.length;
  return {
    value: Number(plain),
    decimals: part.length,
    digits,
    ...(unit === undefined ? {} : { unit }),
    written: text.slice(start, end).replace(/\s/g, " "),
    start,
    end,
  };
}

/** The numbers of a text. Digits within words, such as those of "GPT4", do not count. */
export const quantitiesIn = (text: string): Quantity[] =>
  tokensOf(text).flatMap((token) => ("quantity" in token ? [token.quantity] : []));

/** The relative error of a conversion in floating point. */
const slack = 1e-9;

/**
 * How a number that was said stands to one that is known: `same`, `near` where only its unit or its rounding differs,
 * else `other`. What is rounded has at least two digits, and fewer than the known one: to say more than the paper does
 * is to invent.
 */
export function compareQuantities(said: Quantity, known: Quantity): "same" | "near" | "other" {
  const sameDimension = said.unit?.dimension === known.unit?.dimension;
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
  const [saidFactor, knownFactor] = [said.unit?.factor ?? 1, known.unit?.factor ?? 1];
  const [saidValue, knownValue] = [said.value * saidFactor, known.value * knownFactor];
  if (Math.abs(saidValue - knownValue) <= slack * Math.abs(knownValue))
    return saidFactor === knownFactor && said.unit?.dimension === known.unit?.dimension ? "same" : "near";
  const step = 10 ** -said.decimals * saidFactor;
  const knownStep = 10 ** -known.decimals * knownFactor;
  const isRounded = said.digits >= 2 && knownStep < step * (1 - slack);
  return isRounded && Math.abs(saidValue - knownValue) <= (step / 2) * (1 + slack) ? "near" : "other";
}
