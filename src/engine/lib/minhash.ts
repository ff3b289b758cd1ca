/** Numbers in a sketch; of two texts with half of their words in common about half are equal. */
const size = 32;

/** Words that say nothing of what a text is about. */
const common = new Set(
  "the and for with that this was were are not has have had its from but you your can could will would should all any there here then than into out been being which what when where who how about also only one some such they them their our did does done each per via may might must".split(
    " ",
  ),
);

/** The word without the endings that English changes it by. */
const stem = (word: string): string => word.replace(/(?:ings?|edly|ed|ies|es|s|ly)$/, "");

/** The different words of a text by which it is known, without numbers, endings and words that every text has. */
const wordsOf = (text: string): string[] => [
  ...new Set(
    (text.toLowerCase().match(/\p{L}{3,}/gu) ?? [])
      .filter((word) => !common.has(word))
      .map((word) => (word.length > 4 ? stem(word) : word)),
  ),
];

/** FNV-1a over the word, begun differently for each number of the sketch. */
function hash(word: string, seed: number): number {
  let value = Math.imul(seed + 1, 0x9e3779b1) ^ 0x811c9dc5;
  for (let at = 0; at < word.length; at += 1) value = Math.imul(value ^ word.charCodeAt(at), 0x01000193);
  value = Math.imul(value ^ (value >>> 15), 0x85ebca6b);
  return (value ^ (value >>> 13)) >>> 0;
}

/**
 * A sketch of a text's words, 64 characters long, by which texts are held against each other whose words are not kept
 * (MinHash). Undefined for one of fewer than three words.
 */
export function sketchOf(text: string): string | undefined {
  const words = wordsOf(text);
  if (words.length < 3) return undefined;
  const least = Array.from({ length: size }, (_, seed) =>
    words.reduce((best, word) => Math.min(best, hash(word, seed)), 0xffffffff),
  );
  return least.map((value) => (value & 0xff).toString(16).padStart(2, "0")).join("");
}

/** About which share of their words two texts have in common, 0 to 1, by their sketches. */
export function likenessOf(a: string, b: string): number {
  let equal = 0;
  for (let at = 0; at < size * 2; at += 2) if (a.slice(at, at + 2) === b.slice(at, at + 2)) equal += 1;
  return equal / size;
}
