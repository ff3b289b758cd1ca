import { normalTitle } from "../papers/normalise-title.js";
import { countEach } from "../../engine/lib/group.js";
import { commonWords } from "../search/topic-words.js";

/** The parameters k1 and b of BM25, with the usual values. */
const saturation = 1.2;
const lengthPenalty = 0.75;

/**
 * Scores texts, given as stems, by BM25. `query`: the words of the query and their weights.
 */
export function bm25(texts: readonly (readonly string[])[], query: ReadonlyMap<string, number>): number[] {
  const average = texts.reduce((sum, text) => sum + text.length, 0) / Math.max(texts.length, 1) || 1;
  const counts = texts.map((text) => countEach(text.filter((word) => query.has(word))));
  const textCounts = countEach(counts.flatMap((count) => [...count.keys()]));
  return counts.map((count, index) => {
    const norm = saturation * (1 - lengthPenalty + (lengthPenalty * (texts[index]?.length ?? 0)) / average);
    let score = 0;
    for (const [word, occurrences] of count) {
      const textCount = textCounts.get(word) ?? 0;
      const rarity = Math.log(1 + (texts.length - textCount + 0.5) / (textCount + 0.5));
      score += (query.get(word) ?? 0) * rarity * ((occurrences * (saturation + 1)) / (occurrences + norm));
    }
    return score;
  });
}

const stopWords = new Set([...commonWords, "study", "paper"]);

/**
 * The stems of a text without common words: "manipulating" and "manipulation" have the same stem. Order and repetitions
 * stay.
 */
export function stemsOf(text: string): string[] {
  const stemsOfText: string[] = [];
  for (const word of normalTitle(text).split(" ")) {
    const stem = cachedStem(word);
    if (stem !== "") stemsOfText.push(stem);
  }
  return stemsOfText;
}

/** One stem for British and American spelling: "randomiz" for "randomis". */
export const unifiedStem = (stem: string): string => (/[iy]s$/.test(stem) ? `${stem.slice(0, -1)}z` : stem);

/**
 * A cache of stems. With one string for each word, a hundred thousand abstracts need less memory. Empty for a common
 * word.
 */
const stems = new Map<string, string>();
const maxStems = 100_000;

function cachedStem(word: string): string {
  const cached = stems.get(word);
  if (cached !== undefined) return cached;
  if (stems.size >= maxStems) stems.clear();
  const result = word.length < 2 || stopWords.has(word) ? "" : stem(word);
  stems.set(word, result);
  return result;
}

/** Removes the most common English suffixes. The result need not be a word. */
const stem = (word: string): string =>
  word.length > 5
    ? word.replace(/(?:ations?|ating|ated|ings?|ions?|ers?|ors?|ies|ied|ed|es|e|s|y)$/, "")
    : word.replace(/(?<=..)s$/, "");
