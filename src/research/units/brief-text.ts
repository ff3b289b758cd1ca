import { clip, estimateTokens, fit } from "../../engine/lib/tokens.js";

/** A section of a brief with its heading; empty if there is no text. */
export const section = (title: string, text: string): string => (text === "" ? "" : `# ${title}\n\n${text}`);

/** The first texts, as many as fit into `all` tokens, each cut to `each` tokens. */
export const short = (texts: readonly string[], each: number, all: number): string[] =>
  fit(texts, all, (text) => clip(text, each)).lines;

/** The first items whose JSON fits into this many tokens, and the number of the items that do not fit. */
export function take<Item, Shown>(
  items: readonly Item[],
  tokens: number,
  show: (item: Item) => Shown,
): { shown: Shown[]; left: number } {
  const result: Shown[] = [];
  let room = tokens;
  for (const item of items) {
    const entry = show(item);
    room -= estimateTokens(JSON.stringify(entry)) + 1;
    if (room < 0) break;
    result.push(entry);
  }
  return { shown: result, left: items.length - result.length };
}
