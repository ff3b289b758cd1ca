import { countEach } from "../../../engine/lib/group.js";

/** The most frequent words of the most frequent languages in Latin letters. Every page of prose contains some. */
const commonWords = new Set(
  (
    "the of and in to is for with by are from this that we on as be " +
    "der die und das von den mit zur für ist ein eine nicht " +
    "de la le les des et une dans pour que est sur du en un " +
    "el los las una por con para del se al " +
    "il di che della per non gli nel sono " +
    "da do dos em uma não com os ao " +
    "het van een voor niet zijn met te " +
    "och att det som för av till på er til ikke med og " +
    "na się nie jest oraz dla przez že jsou pro je ve bu ve bir için ile olarak " +
    "ja ei ovat että az és egy hogy nem și în din care yang dan dengan untuk pada dari của và các trong là được kwa na ya"
  ).split(" "),
);

/** A text with fewer Latin words is not judged by its words. */
const minWords = 150;
/** A text with fewer letters is not judged by its scripts. */
const minLetters = 150;

/**
 * The most frequent letters. In every language in Latin letters, they are half of a text or more. If a font has a wrong
 * encoding, they are about a third.
 */
const frequentLetters = new Set("eaionrts");
/** Minimum share of the frequent letters in a plausible text. */
const minFrequentShare = 0.45;

/** Scripts that are used together in one text are counted as one. */
const scripts = [
  /\p{Script=Latin}/gu,
  /\p{Script=Greek}/gu,
  /\p{Script=Cyrillic}/gu,
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}ー]/gu,
  /\p{Script=Arabic}/gu,
  /\p{Script=Hebrew}/gu,
  /\p{Script=Thai}/gu,
  /[\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Gujarati}]/gu,
];

/**
 * Whether a text is in some language, and not the result of a wrong encoding. If a font has no encoding, the numbers of
 * glyphs are read as characters. If the font has few glyphs, the result is Latin letters that form no words. If it has
 * many, the result is letters of many scripts. A short text counts as plausible, and so does a sequence of few
 * different letters, such as a gene.
 */
export function isPlausible(text: string): boolean {
  return hasFewScripts(text) && hasLatinWords(text);
}

/** Latin letters that are rare in every language. */
const rareLatin = /[\u0180-\u024f]/g;

function hasFewScripts(text: string): boolean {
  const letterCount = text.match(/\p{L}/gu)?.length ?? 0;
  if (letterCount < minLetters) return true;
  const scriptShares = scripts.map((script) => (text.match(script)?.length ?? 0) / letterCount);
  const knownShare = scriptShares.reduce((sum, share) => sum + share, 0);
  const rareShare = (text.match(rareLatin)?.length ?? 0) / letterCount;
  return knownShare > 0.8 && rareShare < 0.2 && scriptShares.filter((share) => share > 0.04).length < 4;
}

/** Whether the Latin words of a text include common words, or their letters are as frequent as in a language. */
function hasLatinWords(text: string): boolean {
  const words = text.match(/(?<![\p{L}\p{N}])\p{Script=Latin}{2,30}(?![\p{L}\p{N}])/gu) ?? [];
  if (words.length < minWords) return true;
  const commonInText = words.map((word) => word.toLowerCase()).filter((word) => commonWords.has(word));
  // A single common word may be there by chance.
  if (new Set(commonInText).size > 1 && commonInText.length > 0.005 * words.length) return true;
  const letters = Array.from(words.join("").normalize("NFD").toLowerCase().replace(/\p{M}/gu, ""));
  const differentLetters = [...countEach(letters).values()].filter((count) => count > 0.01 * letters.length).length;
  const frequentShare = letters.filter((letter) => frequentLetters.has(letter)).length / letters.length;
  return differentLetters < minDifferentLetters || frequentShare >= minFrequentShare;
}

/** Minimum number of letters that each are at least 1 % of a text. A gene sequence has four. */
const minDifferentLetters = 12;
