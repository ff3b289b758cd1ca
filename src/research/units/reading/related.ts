import { clip, fit } from "../../../engine/lib/tokens.js";
import type { Paper, Rrd } from "../../generated/rrd.js";
import { isDecided } from "../../papers/rubric/rubric.js";
import { countingInsights } from "../../screening/eligibility/eligibility.js";

/**
 * Decided papers and insights that share many words with `paper`, one line each, so that an agent can connect them. At
 * most `tokens` tokens.
 */
export function relatedLines(rrd: Rrd, paper: Paper, tokens: number): string[] {
  const paperWords = new Set(words(`${paper.title} ${paper.abstract ?? ""}`));
  const rank = <Item extends object>(items: readonly Item[], textOf: (item: Item) => string): Item[] => {
    const scored: { readonly item: Item; readonly score: number }[] = [];
    for (const item of items) {
      const score = overlap(paperWords, wordsOf(item, textOf));
      if (score > 0) scored.push({ item, score });
    }
    return scored
      .sort((a, b) => b.score - a.score)
      .slice(0, 12)
      .map(({ item }) => item);
  };
  const papers = rank(
    rrd.papers_pool.filter((other) => isDecided(other) && other.id !== paper.id),
    (other) => other.title,
  );
  const insights = rank(countingInsights(rrd), (insight) => insight.insight);
  const half = Math.floor(tokens / 2);
  return [
    ...fit(papers, half, (other) => `- ${other.id}: ${clip(other.title, 30)}`).lines,
    ...fit(
      insights,
      half,
      (insight) => `- ${insight.id ?? "insight"} (${insight.paper_id ?? "several"}): ${clip(insight.insight, 50)}`,
    ).lines,
  ];
}

/** The distinct words of a text with four letters or more. */
const words = (text: string): readonly string[] => [...new Set(text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu))];

/**
 * The words of a record, cached. Unchanged records are the same objects in the next brief, and splitting thousands of
 * them again would take most of the time.
 */
function wordsOf<Item extends object>(item: Item, textOf: (item: Item) => string): readonly string[] {
  const cached = wordCache.get(item);
  if (cached !== undefined) return cached;
  const newWords = words(textOf(item));
  wordCache.set(item, newWords);
  return newWords;
}
const wordCache = new WeakMap<object, readonly string[]>();

function overlap(a: ReadonlySet<string>, b: readonly string[]): number {
  let shared = 0;
  for (const word of b) if (a.has(word)) shared += 1;
  return shared / Math.sqrt(b.length + 1);
}
