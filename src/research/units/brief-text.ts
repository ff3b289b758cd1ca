import { clip, estimateTokens, fit } from "../../engine/lib/tokens.js";

/** A section of a brief with its heading; empty if there is no text. */
export const section = (title: string, text: string): string => (text === "" ? "" : `# ${title}\n\n${text}`);

/** The first texts that fit into `maxTokens` tokens in total, each cut to `maxTokensEach` tokens. */
export const clipped = (texts: readonly string[], maxTokensEach: number, maxTokens: number): string[] =>
  fit(texts, maxTokens, (text) => clip(text, maxTokensEach)).lines;

/** The first items whose JSON fits into `maxTokens` tokens, and how many items do not fit. */
export function takeFitting<Item, Shown>(
  items: readonly Item[],
  maxTokens: number,
  show: (item: Item) => Shown,
): { shown: Shown[]; omitted: number } {
  const taken: Shown[] = [];
  let freeTokens = maxTokens;
  for (const item of items) {
    const entry = show(item);
    freeTokens -= estimateTokens(JSON.stringify(entry)) + 1;
    if (freeTokens < 0) break;
    taken.push(entry);
  }
  return { shown: taken, omitted: items.length - taken.length };
}
