import type { Vocabulary } from "./marks-left-out.js";
import type { Span } from "./passage.js";
import {
  GAP_EITHER,
  GAP_HYPHEN,
  GAP_NONE,
  GAP_NUMBER,
  GAP_SPACE,
  groupsAt,
  isDigit,
  type Normalised,
} from "./normalise.js";
import { caseMatters, isSymbol } from "./numbers/units.js";

/** Quotes of fewer words have no space forgiven. */
const minWords = 3;
/** Scripts that set no spaces between words. */
export const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

/**
 * Whether the characters found at `start` are the quote's words: the same gaps, whole words and numbers at both ends,
 * its citations there, its units in their case. The passage where they are; a reason where only the sense differs;
 * false where they are not.
 */
export function agrees(
  haystack: Normalised,
  needle: Normalised,
  start: number,
  vocabulary: Vocabulary,
): Span | string | false {
  const end = start + needle.chars.length;
  for (const [at, says] of needle.notes) {
    if (!` ${inPlain(haystack.notes.get(start + at) ?? "")}`.includes(` ${inPlain(says)}`)) return false;
  }
  const gaps = gapsAgree(haystack, needle, start, vocabulary);
  if (gaps !== true) return gaps;
  if (!casesAgree(haystack, needle, start)) return "a unit is in another case, which makes it another unit";
  if (cutsInto(haystack, start)) return "it begins inside a word or number of the text";
  if (cutsInto(haystack, end)) return "it ends inside a word or number of the text";
  return { start: haystack.from[start] as number, end: haystack.to[end - 1] as number };
}

/** A citation without its dress: "[1]–[3]" and a raised "1–3" are one. */
const inPlain = (note: string): string => note.replace(/[[\]^{}]/g, "").replace(/\s{0,2}[-–—−⁻]\s{0,2}/g, "-");

const isWordy = (char: string | undefined) => char !== undefined && /[\p{L}\p{N}]/u.test(char);
const isLetter = (char: string | undefined) => char !== undefined && /\p{L}/u.test(char);
/** Where one word ends and the next begins, nobody sees; save where one script meets another, "C言語". */
const isUnspaced = (before: string, after: string) =>
  unspaced.test(before) ? unspaced.test(after) || !isDigit(after) : unspaced.test(after) && !isDigit(before);
const isPoint = (char: string | undefined) => char === "." || char === ",";
const isRank = (char: string | undefined) => char === "^" || char === "_";
/** What a reader sees: where "1½" is read as two numbers, a space may as well stand. */
const seen = (gap: number | undefined) => (gap === GAP_NUMBER ? GAP_SPACE : gap === GAP_HYPHEN ? GAP_EITHER : gap);

/**
 * PDFs lose and gain spaces: next to punctuation ("150 .1") that is forgiven, between letters once and once more for
 * every eight words, where it makes no other word. Between digits never: "10 5" is not 105, and "150. 1" may be the end
 * of one sentence and the start of another.
 */
function gapsAgree(
  haystack: Normalised,
  needle: Normalised,
  start: number,
  vocabulary: Vocabulary,
): true | string | false {
  let forgiven = 0;
  let words = 1;
  for (let at = 1; at < needle.chars.length; at += 1) {
    const [inText, inQuote] = [seen(haystack.gaps[start + at]), seen(needle.gaps[at])];
    if (inQuote === GAP_SPACE) words += 1;
    const [before, after] = [needle.chars[at - 1], needle.chars[at]];
    if (inText === inQuote) {
      // Two cells are not a number in groups.
      if (isDigit(before) && isDigit(after) && groups(needle, at) && between(haystack, start + at).includes("|"))
        return false;
      continue;
    }
    // A citation may have stood between two numbers; what nobody sees may not part or join them in the quote.
    if (isDigit(before) && isDigit(after) && (inText !== GAP_EITHER || inQuote !== GAP_SPACE)) return false;
    if (isPoint(before) && isDigit(after) && isDigit(needle.chars[at - 2])) return false;
    if (inText === GAP_EITHER || inQuote === GAP_EITHER) continue;
    if (unspaced.test(before ?? "") || unspaced.test(after ?? "")) continue;
    if (!isWordy(before) || !isWordy(after) || isDigit(before) || isDigit(after)) continue;
    forgiven += 1;
    const holder = inText === GAP_SPACE ? haystack : needle;
    const [first, second] = wordsAround(holder, inText === GAP_SPACE ? start + at : at);
    if (makesAnotherWord(first, second, inText === GAP_SPACE, vocabulary))
      return `"${first}${second}" is not "${first} ${second}"`;
  }
  return forgiven <= (words < minWords ? 0 : 1 + Math.floor(words / 8));
}

/** What stands before a character, between it and the last. */
const between = ({ source, from, to }: Normalised, at: number): string => source.slice(to[at - 1], from[at]);
/** Whether a space before a digit is one that sets thousands apart. */
const groups = (needle: Normalised, at: number): boolean => /^[\u2009\u202f\u00a0]$/.test(between(needle, at));

/** The words that meet at a space before `at`. */
function wordsAround({ chars, gaps }: Normalised, at: number): [string, string] {
  let [from, to] = [at - 1, at + 1];
  while (from > 0 && at - from < 40 && gaps[from] === GAP_NONE && isLetter(chars[from - 1])) from -= 1;
  while (to < chars.length && to - at < 40 && gaps[to] === GAP_NONE && isLetter(chars[to])) to += 1;
  return [chars.slice(from, at), chars.slice(at, to)];
}

/** Beginnings that make another word of the one behind them. */
const prefixes = new Set(
  "a ab an anti at be de dis ex il im in inter ir micro mis non no nor not over post pre re sub super un under up out".split(
    " ",
  ),
);
/** Words that are two common words, and are not the same as these. */
const compounds = new Set(
  (
    "nowhere maybe sometimes everyday anyone everyone someone anybody somebody nobody anything something nothing everything " +
    "anyway somehow somewhere into onto without within cannot another together therefore therein whereas whereby already always " +
    "altogether nevertheless nonetheless notwithstanding however whatever whoever whichever thereby hereby upon almost " +
    "therewith wherewith herewith forthwith thereof whereof hereof therefrom offend offence offences therapist therapists"
  ).split(" "),
);
const common = new Set(
  (
    "the of and to is was were are be been by for from with on as at or it its that this these those we our has have had but can " +
    "which than then they their he she his her all any may one two so such no not an a in now here there where when who how out up"
  ).split(" "),
);

/** What is set low behind a symbol and read with a space or without: "C max", "Kcat". */
const subscripts = new Set(
  "max min sub tot eff cat obs exp ref crit sat app peak rms avg opt lim inh rel net sim calc meas init fin train test val".split(
    " ",
  ),
);

/** What runs into the word behind it where a space is lost; no other word begins so, save the compounds above. */
const runsOn = new Set("the of and was were from that this these those which".split(" "));
/** What the word before it runs into. */
const isRunInto = new Set("the of and was were with from that which".split(" "));
/** Letters that a word has beside one of these, unless it is a common word itself; and one beside any other. */
const [minBeside, minBoth] = [4, 5];

/**
 * Whether two words that the text joins are seen to be two with their space lost: "thepolicy", "graspingpolicy". That
 * both are words is not a sign of it: "assigned" is not "as signed", "factor" not "fact or".
 */
function haveRunTogether(first: string, second: string): boolean {
  const isBeside = (word: string) => word.length >= minBeside || common.has(word);
  if ((runsOn.has(first) && isBeside(second)) || (isRunInto.has(second) && isBeside(first))) return true;
  return first.length >= minBoth && second.length >= minBoth;
}

/**
 * Whether parting or joining two words makes another: "insignificant" and "in significant". A PDF's torn "signi ficant"
 * leaves at least one piece that is not a word; its lost space in "thepolicy" one that is.
 */
function makesAnotherWord(
  first: string,
  second: string,
  isPartedInText: boolean,
  { words, pairs }: Vocabulary,
): boolean {
  if (prefixes.has(first) || compounds.has(first + second)) return true;
  // Symbols of a formula, which readers set apart as they like: "w i", "σ j".
  const isSymbol = (word: string) => word.length <= 2 && !common.has(word) && !prefixes.has(word);
  if (isSymbol(first) && isSymbol(second)) return false;
  if (first.length === 1 && subscripts.has(second)) return false;
  if ((isSymbol(second) || isSymbol(first)) && !words.has(first + second)) return false;
  const pair = pairs.get(`${first} ${second}`) ?? 0;
  const isWord = (word: string) => common.has(word) || (words.get(word) ?? 0) > (isPartedInText ? pair : 0);
  if (isPartedInText) return common.has(first) || common.has(second) || (isWord(first) && isWord(second));
  return (words.get(first + second) ?? 0) > 1 || !isWord(first) || !isWord(second) || !haveRunTogether(first, second);
}

/** Longer words are not a unit. */
const maxUnit = 8;

/** Whether the units are written in the same case, unless one of both is in capitals throughout. */
function casesAgree(haystack: Normalised, needle: Normalised, start: number): boolean {
  const { chars, gaps, from, to } = needle;
  for (let at = 0, end = 0; at < chars.length; at = Math.max(end, at + 1)) {
    if (!isLetter(chars[at])) continue;
    end = at + 1;
    // No white space stands before the Ω of "mΩ", and yet it is set apart.
    while (isLetter(chars[end]) && (gaps[end] === GAP_NONE || from[end] === to[end - 1])) end += 1;
    if (end - at > maxUnit) continue;
    const [inText, inQuote] = [sourceOf(haystack, start + at, start + end), sourceOf(needle, at, end)];
    if (inText.normalize("NFKC") === inQuote.normalize("NFKC")) continue;
    const isBehindNumber =
      behindNumber(needle, at) || (chars[at - 1] === "(" && chars[end] === ")" && gaps[at] === GAP_NONE);
    if (!(isBehindNumber ? caseMatters(inText) : isSymbol(inText) && isSymbol(inQuote))) continue;
    if (!isCapital(haystack, start, start + chars.length) && !isCapital(needle, 0, chars.length)) return false;
  }
  return true;
}

/** Whether a number stands before a position, with a hyphen at most between; the 1 of "HbA1c" does not count. */
function behindNumber({ chars, gaps }: Normalised, at: number): boolean {
  let before = at - 1;
  if (chars[before] === "-" && gaps[at] === GAP_NONE && gaps[before] === GAP_NONE) before -= 1;
  if (!isDigit(chars[before])) return false;
  while (before > 0 && gaps[before] === GAP_NONE && isDigit(chars[before - 1])) before -= 1;
  return gaps[at] !== GAP_NONE || gaps[before] !== GAP_NONE || !isLetter(chars[before - 1]);
}

const sourceOf = ({ source, from, to }: Normalised, start: number, end: number): string =>
  source.slice(from[start], to[end - 1]).replace(/[^\p{L}]/gu, "");
const isCapital = (normalised: Normalised, start: number, end: number): boolean =>
  !/\p{Ll}/u.test(normalised.source.slice(normalised.from[start], normalised.to[end - 1]));

/**
 * Whether a quote that begins or ends before position `at` would cut a character, a word or a number of the text in
 * two.
 */
function cutsInto(normalised: Normalised, at: number): boolean {
  const { chars, gaps, from } = normalised;
  if (at <= 0 || at >= chars.length) return false;
  const [before, after] = [chars[at - 1] as string, chars[at] as string];
  const gap = gaps[at];
  // Half of "½", the "=" of a "=" with a stroke; of "…" one dot is as good as three.
  if ((from[at - 1] === from[at] && !isPoint(before)) || /\p{M}/u.test(after)) return true;
  // PDFs set "10⁵" as "10 ⁵" too.
  if (isWordy(before) && isRank(after) && (isDigit(before) || gap === GAP_NONE)) return true;
  if (gap === GAP_HYPHEN) return !isUnspaced(before, after);
  // "5" of "< 5" and of "5 %".
  const isSigned = (isDigit(after) && "<>≤≥±≈~".includes(before)) || (isDigit(before) && "%‰°".includes(after));
  if (isSigned) return !/\n\s{0,9}\n|\|/.test(between(normalised, at));
  // The 12 of "12 500", and its 500.
  if (isDigit(before) && /^[ \u00a0\u2009\u202f]$/.test(between(normalised, at)) && groupsAt(normalised, at))
    return true;
  if (gap !== GAP_NONE) return gap === GAP_NUMBER;
  if (isWordy(before) && isWordy(after) && !isUnspaced(before, after)) return true;
  // 0.5, 3/4, 3:1, 10⁵, don't
  const isJoint = (char: string) => isPoint(char) || "/:'".includes(char) || isRank(char);
  if (isJoint(before) && isDigit(after) && isWordy(chars[at - 2])) return isDigit(chars[at - 2]) || isRank(before);
  if (isDigit(before) && isJoint(after) && isDigit(chars[at + 1]) && gaps[at + 1] === GAP_NONE) return true;
  if (isLetter(before) && after === "'" && isLetter(chars[at + 1]) && gaps[at + 1] === GAP_NONE) return true;
  // "0.3" of "-0.3", the 4 of "GPT-4" and of "4-6".
  return (before === "-" && isDigit(after)) || (isDigit(before) && after === "-" && isDigit(chars[at + 1]));
}
