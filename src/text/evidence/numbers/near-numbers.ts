import { compareQuantities, tokensOf, type Quantity, type Token } from "./quantities.js";
import { occurrences } from "../occurrences.js";
import { trimQuotationMarks } from "../quote-variants/variants.js";

/** A text as words and places of numbers, one character each. */
interface Masked {
  readonly tokens: readonly Token[];
  readonly words: Map<string, number>;
  readonly mask: string;
}
const known = new WeakMap<object, Masked>();

/** Stands for a number in a mask; words follow. */
const numberCode = 1;
const firstWord = 2;
/** Different words of one text; more do not fit into a character and are taken for one. */
const maxWords = 0xfff0;

function maskOf(text: string, words: Map<string, number>, isText: boolean): Masked {
  const tokens = tokensOf(text);
  const codes = tokens.map((token) => {
    if ("quantity" in token) return numberCode;
    const code = words.get(token.word);
    if (code !== undefined || !isText) return code ?? maxWords + 1;
    const next = Math.min(firstWord + words.size, maxWords);
    words.set(token.word, next);
    return next;
  });
  const parts: string[] = [];
  for (const code of codes) parts.push(String.fromCharCode(code));
  return { tokens, words, mask: parts.join("") };
}

/**
 * Looks once more for a quote whose numbers were not found: where the text has its words in their order, and each
 * number is the quote's in another unit or rounded within its last digit, it is near, and what differs is said.
 * Undefined where it is not.
 */
export function findNear(
  searchable: { readonly text: string },
  quote: string,
): { readonly differs: string; readonly start: number; readonly end: number } | undefined {
  let text = known.get(searchable);
  if (text === undefined) {
    text = maskOf(searchable.text, new Map(), true);
    known.set(searchable, text);
  }
  const said = maskOf(trimQuotationMarks(quote), text.words, false);
  const numbers = said.tokens.flatMap((token, index) =>
    "quantity" in token ? [{ index, quantity: token.quantity }] : [],
  );
  if (numbers.length === 0 || said.tokens.length < 4 || said.mask.includes(String.fromCharCode(maxWords + 1)))
    return undefined;
  for (const at of occurrences(text.mask, said.mask)) {
    const differs = differenceAt(text.tokens, numbers, at);
    if (differs === undefined || differs.length === 0) continue;
    const next = text.tokens[at + said.tokens.length]?.start ?? searchable.text.length;
    const [start, rest] = [text.tokens[at]?.start ?? 0, searchable.text.slice(0, next)];
    return { differs: differs.join("; "), start, end: rest.trimEnd().length };
  }
  return undefined;
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
