import { estimateTokens } from "./tokens.js";

/**
 * Where a piece of `text` that begins at `at` should end, so that it holds at most `tokens` estimated tokens: at a paragraph's end, else a
 * line's, else a word's, as far as one stands in its last quarter. Pieces joined are the text. `end` bounds the text; by default all of it.
 */
export function pieceEnd(text: string, at: number, tokens: number, end = text.length): number {
  const rest = text.slice(at, Math.min(end, at + tokens * 4));
  let length = rest.length;
  while (estimateTokens(rest.slice(0, length)) > tokens) length = Math.floor(length * 0.9);
  if (at + length >= end) return end;
  const cut = ["\n\n", "\n", " "].map((mark) => rest.lastIndexOf(mark, length)).find((index) => index > length * 0.75);
  if (cut !== undefined) return at + cut + 1;
  // A character of two units is not cut in half.
  const last = rest.charCodeAt(length - 1);
  return at + Math.max(1, last >= 0xd800 && last < 0xdc00 && length > 1 ? length - 1 : length);
}
