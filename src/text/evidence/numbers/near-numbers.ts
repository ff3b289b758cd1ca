import { compareQuantities, tokensOf, type Quantity, type Token } from "./quantities.js";
import { occurrences } from "../occurrences.js";
import type { Span } from "../passage.js";
import { trimQuotationMarks } from "../quote-variants/variants.js";

/** The code of the character for each number in a mask. */
const numberCode = 1;
/** The code of the character for the first word in a mask. */
const firstWordCode = 2;
/** Maximum number of different words of text and quote; all others have the same character. */
const maxWords = 0xfff0;

/**
 * A string with one character for each word or number of a text, so that a row of words can be searched like a string.
 * `words` has the code of each word; new words are added to it.
 */
function maskOf(tokens: readonly Token[], words: Map<string, number>): string {
  const parts = tokens.map((token) => {
    if ("quantity" in token) return String.fromCharCode(numberCode);
    const code = words.get(token.word) ?? Math.min(firstWordCode + words.size, maxWords);
    words.set(token.word, code);
    return String.fromCharCode(code);
  });
  return parts.join("");
}

/**
 * Searches a quote again whose numbers were not found, around the nearest part of the text. If the text has its words
 * in the same order, and each number differs only in unit or in the rounding of its last digit, the difference is
 * returned. Otherwise undefined.
 */
export function findNear(text: string, quote: string, span: Span): (Span & { readonly differs: string }) | undefined {
  const quoteTokens = tokensOf(trimQuotationMarks(quote));
  const numbers = quoteTokens.flatMap((token, index) =>
    "quantity" in token ? [{ index, quantity: token.quantity }] : [],
  );
  if (numbers.length === 0 || quoteTokens.length < 4) return undefined;
  const { start, end } = withSurroundings(text, span, 2 * quote.length + minMarginChars);
  const tokens = tokensOf(text.slice(start, end));
  const words = new Map<string, number>();
  const mask = maskOf(tokens, words);
  for (const firstToken of occurrences(mask, maskOf(quoteTokens, words))) {
    const differences = differencesAt(tokens, numbers, firstToken);
    if (differences === undefined || differences.length === 0) continue;
    const matchStart = start + (tokens[firstToken]?.start ?? 0);
    const nextStart = start + (tokens[firstToken + quoteTokens.length]?.start ?? end - start);
    const matchLength = text.slice(matchStart, nextStart).trimEnd().length;
    return { differs: differences.join("; "), start: matchStart, end: matchStart + matchLength };
  }
  return undefined;
}

/** Number of characters that are searched on each side of the nearest part, besides twice the length of the quote. */
const minMarginChars = 200;

/** A part of the text with its surroundings, cut at spaces so that no word or number is cut. */
function withSurroundings(text: string, span: Span, margin: number): Span {
  const [from, to] = [span.start - margin, span.end + margin];
  const space = from <= 0 ? 0 : text.indexOf(" ", from);
  const end = to >= text.length ? text.length : text.lastIndexOf(" ", to);
  return { start: Math.min(Math.max(0, space), span.start), end: Math.max(end, span.end) };
}

/** Whether two numbers are written with the same characters, except spaces. */
const isSameSpelling = (first: string, second: string): boolean =>
  first.replace(/\s/g, "") === second.replace(/\s/g, "");

/**
 * The differences between the numbers of a quote and the numbers at the same places of the text, from `firstToken` on.
 * Undefined if a number is not the same, apart from its unit and rounding.
 */
function differencesAt(
  tokens: readonly Token[],
  numbers: readonly { readonly index: number; readonly quantity: Quantity }[],
  firstToken: number,
): string[] | undefined {
  const differences: string[] = [];
  for (const { index, quantity } of numbers) {
    const token = tokens[firstToken + index];
    if (token === undefined || !("quantity" in token)) return undefined;
    if ((quantity.per === undefined) !== (token.quantity.per === undefined)) return undefined;
    const relation = compareQuantities(quantity, token.quantity);
    if (relation === "other") return undefined;
    if (relation === "near" || !isSameSpelling(quantity.written, token.quantity.written))
      differences.push(`"${quantity.written}" where the text has "${token.quantity.written}"`);
  }
  return differences;
}
