/** How fast further occurrences of a word cease to count, and how far long texts are held against their length: Robertson's usual values. */
const saturation = 1.2;
const lengthShare = 0.75;

/** Scores texts, given as stems, against the words of a query, by BM25 over these texts; a weight is how much a word of the query counts. */
export function bm25(texts: readonly (readonly string[])[], query: ReadonlyMap<string, number>): number[] {
  const average = texts.reduce((sum, text) => sum + text.length, 0) / Math.max(texts.length, 1) || 1;
  const counts = texts.map((text) => {
    const count = new Map<string, number>();
    for (const word of text) if (query.has(word)) count.set(word, (count.get(word) ?? 0) + 1);
    return count;
  });
  const holders = new Map<string, number>();
  for (const count of counts) for (const word of count.keys()) holders.set(word, (holders.get(word) ?? 0) + 1);
  return counts.map((count, index) => {
    const norm = saturation * (1 - lengthShare + (lengthShare * (texts[index]?.length ?? 0)) / average);
    let score = 0;
    for (const [word, times] of count) {
      const held = holders.get(word) ?? 0;
      const rarity = Math.log(1 + (texts.length - held + 0.5) / (held + 0.5));
      score += (query.get(word) ?? 0) * rarity * ((times * (saturation + 1)) / (times + norm));
    }
    return score;
  });
}
