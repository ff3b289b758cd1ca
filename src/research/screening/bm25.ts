import { normalTitle } from "../papers/normalise-title.js";
import { countEach } from "../../engine/lib/group.js";

/**
 * How fast further occurrences of a word cease to count, and how far long texts are held against their length:
 * Robertson's usual values.
 */
const saturation = 1.2;
const lengthShare = 0.75;

/**
 * Scores texts, given as stems, against the words of a query, by BM25 over these texts; a weight is how much a word of
 * the query counts.
 */
export function bm25(texts: readonly (readonly string[])[], query: ReadonlyMap<string, number>): number[] {
  const average = texts.reduce((sum, text) => sum + text.length, 0) / Math.max(texts.length, 1) || 1;
  const counts = texts.map((text) => countEach(text.filter((word) => query.has(word))));
  const holders = countEach(counts.flatMap((count) => [...count.keys()]));
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

const stop = new Set(
  (
    "a about above after all also among an and any are as at be been before being between both but by can could did do does during each either for from " +
    "had has have how if in into is it its itself may might more most must no nor not of off on once only or other our out over own per same should so " +
    "some such than that the their them then there these they this those through to too toward towards under until up upon us use used using very via " +
    "was we were what when where whether which while who why will with within without would yet based study paper"
  ).split(" "),
);

/**
 * The distinctive words of a text, each cut down so that "manipulating" and "manipulation" are one. Order and
 * repetitions stay.
 */
export function stemsOf(text: string): string[] {
  const all: string[] = [];
  for (const word of normalTitle(text).split(" ")) {
    const stem = sharedStem(word);
    if (stem !== "") all.push(stem);
  }
  return all;
}

/** "randomis" and "randomiz", what is left of randomisation and randomization, are one. */
export const foldedStem = (stem: string): string => (/[iy]s$/.test(stem) ? `${stem.slice(0, -1)}z` : stem);

/**
 * Texts share most of their words: one string for each keeps the words of a hundred thousand abstracts small. Empty for
 * a word that tells nothing.
 */
const stems = new Map<string, string>();
const maxStems = 100_000;

function sharedStem(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  if (stems.size >= maxStems) stems.clear();
  const cut = word.length < 2 || stop.has(word) ? "" : stem(word);
  stems.set(word, cut);
  return cut;
}

/** Cuts the commonest English endings; what is left need not be a word. */
const stem = (word: string): string =>
  word.length > 5
    ? word.replace(/(?:ations?|ating|ated|ings?|ions?|ers?|ors?|ies|ied|ed|es|e|s|y)$/, "")
    : word.replace(/(?<=..)s$/, "");
