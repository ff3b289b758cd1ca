import { signs } from "../../documents/latex/symbols.js";
import { withoutReferences } from "../../entities.js";
import { withPlainFormulas } from "./formulas.js";
import { asRow } from "./rows.js";

const quotationMarks = new Set("\"'“”‘’‚„‟‹›«»`「」『』《》⟪⟫〝〞〟❛❜❝❞");
const isTrimmed = (char: string | undefined) => char !== undefined && (quotationMarks.has(char) || /\s/.test(char));

/** Direction marks and joiners, which may be copied too. A soft hyphen within a word is handled by the normalizer. */
const invisibleCharacter =
  /[\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]|(?<!\p{L})\u00ad|\u00ad(?![\s\p{L}])/gu;

/** Removes the quotation marks that models add around a quote. */
export function trimQuotationMarks(quote: string): string {
  let [start, end] = [0, quote.length];
  while (start < end && isTrimmed(quote[start])) start += 1;
  while (end > start && isTrimmed(quote[end - 1])) end -= 1;
  return quote.slice(start, end);
}

/**
 * The variants of a quote, the strictest first: as written; without markup, list number and source; without the
 * punctuation or page after a cut; without inserted words in brackets.
 */
export function variantsOf(quote: string, text: string): string[] {
  const asWritten = trimQuotationMarks(quote.replace(invisibleCharacter, ""));
  const unmarked = trimQuotationMarks(asRow(withoutOpening(trimQuotationMarks(withoutMarkup(asWritten))), text));
  const sourceless = withoutSource(unmarked, text);
  // If one formula is too complex, the others are still converted, like in the text.
  const variants = [
    asWritten,
    withPlainFormulas(asWritten),
    unmarked,
    sourceless,
    withoutClosing(sourceless),
    withoutClosing(unmarked),
  ];
  return [...new Set(variants.flatMap((each) => [each, withoutInsertions(each)]))].filter((each) => each !== "");
}

const wordsInBrackets = /(?<=(\p{L}?))(\s?)\[([^[\]]{1,200})\](?=(\p{L}?))/gu;

/**
 * "[t]he hand [of the authors] reached" becomes "the hand reached": words in square brackets are not the paper's.
 * Numbers in brackets are: "[54 % against 27 %]", "[12]".
 */
const withoutInsertions = (quote: string): string =>
  quote.replace(wordsInBrackets, (whole, last: string, space: string, words: string, next: string) => {
    if (/^\p{L}{1,3}$/u.test(words) && (next !== "" || (last !== "" && space === ""))) return space + words;
    return /\p{L}/u.test(words) && !/\p{N}/u.test(words) && next === "" ? "" : whole;
  });

/** Removes markup that was copied from the source of a page or paper. */
const withoutMarkup = (quote: string): string =>
  withoutReferences(
    withPlainFormulas(quote.replace(/\\\(([^()$\\]{0,80}(?:\\[a-zA-Z]{2,12}[^()$\\]{0,40}){0,3})\\\)/g, "$$$1$"))
      .replace(/^(\*\*|__|[*_`])(?=[^\s*_`])(.{1,2000}[^\s*_`])\1$/su, "$2")
      .replace(/<sup>([^<>]{1,20})<\/sup>/gi, "^{$1}")
      .replace(/<sub>([^<>]{1,20})<\/sub>/gi, "_{$1}")
      .replace(/<\/?(?:b|i|em|strong|u|mark|span|a|q|cite|code|small|font)(?:\s[^<>=]{1,40}=[^<>]{0,300})?>/gi, "")
      .replace(
        /<(?:br|p|div|blockquote|li|td|th|tr)(?:\s[^<>=]{1,40}=[^<>]{0,300})? ?\/?>|<\/(?:p|div|blockquote|li|td|th|tr)>/gi,
        " ",
      ),
  )
    .replace(/\\(?:emph|text(?:bf|it|rm|sc|sf|tt)?|math(?:bf|it|rm)|underline)\{([^{}]{1,2000})\}/g, "$1")
    .replace(/\\text(?=(?:less|greater)(?![a-zA-Z]))/g, "\\")
    .replace(/\\([a-zA-Z]{2,12})(?![a-zA-Z])/g, (command, name: string) => textSigns[name] ?? signs[name] ?? command)
    .replace(/(?<=[µμ]) (?=[gmlLMsA](?!\p{L}))/gu, "")
    .replace(/\[([^[\]]{1,80})\]\((?:https?:|#)[^()\s]{1,300}\)/g, "$1")
    .replace(highlight, "$1")
    .replace(/\((sic[!.]?)\)/gi, "[$1]")
    .replace(/\\([%&_#])/g, "$1")
    .replace(/\$(\p{Nd}{1,12}(?:\.\p{Nd}{1,12})?)\$/gu, "$1");
/** A highlight mark directly at the words. "3 == 3 == x" is a formula. */
const highlight = /(?<![=<>!])==(?=[^\s=])([^=\n]{0,200}[^\s=])==(?!=)/g;
/** Names of signs in TeX that are used outside of formulas. */
const textSigns: Readonly<Record<string, string>> = { less: "<", greater: ">" };

/** Marks before a quote in notes: a list mark, "1)", "(a)", a page. A dash before a number may be a minus sign. */
const openings =
  /^(?:[-–—•*>]\s{1,3}(?=["“„«‘'\p{L}])|[.,;:]\s{1,3}|(?:\((?:\p{Nd}{1,2}|[a-z])\)|(?:\p{Nd}{1,2}|[a-z])[.)])\s{1,3}(?=\p{Lu}[\p{L} .'’])|[([]?(?:pp?|S)\.\s?\p{Nd}{1,5}[)\]]?:?\s{1,3}(?=\p{L}))/u;

/** Whether one pair of brackets encloses the complete quote. */
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

/** Removes the marks before a quote, and brackets around it. */
function withoutOpening(quote: string): string {
  const content = quote.slice(openings.exec(quote)?.[0].length ?? 0);
  return isBracketed(content, "(", ")") || isBracketed(content, "[", "]") ? content.slice(1, -1) : content;
}

const authorPattern = "\\p{Lu}[\\p{L}'’-]{1,30}(?: et al\\.?| (?:and|&) \\p{Lu}[\\p{L}'’-]{1,30})?";
const year = "(?:19|20)\\p{Nd}{2}[a-z]?";
const emphasisPattern = "[([](?:emphasis (?:added|mine|ours)|my emphasis|our emphasis)[)\\]]";
const sources = [
  `\\s{0,2}[([]${authorPattern},? ${year}[)\\]]`,
  `\\s{0,2}\\(${authorPattern},? ${year}(?:: ?|, (?:pp?\\. ?|S\\. ?))\\p{Nd}{1,5}(?:[-–]\\p{Nd}{1,5})?\\)`,
  ` [—–-] ?${authorPattern},? \\(?${year}\\)?`,
  " [—–-] ?\\p{Lu}[\\p{L}'’-]{1,30} et al\\.?",
  `\\s{0,2}${emphasisPattern}`,
];
const sourceAtEnd = new RegExp(`(?:${sources.join("|")})\\s?\\.?$`, "u");

/**
 * A quote without its list number, its source and notes on emphasis at the end. The source stays if the text itself
 * cites that work.
 */
function withoutSource(quote: string, text: string): string {
  const withoutNumber = quote.replace(/^(?:\(\p{Nd}{1,2}\)|\p{Nd}{1,2}[.)])\s{1,3}(?=\p{Lu}[\p{Ll} .'’])/u, "");
  const tail = withoutNumber.slice(-120);
  const [sourceText = ""] = sourceAtEnd.exec(tail) ?? [];
  const [name = ""] = /\p{Lu}[\p{L}’'-]{1,30}/u.exec(sourceText) ?? [];
  const isCited = name !== "" && new RegExp(`${name}[^()\\n]{0,40}(?:19|20)\\d\\d`, "u").test(text);
  return isCited ? withoutNumber : withoutNumber.slice(0, withoutNumber.length - sourceText.length);
}

/** A page, section or line at the end of a quote. */
const pageAtEnd =
  /(?:\s{0,3}[([]\s{0,2}(?:\p{Lu}[^()[\]\p{Nd}]{1,30},\s)?|\s{0,3},\s)(?:see )?(?:pp?\.|pp?(?=\p{Nd}{1,5}[)\]])|pages?|§|sect?(?:ion|\.)|para\.|lines?)\s{0,2}\p{Nd}{1,5}(?:\.\p{Nd}{1,2})?(?:(?:\s{0,2}[-–,]\s{0,2}| of )\p{Nd}{1,5})?\s{0,2}[)\]]?\s{0,2}\.?$/iu;
/** The name of a section, a page after a dash or space, or the mark of a cut, at the end of a quote. */
const placeAtEnd =
  /\s{1,3}(?:[([](?:abstract|introduction|background|methods?|materials and methods|results?|discussion|conclusions?|appendix|supplement|cont\.|truncated)(?: section)?[)\]]|(?:[-–—|] )?pp?\. ?\p{Nd}{1,5}|\/\/|[-–—])\s{0,2}\.?$/iu;

/**
 * Removes a page, a section, punctuation and a cut citation at the end of a quote: "it worked (p. 3)." and "it worked
 * [3" become "it worked", so that the text may continue differently. A point between digits is not punctuation.
 */
function withoutClosing(quote: string): string {
  const pageLength = (pageAtEnd.exec(quote.slice(-60)) ?? placeAtEnd.exec(quote.slice(-60)))?.[0].length ?? 0;
  const tail = quote.slice(0, quote.length - pageLength).slice(-60);
  const punctuationLength = /[\s.,;:!?"'”’»。．…–—]{0,6}$/u.exec(tail)?.[0].length ?? 0;
  const citation =
    pageLength + punctuationLength === 0
      ? undefined
      : cutCitation.exec(tail.slice(0, tail.length - punctuationLength))?.[0];
  return quote.slice(0, quote.length - pageLength - punctuationLength - (citation?.length ?? 0));
}
/** A citation whose end was cut. */
const cutCitation = /\s{0,2}\[\d{1,3}(?:[,;–\s-]{1,3}\d{1,3}){0,9}$/;
