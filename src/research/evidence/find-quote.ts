import { locatorAt, type Mark } from "../../engine/documents/text/paper-text.js";
import { nearestPassage, wordsOf } from "./nearest-passage.js";
import { GAP_EITHER, GAP_NONE, GAP_NUMBER, GAP_SPACE, isDigit, normalise, type Normalised } from "./normalise.js";

/** A text to search, with its pages and sections where it has any. */
interface Searchable {
  readonly text: string;
  readonly marks?: readonly Mark[];
}

type QuoteMatch =
  /** `start` and `end` are offsets into the text; an elided quote spans its fragments. */
  | { readonly found: true; readonly start: number; readonly end: number; readonly locator?: string }
  /**
   * `nearest`: the passage that shares most with the quote, on one line of at most 300 characters; empty where nothing is shared.
   * `tooShort`: the quote says so little that it was not looked for.
   */
  | { readonly found: false; readonly nearest: string; readonly tooShort?: true };

/** So many characters may lie between two fragments of an elided quote: about half a page. */
const maxElision = 2000;
/** Where a fragment stands in more places than this, the rest are not tried. */
const maxStarts = 5000;
/** What a fragment of an elided quote has at least, one or the other. */
const minWords = 3;
const minCharacters = 12;
/** Scripts that set no spaces between words. */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

const prepared = new WeakMap<Searchable, Normalised>();

/**
 * Looks for a quote in a text. White space, hyphenation, accents, case, ligatures, kinds of quotation marks and dashes, bracketed
 * citations left out, and page breaks make no difference; every letter, number, sign, stroke through a sign and word order does. `…`,
 * `...` and `[...]` stand for words left out between fragments that follow each other within 2,000 characters.
 * "of the" and "5" stand in every paper: a quote has at least four words, or three of which one is a number, or twelve characters of a
 * script without spaces.
 * A text given as an object is normalised once, however many quotes are looked for.
 */
export function findQuote(text: Searchable | string, quote: string): QuoteMatch {
  const searchable = typeof text === "string" ? { text } : text;
  if (isTooShort(quote)) return { found: false, nearest: nearestPassage(searchable, quote), tooShort: true };
  const haystack = prepare(searchable);
  const hit = locate(haystack, quote);
  if (hit === undefined) return { found: false, nearest: nearestPassage(searchable, quote) };
  const locator = locatorAt(searchable.marks ?? [], hit.start);
  return { found: true, ...hit, ...(locator === undefined ? {} : { locator }) };
}

function isTooShort(quote: string): boolean {
  // A compound is one word: "state-of-the-art" says less than four.
  const words = quote.split(/[\s\u2014]+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
  if (words.length >= 4 || (words.length === 3 && words.some((word) => /\p{N}/u.test(word)))) return false;
  return [...quote].filter((char) => unspaced.test(char)).length < minCharacters;
}

function prepare(searchable: Searchable): Normalised {
  let normalised = prepared.get(searchable);
  if (normalised === undefined) {
    normalised = normalise(searchable.text);
    prepared.set(searchable, normalised);
  }
  return normalised;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

function locate(haystack: Normalised, quote: string): Span | undefined {
  const whole = asWhole(haystack, quote);
  if (whole !== undefined) return whole;

  const fragments = quote
    .split(/\[\s*(?:…|\.\s?\.\s?\.)\s*\]|\(\s*(?:…|\.\.\.)\s*\)|…|\.\s?\.\s?\.+/)
    .map(trimQuotationMarks);
  const filled = fragments.filter((fragment) => /[\p{L}\p{N}\p{Sm}]/u.test(fragment));
  if (fragments.length < 2 || filled.length === 0) return undefined;
  if (filled.length === 1) return asWhole(haystack, filled[0] as string);
  if (filled.some((fragment) => isShort(fragment))) return undefined;
  return inOrder(haystack, filled.map(normalise));
}

/** Models wrap a quote in quotation marks of their own. */
const trimQuotationMarks = (quote: string) =>
  quote
    .trim()
    .replace(/^["'“”‘’„«»]+|["'“”‘’„«»]+$/g, "")
    .trim();

const isShort = (quote: string) => wordsOf(quote).length < minWords && normalise(quote).chars.length < minCharacters;

function asWhole(haystack: Normalised, quote: string): Span | undefined {
  const needle = normalise(trimQuotationMarks(quote));
  for (const start of starts(haystack, needle)) {
    const span = check(haystack, needle, start);
    if (span !== undefined) return span;
  }
  return undefined;
}

interface Chain extends Span {
  /** Where in the normalised text the last fragment ends. */
  readonly next: number;
}

/**
 * The fragments, each after the last and near it. For every place of a fragment the latest place of the one before it is the nearest, so
 * one pass a fragment is enough, however often each stands in the text.
 */
function inOrder(haystack: Normalised, needles: readonly Normalised[]): Span | undefined {
  let chains: Chain[] | undefined;
  for (const needle of needles) {
    const longer: Chain[] = [];
    let before = 0;
    for (const at of starts(haystack, needle)) {
      while (chains !== undefined && (chains[before + 1]?.next ?? Infinity) <= at) before += 1;
      const chain = chains?.[before];
      if (chains !== undefined && (chain === undefined || chain.next > at)) continue;
      const span = check(haystack, needle, at);
      if (span === undefined || (chain !== undefined && span.start - chain.end > maxElision)) continue;
      longer.push({ start: chain?.start ?? span.start, end: span.end, next: at + needle.chars.length });
    }
    chains = longer;
  }
  const [first] = chains ?? [];
  return first === undefined ? undefined : { start: first.start, end: first.end };
}

function* starts(haystack: Normalised, needle: Normalised): Generator<number> {
  if (needle.chars === "") return;
  let count = 0;
  for (
    let at = haystack.chars.indexOf(needle.chars);
    at !== -1 && count < maxStarts;
    at = haystack.chars.indexOf(needle.chars, at + 1)
  ) {
    count += 1;
    yield at;
  }
}

/** Whether the characters found at `start` are the quote's words: same gaps, whole words and numbers at both ends, its citations there. */
function check(haystack: Normalised, needle: Normalised, start: number): Span | undefined {
  const end = start + needle.chars.length;
  if (!gapsAgree(haystack, needle, start) || cutsInto(haystack, start) || cutsInto(haystack, end)) return undefined;
  for (const [at, numbers] of needle.citations)
    if (!(haystack.citations.get(start + at) ?? "").includes(numbers)) return undefined;
  return { start: haystack.from[start] as number, end: haystack.to[end - 1] as number };
}

const isWordy = (char: string | undefined) => char !== undefined && /[\p{L}\p{N}]/u.test(char);
/** Where one word ends and the next begins, nobody sees. */
const isUnspaced = (before: string | undefined, after: string | undefined) =>
  unspaced.test(before ?? "") && unspaced.test(after ?? "");
const isPoint = (char: string | undefined) => char === "." || char === ",";
const isRank = (char: string | undefined) => char === "^" || char === "_";
/** What a reader sees: where "1½" is read as two numbers, a space may as well stand. */
const seen = (gap: number | undefined) => (gap === GAP_NUMBER ? GAP_SPACE : gap);

/**
 * PDFs lose and gain spaces: beside punctuation ("150 .1") that is forgiven, between letters once and once more for every eight words.
 * Between digits never: "10 5" is not 105, and "150. 1" may be the end of one sentence and the start of another.
 */
function gapsAgree(haystack: Normalised, needle: Normalised, start: number): boolean {
  let forgiven = 0;
  let words = 1;
  for (let at = 1; at < needle.chars.length; at += 1) {
    const [inText, inQuote] = [seen(haystack.gaps[start + at]), seen(needle.gaps[at])];
    if (inQuote === GAP_SPACE) words += 1;
    if (inText === inQuote) continue;
    const [before, after] = [needle.chars[at - 1], needle.chars[at]];
    // A citation may have stood between two numbers; what nobody sees may not part or join them in the quote.
    if (isDigit(before) && isDigit(after) && (inText !== GAP_EITHER || inQuote !== GAP_SPACE)) return false;
    if (isPoint(before) && isDigit(after) && isDigit(needle.chars[at - 2])) return false;
    if (inText === GAP_EITHER || inQuote === GAP_EITHER || isUnspaced(before, after)) continue;
    if (isWordy(before) && isWordy(after) && !isDigit(before) && !isDigit(after)) forgiven += 1;
  }
  return forgiven <= (words < minWords ? 0 : 1 + Math.floor(words / 8));
}

/** Whether a quote that begins or ends before position `at` would cut a character, a word or a number of the text in two. */
function cutsInto({ chars, gaps, from }: Normalised, at: number): boolean {
  if (at <= 0 || at >= chars.length) return false;
  const [before, after] = [chars[at - 1] as string, chars[at] as string];
  const gap = gaps[at];
  // Half of "½", the "=" of a "=" with a stroke; of "…" one dot is as good as three.
  if ((from[at - 1] === from[at] && !isPoint(before)) || /\p{M}/u.test(after)) return true;
  // PDFs set "10⁵" as "10 ⁵" too.
  if (isDigit(before) && isRank(after)) return true;
  if (gap !== GAP_NONE) return gap === GAP_NUMBER;
  if (isWordy(before) && isWordy(after) && !isUnspaced(before, after)) return true;
  // 0.5, 3/4, 10⁵
  const isJoint = (char: string) => isPoint(char) || char === "/" || isRank(char);
  if (isJoint(before) && isDigit(after) && isDigit(chars[at - 2])) return true;
  if (isDigit(before) && isJoint(after) && isDigit(chars[at + 1]) && gaps[at + 1] === GAP_NONE) return true;
  // "0.3" of "-0.3", while the 4 of "GPT-4" is no negative number.
  return (
    before === "-" &&
    isDigit(after) &&
    (at < 2 || gaps[at - 1] !== GAP_NONE || !isWordy(chars[at - 2]) || isDigit(chars[at - 2]))
  );
}
