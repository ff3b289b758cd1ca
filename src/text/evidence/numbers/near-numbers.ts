import { compareQuantities, tokensOf, type Quantity, type Token } from "./quantities.js";
import { occurrences } from "../occurrences.js";
import type { Span } from "../passage.js";
import { trimQuotationMarks } from "../quote-variants/variants.js";

/** Stands for a number in a mask; words follow. */
const numberCode = 1;
const firstWord = 2;
/** Different words of a stretch and a quote; the rest are taken for one. */
const maxWords = 0xfff0;

/** Words and places of numbers, one character each. `words` gets those that it has not yet. */
function maskOf(tokens: readonly Token[], words: Map<string, number>): string {
  const parts = tokens.map((token) => {
    if ("quantity" in token) return String.fromCharCode(numberCode);
    const code = words.get(token.word) ?? Math.min(firstWord + words.size, maxWords);
    words.set(token.word, code);
    return String.fromCharCode(code);
  });
  return parts.join("");
}

/**
 * Looks once more for a quote whose numbers were not found, around the stretch of the text that is nearest to it: where
 * the text has its words in their order, and each number is the quote's in another unit or rounded within its last
 * digit, it is near, and what differs is said. Undefined where it is not.
 */
export function findNear(
  text: string,
  quote: string,
  stretch: Span,
): (Span & { readonly differs: string }) | undefined {
  const said = tokensOf(trimQuotationMarks(quote));
  const numbers = said.flatMap((token, index) => ("quantity" in token ? [{ index, quantity: token.quantity }] : []));
  if (numbers.length === 0 || said.length < 4) return undefined;
  const { start, end } = around(text, stretch, 2 * quote.length + minBeside);
  const tokens = tokensOf(text.slice(start, end));
  const words = new Map<string, number>();
  const mask = maskOf(tokens, words);
  for (const at of occurrences(mask, maskOf(said, words))) {
    const differs = differenceAt(tokens, numbers, at);
    if (differs === undefined || differs.length === 0) continue;
    const next = start + (tokens[at + said.length]?.start ?? end - start);
    const from = start + (tokens[at]?.start ?? 0);
    return { differs: differs.join("; "), start: from, end: from + text.slice(from, next).trimEnd().length };
  }
  return undefined;
}

/** Characters on each side of the nearest stretch at least, besides twice the length of the quote. */
const minBeside = 200;

/** A stretch with what stands beside it, from one space to another so that no word or number is cut. */
function around(text: string, stretch: Span, beside: number): Span {
  const [from, to] = [stretch.start - beside, stretch.end + beside];
  const space = from <= 0 ? 0 : text.indexOf(" ", from);
  const end = to >= text.length ? text.length : text.lastIndexOf(" ", to);
  return { start: Math.min(Math.max(0, space), stretch.start), end: Math.max(end, stretch.end) };
}

/** "12,500" and "12500" are one number, written in two ways. */
const sameDigits = (one: string, other: string): boolean => one.replace(/\s/g, "") === other.replace(/\s/g, "");

/**
 * What differs between the numbers of a quote and those of the text from a token on; undefined where one is another
 * number.
 */
function differenceAt(
  tokens: readonly Token[],
  numbers: readonly { readonly index: number; readonly quantity: Quantity }[],
  at: number,
): string[] | undefined {
  const differs: string[] = [];
  for (const { index, quantity } of numbers) {
    const token = tokens[at + index];
    if (token === undefined || !("quantity" in token)) return undefined;
    if ((quantity.per === undefined) !== (token.quantity.per === undefined)) return undefined;
    const relation = compareQuantities(quantity, token.quantity);
    if (relation === "other") return undefined;
    if (relation === "near" || !sameDigits(quantity.written, token.quantity.written))
      differs.push(`"${quantity.written}" where the text has "${token.quantity.written}"`);
  }
  return differs;
}
