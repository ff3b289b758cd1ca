/** The count of numbers in a sketch. If two texts share half of their words, about half of the numbers are equal. */
const sketchSize = 32;

/** Frequent words that say nothing about the subject of a text. */
const stopWords = new Set(
  "the and for with that this was were are not has have had its from but you your can could will would should all any there here then than into out been being which what when where who how about also only one some such they them their our did does done each per via may might must".split(
    " ",
  ),
);

/** A word without its English ending. */
const stemOf = (word: string): string => word.replace(/(?:ings?|edly|ed|ies|es|s|ly)$/, "");

/** The distinct words of a text, without numbers, endings and stop words. */
const wordsOf = (text: string): string[] => [
  ...new Set(
    (text.toLowerCase().match(/\p{L}{3,}/gu) ?? [])
      .filter((word) => !stopWords.has(word))
      .map((word) => (word.length > 4 ? stemOf(word) : word)),
  ),
];

/** FNV-1a hash of a word, with another seed for each number of the sketch. */
function hash(word: string, seed: number): number {
  let value = Math.imul(seed + 1, 0x9e3779b1) ^ 0x811c9dc5;
  for (let index = 0; index < word.length; index += 1) value = Math.imul(value ^ word.charCodeAt(index), 0x01000193);
  value = Math.imul(value ^ (value >>> 15), 0x85ebca6b);
  return (value ^ (value >>> 13)) >>> 0;
}

/**
 * A sketch (MinHash) of a text's words, 64 characters long. Two texts can be compared by their sketches, so the texts
 * need not be stored. Undefined for a text with fewer than three words.
 */
export function sketchOf(text: string): string | undefined {
  const words = wordsOf(text);
  if (words.length < 3) return undefined;
  const minimums = Array.from({ length: sketchSize }, (_, seed) =>
    words.reduce((minimum, word) => Math.min(minimum, hash(word, seed)), 0xffffffff),
  );
  return minimums.map((value) => (value & 0xff).toString(16).padStart(2, "0")).join("");
}

/** The approximate share of words, 0 to 1, that two texts have in common, computed from their sketches. */
export function likenessOf(a: string, b: string): number {
  let equalNumbers = 0;
  for (let index = 0; index < sketchSize * 2; index += 2)
    if (a.slice(index, index + 2) === b.slice(index, index + 2)) equalNumbers += 1;
  return equalNumbers / sketchSize;
}
