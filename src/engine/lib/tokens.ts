/**
 * Measured on briefs and articles with the tokenizer o200k: 3.94 characters per token in English. Bytes are counted
 * instead of characters, because the estimate would be too low for other scripts.
 */
export const bytesPerToken = 3.9;

/** The estimated number of tokens of a text, for limits of briefs. The error for English prose is a few percent. */
export const estimateTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / bytesPerToken);

/**
 * The beginning of `text` with at most `tokens` estimated tokens, cut at a word; it ends in an ellipsis if it was cut.
 */
export function clip(text: string, tokens: number): string {
  if (estimateTokens(text) <= tokens) return text;
  let end = Math.floor(tokens * bytesPerToken) - 1;
  while (end > 0 && estimateTokens(text.slice(0, end)) >= tokens) end = Math.floor(end * 0.95);
  const clippedText = text.slice(0, Math.max(end, 0));
  const space = clippedText.lastIndexOf(" ");
  return `${(space > clippedText.length / 2 ? clippedText.slice(0, space) : clippedText).trimEnd()}…`;
}

/**
 * The lines of the first items that together have at most `tokens` estimated tokens, one line per item. `left`: the
 * number of items that do not fit.
 */
export function fit<Item>(
  items: readonly Item[],
  tokens: number,
  render: (item: Item) => string,
): { lines: string[]; left: number } {
  const lines: string[] = [];
  let usedTokens = 0;
  for (const item of items) {
    const line = render(item);
    usedTokens += estimateTokens(line) + 1;
    if (usedTokens > tokens) break;
    lines.push(line);
  }
  return { lines, left: items.length - lines.length };
}

/**
 * The end of a piece of `text` that begins at `at` and has at most `tokens` estimated tokens. It is the end of a
 * paragraph, a line or a word, if there is one in the last quarter of the piece. If all pieces are joined, the result
 * is the whole text. `end`: the end of the text to split; default: its length.
 */
export function pieceEnd(text: string, at: number, tokens: number, end = text.length): number {
  const remaining = text.slice(at, Math.min(end, at + tokens * 4));
  let length = remaining.length;
  while (estimateTokens(remaining.slice(0, length)) > tokens) length = Math.floor(length * 0.9);
  if (at + length >= end) return end;
  const lastBreak = ["\n\n", "\n", " "]
    .map((mark) => remaining.lastIndexOf(mark, length))
    .find((index) => index > length * 0.75);
  if (lastBreak !== undefined) return at + lastBreak + 1;
  // A surrogate pair is not split.
  const lastUnit = remaining.charCodeAt(length - 1);
  return at + Math.max(1, lastUnit >= 0xd800 && lastUnit < 0xdc00 && length > 1 ? length - 1 : length);
}
