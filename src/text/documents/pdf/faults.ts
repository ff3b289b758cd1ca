// Faults of a text that its letters show, although each single letter is valid.
import { countEach } from "../../../engine/lib/group.js";

/** A text with fewer letters in formulas is not judged. */
const minMathLetters = 10;
const mathLetters = /[\u{1d400}-\u{1d7cb}]/gu;

/**
 * The only letter in the formulas of a text, if almost all are equal ("each node 𝐀𝐀 has a token 𝐀𝐀") and it
 * often occurs twice in a row. Otherwise undefined.
 */
export function onlyMathLetter(text: string): string | undefined {
  const letters = text.match(mathLetters) ?? [];
  if (letters.length < minMathLetters) return undefined;
  const byFrequency = [...countEach(letters)].toSorted(([, a], [, b]) => b - a);
  const [letter, count] = byFrequency[0] ?? ["", 0];
  const pairCount = text.split(letter + letter).length - 1;
  return count > 0.9 * letters.length && pairCount > 0.1 * count ? letter : undefined;
}

/** A text with fewer letters is not judged by the lengths of its words. */
const minLetters = 400;
/** Maximum average length of the word that a letter is in. It is about 7 in English, 9 in German, 12 in Finnish. */
const maxMeanLength = 14;
/** A longer word counts as this long, because a text may contain an address or a formula. */
const maxWordLength = 30;

/** Whether a text has lost the spaces between its words. Words in capitals, such as gene sequences, are ignored. */
export function hasGluedWords(text: string): boolean {
  let letterCount = 0;
  let lengthSum = 0;
  for (const [word] of text.matchAll(/[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]+/gu)) {
    if (word === word.toUpperCase()) continue;
    letterCount += word.length;
    lengthSum += word.length * Math.min(word.length, maxWordLength);
  }
  return letterCount >= minLetters && lengthSum > maxMeanLength * letterCount;
}
