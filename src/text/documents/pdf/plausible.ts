import { countEach } from "../../../engine/lib/group.js";
/**
 * Words that no page of prose is without, of the languages that are written in Latin letters and that documents are
 * written in most.
 */
const common = new Set(
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

/** Of fewer words or letters nothing can be said. */
const minWords = 150;
const minLetters = 150;

/** Letters that make up half and more of a text in every language of Latin letters; of another order about a third. */
const frequent = new Set("eaionrts");
const minFrequent = 0.45;

/** Scripts that stand together in one text count as one. */
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
 * Whether letters can be those of a text. The numbers of a font's glyphs, read as characters, are letters as well:
 * those of small fonts are Latin ones in another order, and those of large ones belong to many scripts. A text of
 * which too little is left is called plausible, and so are sequences of few letters, such as those of genes.
 */
export function isPlausible(text: string): boolean {
  return isOfFewScripts(text) && isInLatinWords(text);
}

/** Latin letters of which no language has more than a few. */
const rareLatin = /[\u0180-\u024f]/g;

function isOfFewScripts(text: string): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  if (letters < minLetters) return true;
  const shares = scripts.map((script) => (text.match(script)?.length ?? 0) / letters);
  const known = shares.reduce((sum, share) => sum + share, 0);
  const rare = (text.match(rareLatin)?.length ?? 0) / letters;
  return known > 0.8 && rare < 0.2 && shares.filter((share) => share > 0.04).length < 4;
}

/** Latin words: whether some are common ones, or their letters are as frequent as in any language. */
function isInLatinWords(text: string): boolean {
  const words = text.match(/(?<![\p{L}\p{N}])\p{Script=Latin}{2,30}(?![\p{L}\p{N}])/gu) ?? [];
  if (words.length < minWords) return true;
  const known = words.map((word) => word.toLowerCase()).filter((word) => common.has(word));
  // One of them may come about by chance.
  if (new Set(known).size > 1 && known.length > 0.005 * words.length) return true;
  const letters = Array.from(words.join("").normalize("NFD").toLowerCase().replace(/\p{M}/gu, ""));
  const kinds = [...countEach(letters).values()].filter((count) => count > 0.01 * letters.length).length;
  const share = letters.filter((letter) => frequent.has(letter)).length / letters.length;
  return kinds < minKinds || share >= minFrequent;
}

/** Letters that make up one in a hundred each; sequences of genes have four. */
const minKinds = 12;
