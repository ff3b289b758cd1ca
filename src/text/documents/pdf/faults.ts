/** Faults of a text that its letters show although each of them is one. */

/** Letters of formulas that a text must have before they are looked at. */
const minMathLetters = 10;
const mathLetters = /[\u{1d400}-\u{1d7cb}]/gu;

/**
 * The sign as which all letters of a text's formulas come out ("each node 𝐀𝐀 has a token 𝐀𝐀"), if they do. It then
 * follows itself more often than one letter of many does.
 */
export function onlyMathLetter(text: string): string | undefined {
  const letters = text.match(mathLetters) ?? [];
  if (letters.length < minMathLetters) return undefined;
  const counts = new Map<string, number>();
  for (const letter of letters) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  const [[sign, count] = ["", 0]] = [...counts].toSorted(([, a], [, b]) => b - a);
  const doubled = text.split(sign + sign).length - 1;
  return count > 0.9 * letters.length && doubled > 0.1 * count ? sign : undefined;
}

/** Letters of words that a text must have before their lengths are looked at. */
const minLetters = 400;
/** Letters that the word of a letter has on average, at most: some 7 in English, 9 in German, 12 in Finnish. */
const maxMean = 14;
/** So many letters of one word count: a single address or formula tells nothing. */
const longestWord = 30;

/** Whether a text has lost the spaces between its words. Sequences of genes, in capitals, are not counted. */
export function hasGluedWords(text: string): boolean {
  let [letters, sum] = [0, 0];
  for (const [word] of text.matchAll(/[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]+/gu)) {
    if (word === word.toUpperCase()) continue;
    letters += word.length;
    sum += word.length * Math.min(word.length, longestWord);
  }
  return letters >= minLetters && sum > maxMean * letters;
}
