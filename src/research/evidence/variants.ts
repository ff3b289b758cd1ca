import { saysMore } from "./sense.js";
import { isUnit } from "./units.js";

/** Longer words in brackets are no insertion, and more than three of them make another sentence. */
const maxInserted = 60;
const maxInsertions = 3;

/** A way to read a quote, and what the text must bear out for it. */
export interface Variant {
  readonly quote: string;
  /** The quote says "°" where the text says "0": the text's sentence must speak of an angle. */
  readonly needsAngle?: true;
}

const quotationMarks = new Set("\"'“”‘’„«»`");
const isTrimmed = (char: string | undefined) => char !== undefined && (quotationMarks.has(char) || /\s/.test(char));

/** Marks of direction and joiners, which a copy may bring along; a soft hyphen is the normaliser's. */
const unseen = /[\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** Models wrap a quote in quotation marks of their own. */
export function trimQuotationMarks(quote: string): string {
  let [start, end] = [0, quote.length];
  while (start < end && isTrimmed(quote[start])) start += 1;
  while (end > start && isTrimmed(quote[end - 1])) end -= 1;
  return quote.slice(start, end);
}

/**
 * The ways to read a quote, the strictest first: as it stands; without markup, its number in a list and its source;
 * without the stop or page that closes a quote cut short;
 * without words set in in brackets; retyped as the text writes its signs and units; with powers and numbers of formulas
 * as a text without ranks has them; with "°" for a raised 0.
 */
export function variantsOf(quote: string, text: string): Variant[] {
  const whole = trimQuotationMarks(quote.replace(unseen, ""));
  const bare = withoutSource(withoutMarkup(whole));
  const cut = withoutClosing(bare);
  const plain = withoutInsertions(cut, text);
  const written = [...new Set([whole, bare, cut, plain])];
  const retyped = [...new Set([...written, ...written.map((each) => asTyped(each, text))])];
  const variants: Variant[] = [...new Set([...retyped, ...retyped.map(onTheLine)])].map((each) => ({ quote: each }));
  if (/\p{Nd}\s?[°º˚]/u.test(plain))
    variants.push({ quote: plain.replace(/(?<=\p{Nd})\s?[°º˚]/gu, "0"), needsAngle: true });
  return variants.filter((each) => each.quote !== "");
}

/** What is copied from the source of a page or of a paper brings its marks along. */
const withoutMarkup = (quote: string): string =>
  quote
    .replace(/<sup>([^<>]{1,20})<\/sup>/gi, "^{$1}")
    .replace(/<\/?(?:b|i|em|strong|u|mark)>/gi, "")
    .replace(/<br ?\/?>|&nbsp;|&#(?:160|xa0);/gi, " ")
    .replace(/&(lt|gt|amp|quot|apos|plusmn|le|ge|minus|ndash|mdash);/g, (_, name: string) => characters[name] ?? "")
    .replace(/\\pm(?![a-zA-Z])/g, "±")
    .replace(/\\([%&_#])/g, "$1")
    .replace(/\$(\p{Nd}{1,12}(?:\.\p{Nd}{1,12})?)\$/gu, "$1");
const characters: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  amp: "&",
  quot: '"',
  apos: "'",
  plusmn: "±",
  le: "≤",
  ge: "≥",
  minus: "−",
  ndash: "–",
  mdash: "—",
};

const who = "\\p{Lu}[\\p{L}'’-]{1,30}(?: et al\\.?| (?:and|&) \\p{Lu}[\\p{L}'’-]{1,30})?";
const year = "(?:19|20)\\p{Nd}{2}[a-z]?";
const stress = "[([](?:emphasis (?:added|mine|ours)|my emphasis|our emphasis)[)\\]]";
const sources = [
  `\\s{0,2}\\(${who},? ${year}\\)`,
  ` [—–-] ?${who},? \\(?${year}\\)?`,
  " [—–-] ?\\p{Lu}[\\p{L}'’-]{1,30} et al\\.?",
  `\\s{0,2}${stress}`,
];
const source = new RegExp(`(?:${sources.join("|")})\\s?\\.?$`, "u");

/** The number that a quote has in a list of quotes, and behind it who wrote it and who stressed it. */
function withoutSource(quote: string): string {
  const listed = quote.replace(/^(?:\(\p{Nd}{1,2}\)|\p{Nd}{1,2}[.)])\s{1,3}(?=\p{Lu}\p{Ll})/u, "");
  const tail = listed.slice(-120);
  return listed.slice(0, listed.length - (source.exec(tail)?.[0].length ?? 0));
}

const page =
  /(?:\s{0,3}[([]\s{0,2}(?:\p{Lu}[^()[\]\p{Nd}]{1,30},\s)?|\s{0,3},\s)(?:pp?\.|pages?|§|sect?(?:ion|\.))\s{0,2}\p{Nd}{1,5}(?:\.\p{Nd}{1,2})?(?:\s{0,2}[-–]\s{0,2}\p{Nd}{1,5})?\s{0,2}[)\]]?\s{0,2}\.?$/iu;

/**
 * "it worked (p. 3)." and "it worked." for "it worked, and so on"; "it worked [3" for "it worked [3, 4]". A point
 * between digits is no stop.
 */
function withoutClosing(quote: string): string {
  const paged = page.exec(quote.slice(-60))?.[0].length ?? 0;
  const tail = quote.slice(0, quote.length - paged).slice(-60);
  const stop = /[\s.,;:!?"'”’»]{0,6}$/u.exec(tail)?.[0].length ?? 0;
  const citation = paged + stop === 0 ? undefined : cutCitation.exec(tail.slice(0, tail.length - stop))?.[0];
  return quote.slice(0, quote.length - paged - stop - (citation?.length ?? 0));
}
const cutCitation = /\s{0,2}\[\d{1,3}(?:[,;–\s-]{1,3}\d{1,3}){0,9}$/;

/**
 * "the hand [of Shadow Robot] reached": words of explanation go, "[t]he" is "the"; what says something of its own or
 * stands in the text stays.
 */
function withoutInsertions(quote: string, text: string): string {
  let count = 0;
  return quote.replace(
    /(?<=(\p{L}?))(\s?)\[([^[\]]{1,60})\](?=(\p{L}?))/gu,
    (whole, last: string, space: string, words: string, next: string) => {
      if (/^\p{L}{1,3}$/u.test(words) && (next !== "" || (last !== "" && space === ""))) return space + words;
      const mayGo = count < maxInsertions && words.length <= maxInserted && /\p{L}/u.test(words) && next === "";
      if (!mayGo || saysMore(words) || text.includes(`[${words}]`)) return whole;
      count += 1;
      return "";
    },
  );
}

/**
 * What is typed in several ways: where the text has one of the signs, what stands for it in the quote, and how it is
 * written then.
 */
const typings: readonly (readonly [RegExp, RegExp, string])[] = [
  [/ \| /, /\s?\|\s?/g, " | "],
  [/⩽/, /<=/g, "⩽"],
  [/≦/, /<=/g, "≦"],
  [/⩾/, />=/g, "⩾"],
  [/≧/, />=/g, "≧"],
  [/≈/, /~/g, "≈"],
  [/″/, /(?<=\p{Nd}\s?)(?:''|’’|["”])/gu, "″"],
  [/′/, /(?<=\p{Nd}\s?)['’](?!\p{L})/gu, "′"],
  [/[µμ]/, /(?<=\p{Nd}\s?)(?:u(?=[glmLsAVWM](?!\p{L}))|mc(?=g(?!\p{L})))/gu, "µ"],
  [/\p{Nd}\s?u[glmLsAVWM](?!\p{L})/u, /(?<=\p{Nd}\s?)[µμ]/gu, "u"],
  [/⁻/, /(?<=(?<!\p{L})\p{L}{1,4})[-−](?=[1-3](?!\p{Nd}))/gu, "⁻"],
  [/(?:)/, /\^\(([-−–]?\p{Nd}{1,4})\)/gu, "^{$1}"],
  [/(?:)/, /(?<=\p{Nd})\*\*(?=[-−\p{Nd}])/gu, "^"],
  [/[=<>≤≥]\s?0\.\p{Nd}/u, /(?<=[=<>≤≥]\s?)\.(?=\p{Nd})/gu, "0."],
  [/10(?:[⁻⁰-⁹^]|[-−])/, /(?<=\p{Nd})[eE]([-−]?\p{Nd}{1,3})(?![\p{L}\p{Nd}])/gu, " × 10^$1"],
];

const asTyped = (quote: string, text: string): string =>
  typings.reduce(
    (typed, [sign, pattern, written]) => (sign.test(text) ? typed.replace(pattern, written) : typed),
    quote,
  );

/**
 * A text made without ranks has "kg/m2", "s-1", "10-5" and "CO2"; a quote that raises and lowers them says the same.
 */
const onTheLine = (quote: string): string =>
  quote
    .replace(/(?<=(?<!\p{L})(?:[cmkdnµμ]?m|s|R|r|χ|η|I))(?:[²³]|\^\{?[23]\}?)/gu, inPlain)
    .replace(/(?<=(?<!\p{L})(\p{L}{1,4}))(?:⁻[¹²³]|\^\{?[-−][123]\}?)/gu, (power: string, unit: string) =>
      isUnit(unit) ? inPlain(power) : power,
    )
    // "10-5" is no range: a range goes up.
    .replace(/(?<=(?<![\p{Nd}.,])10)(?:⁻[¹²³⁴-⁹]|\^\{?[-−][1-9]\}?)(?![⁰-⁹\p{Nd}])/gu, inPlain)
    .replace(/(?<=\p{Lu}\p{Ll}?|\))[₀-₉]{1,3}/gu, inPlain);

const inPlain = (power: string): string => power.normalize("NFKC").replace(/[\^{}]/g, "");
