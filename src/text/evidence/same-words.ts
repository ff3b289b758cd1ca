import type { Vocabulary } from "./marks-left-out.js";
import type { Span } from "./passage.js";
import {
  GAP_EITHER,
  GAP_HYPHEN,
  GAP_NONE,
  GAP_NUMBER,
  GAP_SPACE,
  isThousandsGroup,
  isDigit,
  type Normalised,
} from "./normalise.js";
import { caseMatters, isSymbol } from "./numbers/units.js";

/** In quotes with fewer words, no missing or additional space is tolerated. */
const minWords = 3;
/** A letter of a script without spaces between words. */
export const unspacedLetter =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

/**
 * Whether the characters at `start` are the words of the quote: the gaps are the same, no word or number is cut at
 * either end, citations are the same, and units have the same case. Returns the span in the text, a reason if only the
 * meaning differs, or false.
 */
export function matchAt(
  haystack: Normalised,
  needle: Normalised,
  start: number,
  vocabulary: Vocabulary,
): Span | string | false {
  const end = start + needle.chars.length;
  for (const [at, part] of needle.removedParts) {
    const partInText = plainCitation(haystack.removedParts.get(start + at) ?? "");
    if (!` ${partInText}`.includes(` ${plainCitation(part)}`)) return false;
  }
  const gapResult = gapsAgree(haystack, needle, start, vocabulary);
  if (gapResult !== true) return gapResult;
  if (!casesAgree(haystack, needle, start)) return "a unit is in another case, which makes it another unit";
  if (cutsAt(haystack, start)) return "it begins inside a word or number of the text";
  if (cutsAt(haystack, end)) return "it ends inside a word or number of the text";
  return { start: haystack.from[start] as number, end: haystack.to[end - 1] as number };
}

/** A citation without brackets and carets: "[1]–[3]" and a superscript "1–3" are the same. */
const plainCitation = (citation: string): string =>
  citation.replace(/[[\]^{}]/g, "").replace(/\s{0,2}[-–—−⁻]\s{0,2}/g, "-");

const isWordCharacter = (char: string | undefined) => char !== undefined && /[\p{L}\p{N}]/u.test(char);
const isLetter = (char: string | undefined) => char !== undefined && /\p{L}/u.test(char);
/** In these scripts the end of a word is not visible, except before and after other scripts: "C言語". */
const isUnspaced = (before: string, after: string) =>
  unspacedLetter.test(before)
    ? unspacedLetter.test(after) || !isDigit(after)
    : unspacedLetter.test(after) && !isDigit(before);
const isPoint = (char: string | undefined) => char === "." || char === ",";
/** Whether a character of a normalised text is the sign before a superscript or subscript. */
const isScriptSign = (char: string | undefined) => char === "^" || char === "_";
/** The gap that a reader sees: "1½" may be written with a space before the fraction. */
const visibleGap = (gap: number | undefined) =>
  gap === GAP_NUMBER ? GAP_SPACE : gap === GAP_HYPHEN ? GAP_EITHER : gap;

/**
 * Whether the gaps of text and quote agree; a string is the reason if they do not. PDFs lose and add spaces. Beside
 * punctuation ("150 .1") this is tolerated.
 * Between letters it is tolerated once, and once more for every eight words, if it does not make another word. Between
 * digits it is never tolerated: "10 5" is not 105, and "150. 1" may be the end of one sentence and the beginning of
 * another.
 */
function gapsAgree(
  haystack: Normalised,
  needle: Normalised,
  start: number,
  vocabulary: Vocabulary,
): true | string | false {
  let toleratedCount = 0;
  let wordCount = 1;
  for (let at = 1; at < needle.chars.length; at += 1) {
    const [inText, inQuote] = [visibleGap(haystack.gaps[start + at]), visibleGap(needle.gaps[at])];
    if (inQuote === GAP_SPACE) wordCount += 1;
    const [before, after] = [needle.chars[at - 1], needle.chars[at]];
    if (inText === inQuote) {
      // Two cells are not one number with a thousands separator.
      if (
        isDigit(before) &&
        isDigit(after) &&
        isThousandsSeparator(needle, at) &&
        textBetween(haystack, start + at).includes("|")
      )
        return false;
      continue;
    }
    // In the text, a citation may be between two numbers; invisible characters must not separate or join numbers in the
    // quote.
    if (isDigit(before) && isDigit(after) && (inText !== GAP_EITHER || inQuote !== GAP_SPACE)) return false;
    if (isPoint(before) && isDigit(after) && isDigit(needle.chars[at - 2])) return false;
    if (inText === GAP_EITHER || inQuote === GAP_EITHER) continue;
    if (unspacedLetter.test(before ?? "") || unspacedLetter.test(after ?? "")) continue;
    if (!isWordCharacter(before) || !isWordCharacter(after) || isDigit(before) || isDigit(after)) continue;
    toleratedCount += 1;
    const spaced = inText === GAP_SPACE ? haystack : needle;
    const [first, second] = wordsAround(spaced, inText === GAP_SPACE ? start + at : at);
    if (makesAnotherWord(first, second, inText === GAP_SPACE, vocabulary))
      return `"${first}${second}" is not "${first} ${second}"`;
  }
  return toleratedCount <= (wordCount < minWords ? 0 : 1 + Math.floor(wordCount / 8));
}

/** The text between a character and the previous one. */
const textBetween = ({ source, from, to }: Normalised, at: number): string => source.slice(to[at - 1], from[at]);
/** Whether the space before a digit is a thousands separator. */
const isThousandsSeparator = (needle: Normalised, at: number): boolean =>
  /^[\u2009\u202f\u00a0]$/.test(textBetween(needle, at));

/** The words before and after the space at `at`. */
function wordsAround({ chars, gaps }: Normalised, at: number): [string, string] {
  let [from, to] = [at - 1, at + 1];
  while (from > 0 && at - from < 40 && gaps[from] === GAP_NONE && isLetter(chars[from - 1])) from -= 1;
  while (to < chars.length && to - at < 40 && gaps[to] === GAP_NONE && isLetter(chars[to])) to += 1;
  return [chars.slice(from, at), chars.slice(at, to)];
}

/** Prefixes that make another word. */
const prefixes = new Set(
  "a ab an anti at be de dis ex il im in inter ir micro mis non no nor not over post pre re sub super un under up out".split(
    " ",
  ),
);
/** Words that consist of two common words but have another meaning. */
const compounds = new Set(
  (
    "nowhere maybe sometimes everyday anyone everyone someone anybody somebody nobody anything something nothing everything " +
    "anyway somehow somewhere into onto without within cannot another together therefore therein whereas whereby already always " +
    "altogether nevertheless nonetheless notwithstanding however whatever whoever whichever thereby hereby upon almost " +
    "therewith wherewith herewith forthwith thereof whereof hereof therefrom offend offence offences therapist therapists"
  ).split(" "),
);
const commonWords = new Set(
  (
    "the of and to is was were are be been by for from with on as at or it its that this these those we our has have had but can " +
    "which than then they their he she his her all any may one two so such no not an a in now here there where when who how out up"
  ).split(" "),
);

/** Subscripts of symbols, which are written with or without a space: "C max", "Kcat". */
const subscripts = new Set(
  "max min sub tot eff cat obs exp ref crit sat app peak rms avg opt lim inh rel net sim calc meas init fin train test val".split(
    " ",
  ),
);

/** Words that PDFs join to the following word. No other word begins with them, except the compounds above. */
const joinedToNext = new Set("the of and was were from that this these those which".split(" "));
/** Words that PDFs join to the previous word. */
const joinedToPrevious = new Set("the of and was were with from that which".split(" "));
/** Minimum number of letters of a word that is joined to one of these, unless it is a common word. */
const minLettersBeside = 4;
/** Minimum number of letters of both words if neither is one of these. */
const minLettersOfBoth = 5;

/**
 * Whether two words that are joined in the text have only lost their space: "thepolicy", "graspingpolicy". That both
 * are words does not prove it: "assigned" is not "as signed", "factor" is not "fact or".
 */
function haveLostSpace(first: string, second: string): boolean {
  const isCompleteWord = (word: string) => word.length >= minLettersBeside || commonWords.has(word);
  if ((joinedToNext.has(first) && isCompleteWord(second)) || (joinedToPrevious.has(second) && isCompleteWord(first)))
    return true;
  return first.length >= minLettersOfBoth && second.length >= minLettersOfBoth;
}

/**
 * Whether separating or joining two words makes another word: "insignificant" and "in significant". If a PDF splits
 * "signi ficant", at least one piece is not a word; if it joins "thepolicy", the result is not a word.
 */
function makesAnotherWord(
  first: string,
  second: string,
  isSeparatedInText: boolean,
  { words, pairs }: Vocabulary,
): boolean {
  if (prefixes.has(first) || compounds.has(first + second)) return true;
  // Symbols of a formula may be written with or without spaces: "w i", "σ j".
  const isSymbol = (word: string) => word.length <= 2 && !commonWords.has(word) && !prefixes.has(word);
  if (isSymbol(first) && isSymbol(second)) return false;
  if (first.length === 1 && subscripts.has(second)) return false;
  if ((isSymbol(second) || isSymbol(first)) && !words.has(first + second)) return false;
  const pair = pairs.get(`${first} ${second}`) ?? 0;
  const isWord = (word: string) => commonWords.has(word) || (words.get(word) ?? 0) > (isSeparatedInText ? pair : 0);
  if (isSeparatedInText) return commonWords.has(first) || commonWords.has(second) || (isWord(first) && isWord(second));
  return (words.get(first + second) ?? 0) > 1 || !isWord(first) || !isWord(second) || !haveLostSpace(first, second);
}

/** Maximum number of letters of a unit. */
const maxUnitLetters = 8;

/** Whether units have the same case, unless the text or the quote is in capitals throughout. */
function casesAgree(haystack: Normalised, needle: Normalised, start: number): boolean {
  const { chars, gaps, from, to } = needle;
  for (let at = 0, end = 0; at < chars.length; at = Math.max(end, at + 1)) {
    if (!isLetter(chars[at])) continue;
    end = at + 1;
    // There is no white space before the Ω of "mΩ", but it is a separate character.
    while (isLetter(chars[end]) && (gaps[end] === GAP_NONE || from[end] === to[end - 1])) end += 1;
    if (end - at > maxUnitLetters) continue;
    const [inText, inQuote] = [sourceOf(haystack, start + at, start + end), sourceOf(needle, at, end)];
    if (inText.normalize("NFKC") === inQuote.normalize("NFKC")) continue;
    const isUnitPosition =
      isAfterNumber(needle, at) || (chars[at - 1] === "(" && chars[end] === ")" && gaps[at] === GAP_NONE);
    if (!(isUnitPosition ? caseMatters(inText) : isSymbol(inText) && isSymbol(inQuote))) continue;
    if (!hasNoSmallLetter(haystack, start, start + chars.length) && !hasNoSmallLetter(needle, 0, chars.length))
      return false;
  }
  return true;
}

/** Whether a number is before a position, with at most a hyphen between. The 1 of "HbA1c" does not count. */
function isAfterNumber({ chars, gaps }: Normalised, at: number): boolean {
  let before = at - 1;
  if (chars[before] === "-" && gaps[at] === GAP_NONE && gaps[before] === GAP_NONE) before -= 1;
  if (!isDigit(chars[before])) return false;
  while (before > 0 && gaps[before] === GAP_NONE && isDigit(chars[before - 1])) before -= 1;
  return gaps[at] !== GAP_NONE || gaps[before] !== GAP_NONE || !isLetter(chars[before - 1]);
}

const sourceOf = ({ source, from, to }: Normalised, start: number, end: number): string =>
  source.slice(from[start], to[end - 1]).replace(/[^\p{L}]/gu, "");
const hasNoSmallLetter = (normalised: Normalised, start: number, end: number): boolean =>
  !/\p{Ll}/u.test(normalised.source.slice(normalised.from[start], normalised.to[end - 1]));

/** Whether a quote that begins or ends at `at` would cut a character, a word or a number of the text. */
function cutsAt(normalised: Normalised, at: number): boolean {
  const { chars, gaps, from } = normalised;
  if (at <= 0 || at >= chars.length) return false;
  const [before, after] = [chars[at - 1] as string, chars[at] as string];
  const gap = gaps[at];
  // It would cut "½" into two parts, or "=" from its stroke. "…" may be cut.
  if ((from[at - 1] === from[at] && !isPoint(before)) || /\p{M}/u.test(after)) return true;
  // It would cut "10⁵", which may be "10 ⁵" in a PDF.
  if (isWordCharacter(before) && isScriptSign(after) && (isDigit(before) || gap === GAP_NONE)) return true;
  if (gap === GAP_HYPHEN) return !isUnspaced(before, after);
  // It would cut the 5 from "< 5" or "5 %".
  const cutsSign = (isDigit(after) && "<>≤≥±≈~".includes(before)) || (isDigit(before) && "%‰°".includes(after));
  if (cutsSign) return !/\n\s{0,9}\n|\|/.test(textBetween(normalised, at));
  // It would cut "12 500".
  if (
    isDigit(before) &&
    /^[ \u00a0\u2009\u202f]$/.test(textBetween(normalised, at)) &&
    isThousandsGroup(normalised, at)
  )
    return true;
  if (gap !== GAP_NONE) return gap === GAP_NUMBER;
  if (isWordCharacter(before) && isWordCharacter(after) && !isUnspaced(before, after)) return true;
  // It would cut 0.5, 3/4, 3:1, 10⁵ or don't.
  const isJoint = (char: string) => isPoint(char) || "/:'".includes(char) || isScriptSign(char);
  if (isJoint(before) && isDigit(after) && isWordCharacter(chars[at - 2]))
    return isDigit(chars[at - 2]) || isScriptSign(before);
  if (isDigit(before) && isJoint(after) && isDigit(chars[at + 1]) && gaps[at + 1] === GAP_NONE) return true;
  if (isLetter(before) && after === "'" && isLetter(chars[at + 1]) && gaps[at + 1] === GAP_NONE) return true;
  // It would cut the 0.3 from "-0.3", or the 4 from "GPT-4" or "4-6".
  return (before === "-" && isDigit(after)) || (isDigit(before) && after === "-" && isDigit(chars[at + 1]));
}
