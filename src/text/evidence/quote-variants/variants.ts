import { signs } from "../../documents/latex/symbols.js";
import { inSigns } from "./formulas.js";
import { asRow } from "./rows.js";

const quotationMarks = new Set("\"'“”‘’‚„‟‹›«»`「」『』《》⟪⟫〝〞〟❛❜❝❞");
const isTrimmed = (char: string | undefined) => char !== undefined && (quotationMarks.has(char) || /\s/.test(char));

/** Marks of direction and joiners, which a copy may bring along; a soft hyphen within a word is the normaliser's. */
const unseen = /[\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]|(?<!\p{L})\u00ad|\u00ad(?![\s\p{L}])/gu;

/** Models wrap a quote in quotation marks of their own. */
export function trimQuotationMarks(quote: string): string {
  let [start, end] = [0, quote.length];
  while (start < end && isTrimmed(quote[start])) start += 1;
  while (end > start && isTrimmed(quote[end - 1])) end -= 1;
  return quote.slice(start, end);
}

/**
 * The ways to read a quote, the strictest first: as it stands; without markup, its number in a list and its source;
 * without the stop or page that closes a quote cut short; without the words in brackets that somebody set in.
 */
export function variantsOf(quote: string, text: string): string[] {
  const whole = trimQuotationMarks(quote.replace(unseen, ""));
  const unmarked = trimQuotationMarks(asRow(withoutOpening(trimQuotationMarks(withoutMarkup(whole))), text));
  const bare = withoutSource(unmarked, text);
  // Where one formula is more than signs, the others are still read as signs, in the text as here.
  const variants = [whole, inSigns(whole), unmarked, bare, withoutClosing(bare), withoutClosing(unmarked)];
  return [...new Set(variants.flatMap((each) => [each, withoutInsertions(each)]))].filter((each) => each !== "");
}

const bracketed = /(?<=(\p{L}?))(\s?)\[([^[\]]{1,200})\](?=(\p{L}?))/gu;

/**
 * "[t]he hand [of the authors] reached" as "the hand reached": words in square brackets are not the paper's. A number
 * in brackets is: "[54 % against 27 %]", "[12]".
 */
const withoutInsertions = (quote: string): string =>
  quote.replace(bracketed, (whole, last: string, space: string, words: string, next: string) => {
    if (/^\p{L}{1,3}$/u.test(words) && (next !== "" || (last !== "" && space === ""))) return space + words;
    return /\p{L}/u.test(words) && !/\p{N}/u.test(words) && next === "" ? "" : whole;
  });

/** What is copied from the source of a page or of a paper brings its marks along. */
const withoutMarkup = (quote: string): string =>
  inSigns(quote.replace(/\\\(([^()$\\]{0,80}(?:\\[a-zA-Z]{2,12}[^()$\\]{0,40}){0,3})\\\)/g, "$$$1$"))
    .replace(/^(\*\*|__|[*_`])(?=[^\s*_`])(.{1,2000}[^\s*_`])\1$/su, "$2")
    .replace(/<sup>([^<>]{1,20})<\/sup>/gi, "^{$1}")
    .replace(/<sub>([^<>]{1,20})<\/sub>/gi, "_{$1}")
    .replace(/<\/?(?:b|i|em|strong|u|mark|span|a|q|cite|code|small|font)(?:\s[^<>=]{1,40}=[^<>]{0,300})?>/gi, "")
    .replace(
      /<(?:br|p|div|blockquote|li|td|th|tr)(?:\s[^<>=]{1,40}=[^<>]{0,300})? ?\/?>|<\/(?:p|div|blockquote|li|td|th|tr)>/gi,
      " ",
    )
    .replace(/&(?:nbsp|#160|#xa0);/gi, " ")
    .replace(/&([a-zA-Z]{2,6});/g, (whole, name: string) => characters[name] ?? whole)
    .replace(/&#(?:x([0-9a-f]{1,6})|(\d{1,7}));/gi, characterOf)
    .replace(/\\(?:emph|text(?:bf|it|rm|sc|sf|tt)?|math(?:bf|it|rm)|underline)\{([^{}]{1,2000})\}/g, "$1")
    .replace(/\\text(?=(?:less|greater)(?![a-zA-Z]))/g, "\\")
    .replace(/\\([a-zA-Z]{2,12})(?![a-zA-Z])/g, (command, name: string) => bareSigns[name] ?? signs[name] ?? command)
    .replace(/(?<=[µμ]) (?=[gmlLMsA](?!\p{L}))/gu, "")
    .replace(/\[([^[\]]{1,80})\]\((?:https?:|#)[^()\s]{1,300}\)/g, "$1")
    .replace(highlight, "$1")
    .replace(/\((sic[!.]?)\)/gi, "[$1]")
    .replace(/\\([%&_#])/g, "$1")
    .replace(/\$(\p{Nd}{1,12}(?:\.\p{Nd}{1,12})?)\$/gu, "$1");
/** A mark that hugs the words that it stresses: "3 == 3 == x" is a formula. */
const highlight = /(?<![=<>!])==(?=[^\s=])([^=\n]{0,200}[^\s=])==(?!=)/g;
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
  times: "×",
  micro: "µ",
  deg: "°",
  middot: "·",
  hellip: "…",
  alpha: "α",
  beta: "β",
  gamma: "γ",
  delta: "δ",
  Delta: "Δ",
  kappa: "κ",
  lambda: "λ",
  mu: "μ",
  sigma: "σ",
  chi: "χ",
  omega: "ω",
  ne: "≠",
  asymp: "≈",
  ldquo: "“",
  rdquo: "”",
  lsquo: "‘",
  rsquo: "’",
  bdquo: "„",
  laquo: "«",
  raquo: "»",
  thinsp: " ",
  shy: "",
};
/** TeX's names of signs outside of formulas. */
const bareSigns: Readonly<Record<string, string>> = { less: "<", greater: ">" };

/** The character that a numeric entity stands for. */
function characterOf(whole: string, hex: string | undefined, decimal: string | undefined): string {
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  return code >= 0x20 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : whole;
}

/** Before a quote in notes: the mark of a list, "1)", "(a)", its page. A dash before a number may be a minus. */
const openings =
  /^(?:[-–—•*>]\s{1,3}(?=["“„«‘'\p{L}])|[.,;:]\s{1,3}|(?:\((?:\p{Nd}{1,2}|[a-z])\)|(?:\p{Nd}{1,2}|[a-z])[.)])\s{1,3}(?=\p{Lu}[\p{L} .'’])|[([]?(?:pp?|S)\.\s?\p{Nd}{1,5}[)\]]?:?\s{1,3}(?=\p{L}))/u;

/** Whether one pair of brackets stands around the whole of a quote. */
function isBracketed(quote: string, open: string, close: string): boolean {
  if (!quote.startsWith(open) || !quote.endsWith(close)) return false;
  let depth = 0;
  for (let at = 0; at < quote.length - 1; at += 1) {
    if (quote[at] === open) depth += 1;
    else if (quote[at] === close) depth -= 1;
    if (depth === 0) return false;
  }
  return depth === 1;
}

/** A quote without such marks, and without the brackets around the whole of it. */
function withoutOpening(quote: string): string {
  const opened = quote.slice(openings.exec(quote)?.[0].length ?? 0);
  return isBracketed(opened, "(", ")") || isBracketed(opened, "[", "]") ? opened.slice(1, -1) : opened;
}

const who = "\\p{Lu}[\\p{L}'’-]{1,30}(?: et al\\.?| (?:and|&) \\p{Lu}[\\p{L}'’-]{1,30})?";
const year = "(?:19|20)\\p{Nd}{2}[a-z]?";
const stress = "[([](?:emphasis (?:added|mine|ours)|my emphasis|our emphasis)[)\\]]";
const sources = [
  `\\s{0,2}[([]${who},? ${year}[)\\]]`,
  `\\s{0,2}\\(${who},? ${year}(?:: ?|, (?:pp?\\. ?|S\\. ?))\\p{Nd}{1,5}(?:[-–]\\p{Nd}{1,5})?\\)`,
  ` [—–-] ?${who},? \\(?${year}\\)?`,
  " [—–-] ?\\p{Lu}[\\p{L}'’-]{1,30} et al\\.?",
  `\\s{0,2}${stress}`,
];
const source = new RegExp(`(?:${sources.join("|")})\\s?\\.?$`, "u");

/**
 * A quote without its number in a list of quotes, and without who wrote it and who stressed it behind it. A work that
 * the text cites itself stays: it has to be that one.
 */
function withoutSource(quote: string, text: string): string {
  const listed = quote.replace(/^(?:\(\p{Nd}{1,2}\)|\p{Nd}{1,2}[.)])\s{1,3}(?=\p{Lu}[\p{Ll} .'’])/u, "");
  const tail = listed.slice(-120);
  const [named = ""] = source.exec(tail) ?? [];
  const [name = ""] = /\p{Lu}[\p{L}’'-]{1,30}/u.exec(named) ?? [];
  const isCited = name !== "" && new RegExp(`${name}[^()\\n]{0,40}(?:19|20)\\d\\d`, "u").test(text);
  return isCited ? listed : listed.slice(0, listed.length - named.length);
}

const page =
  /(?:\s{0,3}[([]\s{0,2}(?:\p{Lu}[^()[\]\p{Nd}]{1,30},\s)?|\s{0,3},\s)(?:see )?(?:pp?\.|pp?(?=\p{Nd}{1,5}[)\]])|pages?|§|sect?(?:ion|\.)|para\.|lines?)\s{0,2}\p{Nd}{1,5}(?:\.\p{Nd}{1,2})?(?:(?:\s{0,2}[-–,]\s{0,2}| of )\p{Nd}{1,5})?\s{0,2}[)\]]?\s{0,2}\.?$/iu;
/** The section that a quote is from, the page behind a dash or nothing, and what marks that it was cut. */
const place =
  /\s{1,3}(?:[([](?:abstract|introduction|background|methods?|materials and methods|results?|discussion|conclusions?|appendix|supplement|cont\.|truncated)(?: section)?[)\]]|(?:[-–—|] )?pp?\. ?\p{Nd}{1,5}|\/\/|[-–—])\s{0,2}\.?$/iu;

/**
 * "it worked (p. 3)." and "it worked." for "it worked, and so on"; "it worked [3" for "it worked [3, 4]". A point
 * between digits is not a stop.
 */
function withoutClosing(quote: string): string {
  const paged = (page.exec(quote.slice(-60)) ?? place.exec(quote.slice(-60)))?.[0].length ?? 0;
  const tail = quote.slice(0, quote.length - paged).slice(-60);
  const stop = /[\s.,;:!?"'”’»。．…–—]{0,6}$/u.exec(tail)?.[0].length ?? 0;
  const citation = paged + stop === 0 ? undefined : cutCitation.exec(tail.slice(0, tail.length - stop))?.[0];
  return quote.slice(0, quote.length - paged - stop - (citation?.length ?? 0));
}
const cutCitation = /\s{0,2}\[\d{1,3}(?:[,;–\s-]{1,3}\d{1,3}){0,9}$/;
