import { signs } from "../../../engine/documents/latex/symbols.js";
import { inSigns } from "./formulas.js";
import { namedPronouns, namesSomething, withoutInsertions, type Insertion } from "./insertions.js";
import { asRow } from "./rows.js";
import { isUnit } from "../units.js";

/** A way to read a quote, and what the text must bear out for it. */
export interface Variant {
  readonly quote: string;
  /** The quote says "°" where the text says "0": the text's sentence must speak of an angle. */
  readonly needsAngle?: true;
  /** Behind it the quote names its source: the text may not name another there. */
  readonly hasSource?: true;
  /** What was set into the quote in brackets: the place must bear it out. */
  readonly insertions?: readonly Insertion[];
  /** The pronoun in the place of which the insertion stands. */
  readonly replaces?: string;
}

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
 * without the stop or page that closes a quote cut short;
 * without words set in in brackets; retyped as the text writes its signs and units; with powers and numbers of formulas
 * as a text without ranks has them; with "°" for a raised 0.
 */
export function variantsOf(quote: string, text: string): Variant[] {
  const whole = trimQuotationMarks(quote.replace(unseen, ""));
  const unmarked = trimQuotationMarks(asRow(withoutOpening(trimQuotationMarks(withoutMarkup(whole))), text));
  const bare = withoutSource(unmarked);
  const sourced = bare === unmarked ? {} : ({ hasSource: true } as const);
  const cut = withoutClosing(bare);
  const { quote: plain, insertions } = withoutInsertions(cut, text);
  // Where one formula is more than signs, the others are still read as signs, in the text as here.
  const variants: Variant[] = [whole, inSigns(whole), unmarked].map((each) => ({ quote: each }));
  variants.push(...[bare, cut].map((each) => ({ ...sourced, quote: each })));
  variants.push({ ...sourced, quote: plain, ...(insertions.length === 0 ? {} : { insertions }) });
  // The same with its source, where the text cites the work.
  const cited = bare === unmarked ? undefined : withoutInsertions(withoutClosing(unmarked), text);
  if (cited !== undefined)
    variants.push({ quote: cited.quote, ...(cited.insertions.length === 0 ? {} : { insertions: cited.insertions }) });
  if (insertions.length === 1 && insertions.every(namesSomething))
    for (const replaces of namedPronouns)
      variants.push({ ...sourced, quote: withoutInsertions(cut, text, replaces).quote, insertions, replaces });
  const usual = usualIn(text);
  const retyped = distinct([...variants, ...rewritten(variants, (each) => asTyped(each, text, usual))]);
  const all = distinct([
    ...retyped,
    ...rewritten(retyped, lowered),
    ...rewritten(retyped, onTheLine),
    ...rewritten(retyped, setApart),
  ]);
  if (/\p{Nd}\s?[°º˚]/u.test(plain))
    all.push({
      quote: plain.replace(/(?<=\p{Nd})\s?[°º˚]/gu, "0"),
      needsAngle: true,
      ...(insertions.length === 0 ? {} : { insertions }),
    });
  return all.filter((each) => each.quote !== "");
}

const rewritten = (variants: readonly Variant[], write: (quote: string) => string): Variant[] =>
  variants.map((each) => ({ ...each, quote: write(each.quote) }));

/** The first of those that read alike. */
function distinct(variants: readonly Variant[]): Variant[] {
  const seen = new Set<string>();
  return variants.filter(({ quote }) => !seen.has(quote) && seen.add(quote) !== undefined);
}

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

/** The number that a quote has in a list of quotes, and behind it who wrote it and who stressed it. */
function withoutSource(quote: string): string {
  const listed = quote.replace(/^(?:\(\p{Nd}{1,2}\)|\p{Nd}{1,2}[.)])\s{1,3}(?=\p{Lu}[\p{Ll} .'’])/u, "");
  const tail = listed.slice(-120);
  return listed.slice(0, listed.length - (source.exec(tail)?.[0].length ?? 0));
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

/**
 * What is typed in several ways: where the text has one of the signs, what stands for it in the quote, and how it is
 * written then.
 */
type Typing = readonly [RegExp, RegExp, string];
const typings: readonly Typing[] = [
  [/ \| /, /\s?\|\s?/g, " | "],
  [/≈/, /~/g, "≈"],
  [/±/, /\+[-−–](?![\s\p{Nd}])/gu, "±"],
  [/[≤⩽≦]|<=/, /=<|<\s=/g, "≤"],
  [/[≥⩾≧]|>=/, />\s=/g, "≥"],
  [/=</, /[≤⩽≦]|<=/g, "=<"],
  [/<\s=/, /[≤⩽≦]|<=/g, "< ="],
  [/>\s=/, /[≥⩾≧]|>=/g, "> ="],
  [/″/, /(?<=\p{Nd}\s?)(?:''|’’|["”])/gu, "″"],
  [/′/, /(?<=\p{Nd}\s?)['’](?!\p{L})/gu, "′"],
  [/[µμ]/, /(?<=\p{Nd}\s?)(?:u(?=[glmLsAVWM](?!\p{L}))|mc(?=g(?!\p{L})))/gu, "µ"],
  [/\p{Nd}\s?mcg/u, /(?<=\p{Nd}\s?)[µμ]g(?!\p{L})/gu, "mcg"],
  [/\p{Nd}\s?u[glmLsAVWM](?!\p{L})/u, /(?<=\p{Nd}\s?)[µμ]/gu, "u"],
  [/⁻/, /(?<=(?<!\p{L})\p{L}{1,4})[-−](?=[1-3](?!\p{Nd}))/gu, "⁻"],
  [/(?:)/, /\^\(([-−–]?\p{Nd}{1,4})\)/gu, "^{$1}"],
  [/(?:)/, /(?<=\p{Nd})\*\*(?=[-−\p{Nd}])/gu, "^"],
  [/\bFigs?\./, /\b(?:(Fig)ure|(Fig))(s?)(?= \p{Nd})/gu, "$1$2$3."],
  [/\bFigures? \p{Nd}/u, /\b(Fig)(s?)\.?(?= \p{Nd})/gu, "$1ure$2"],
  // Readers write "Figure 2: Drift"; the page has "Figure 2. Drift" or sets the name on a line of its own.
  [
    /^(?:Fig(?:ure|\.)?|Table|Box|Scheme|Chart|Plate|Algorithm) \p{L}?\p{Nd}{1,3}: /mu,
    /\b(Figure|Fig\.?|Table|Box|Scheme|Chart|Plate|Algorithm) (\p{L}?\p{Nd}{1,3})(?:\s?[.|:–—-]\s{1,3}|\s{1,3}|\.?(?=\(?\p{Lu}\p{L}))(?=\(?\p{Lu})/gu,
    "$1 $2: ",
  ],
  [/\bet al\./, /\bet al(?![.\p{L}])/gu, "et al."],
  [/\bet al(?![.\p{L}])/u, /\bet al\./g, "et al"],
  [/\b(?:e\.g|i\.e)\.,/, /\b(e\.g|i\.e)\.(?!,)/g, "$1.,"],
  [/\b(?:e\.g|i\.e)\.(?!,)/, /\b(e\.g|i\.e)\.,/g, "$1."],
  [/\be\.g\./, /\beg\b/g, "e.g."],
  [/\bi\.e\./, /\bie\b/g, "i.e."],
  [/\bversus\b/, /\bvs\b\.?/g, "versus"],
  [/\bvs\./, /\b(?:versus\b|vs\b\.?)/g, "vs."],
  [/\bvs\b(?!\.)/, /\b(?:versus\b|vs\b\.?)/g, "vs"],
  [/ and /, / & /g, " and "],
  [/\p{Nd}\s?[°º˚]\s?[CF]/u, /(?<=\p{Nd})\s?(?:degrees?|deg\.?)\s([CF])(?:elsius|ahrenheit)?(?!\p{L})/giu, " °$1"],
  [/\p{Nd}\s?[°º˚](?!\s?[CF])/u, /(?<=\p{Nd})[\s-]?degrees?(?!\p{L}|\s(?:celsius|fahrenheit|[CF]\b))/giu, "°"],
  [/\p{Nd}\s?×\s?\p{L}/u, /(?<=\p{Nd} ?)[xX*](?= \p{L})/gu, "×"],
  [/10(?:[⁻⁰-⁹^]|[-−])/, /(?<=\p{Nd})[eE]([-−]?\p{Nd}{1,3})(?![\p{L}\p{Nd}])/gu, " × 10^$1"],
];

/** The typings of one text are looked up once for all its quotes. */
let last: { readonly text: string; readonly usual: readonly Typing[] } | undefined;
function usualIn(text: string): readonly Typing[] {
  if (last?.text !== text) last = { text, usual: typings.filter(([sign]) => sign.test(text)) };
  return last.usual;
}

/** Characters on each side of a sign by which its place is known. */
const nearSign = 12;

/** A quote with a typing, save where the text has the quote's own: a text may have "vs." here and "versus" there. */
const withTyping = (quote: string, text: string, [, pattern, written]: Typing): string =>
  quote.replace(pattern, (whole: string, ...groups: (string | number | undefined)[]) => {
    const at = groups.find((each) => typeof each === "number") as number;
    if (text.includes(quote.slice(Math.max(0, at - nearSign), at + whole.length + nearSign))) return whole;
    return written.replace(/\$(\d)/g, (_, group: string) => String(groups[Number(group) - 1] ?? ""));
  });

/** An accent on its own for a quotation mark or an apostrophe: "´wet´" and "patients´ age", where the text has it. */
const withAccents = (quote: string, text: string): string =>
  !quote.includes("´") && !text.includes("´")
    ? quote
    : quote.replace(/["'‘’“”´]/g, (sign: string, at: number) => {
        const [before = ""] = /[^"'‘’“”´]{0,6}$/.exec(quote.slice(Math.max(0, at - 6), at)) ?? [];
        const [after = ""] = /^[^"'‘’“”´]{0,6}/.exec(quote.slice(at + 1, at + 7)) ?? [];
        if (text.includes(`${before}´${after}`)) return "´";
        return sign === "´" ? "'" : sign;
      });

const asTyped = (quote: string, text: string, usual: readonly Typing[]): string => {
  // Nobody retypes longer ones.
  if (quote.length > maxRetyped) return quote;
  const typed = usual.reduce((so, typing) => withTyping(so, text, typing), withAccents(quote, text));
  return typed.length > maxRetyped ? typed : asNumbered(citationsOnLine(inOtherBrackets(typed, text), text), text);
};

/** Each number of a quote is looked for in the text: of longer quotes, which nobody retypes, none. */
const maxRetyped = 2000;

/** "4500" for "4,500", ".05" for "0.05", "10 to 20" for "10–20", and the other way round, as the text has it. */
function asNumbered(quote: string, text: string): string {
  // A text with "0,05" has commas for points.
  const isGrouped = !/(?<!\p{Nd})0,\p{Nd}/u.test(text);
  const written = (forms: readonly string[], otherwise: string) =>
    forms.find((each) => stands(text, each)) ?? otherwise;
  const inGroups = (number: string, at: number) => {
    // "0800" is a time of the day or a name, whose digits are in no groups.
    if (number.startsWith("0")) return number;
    const isYear = mayBeYear(number, quote.slice(Math.max(0, at - 24), at), quote.slice(at + number.length));
    return written(groupings(number).slice(isYear ? 1 : 0), number);
  };
  return (isGrouped ? quote.replace(wholeNumber, inGroups) : quote)
    .replace(/(?<![\p{Nd}.,]\s?|\p{L})0?\.\p{Nd}{1,9}/gu, (number) =>
      written([number, number.startsWith("0") ? number.slice(1) : `0${number}`], number),
    )
    .replace(
      /(?<![\p{Nd}\p{L}.,])(\p{Nd}[\p{Nd}.,]{0,9}%?) to (?=(\p{Nd}[\p{Nd}.,]{0,9}))/gu,
      (whole, from: string, to: string) =>
        written([whole + to, ...[..."-–−"].map((dash) => `${from}${dash}${to}`)], whole).endsWith(whole + to)
          ? whole
          : `${from}–`,
    )
    .replace(
      /(?<![\p{Nd}\p{L}.,–-])(\p{Nd}[\p{Nd}.,]{0,9}%?)[-–](?=(\p{Nd}[\p{Nd}.,]{0,9}))/gu,
      (whole, from: string, to: string) =>
        stands(text, whole + to) || !stands(text, `${from} to ${to}`) ? whole : `${from} to `,
    );
}
const wholeNumber =
  /(?<![\p{Nd}\p{L}.,]|\p{Nd}[ \u00a0\u2009\u202f])(?:\p{Nd}{4,12}|\p{Nd}{1,3}(?:(?:[, \u00a0\u2009\u202f'’_٬]|\{,\})\p{Nd}{3}){1,3}|\p{Nd}{1,2}(?:,\p{Nd}{2}){1,3},\p{Nd}{3})(?![\p{Nd}]|,\p{Nd})/gu;

/** What stands before a year though things that could be counted follow: "in 2006 patients were". */
const beforeYear =
  /(?:\b(?:in|since|until|till|during|years?|spring|summer|autumn|winter|(?:jan|febr)(?:uary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|(?:nov|dec)(?:ember)?)\.?|[-–—/])\s{0,3}$/iu;
const isThing = (word: string): boolean =>
  /^(?:\p{Ll}{2,19}s|people|men|women|children)$/u.test(word) &&
  !/^(?:was|has|its|this|does|thus|plus|versus|across|whereas|always)$/.test(word);

/**
 * Whether a number in groups would be a year without them: "since 2 006" is not 2006. It is not a year behind a
 * relation or a currency, nor before a unit, nor before things that can be counted.
 */
function mayBeYear(number: string, before: string, after: string): boolean {
  const year = /^[12]\P{Nd}{1,3}\p{Nd}{3}$/u.test(number) ? Number(number.replace(/\P{Nd}/gu, "")) : 0;
  if (year < 1500 || year >= 2100 || /[=<>≤≥±×~≈$€£]\s?$/u.test(before)) return false;
  // "in the late 1 990s"
  if (year % 10 === 0 && /^s(?!\p{L})/u.test(after)) return true;
  const [, word = "", next = ""] = /^\s?(\p{L}{1,20}|[%°])(?:\s(\p{L}{1,20}))?/u.exec(after) ?? [];
  if (isUnit(word) && !/^(?:in|at?|h|per|points?)$/i.test(word)) return false;
  return beforeYear.test(before) || !(isThing(word) || (/^\p{Ll}{1,20}$/u.test(word) && isThing(next)));
}

/** A whole number in the ways in which its thousands are set apart. */
const groupings = (number: string): string[] => {
  const digits = number.replace(/\P{Nd}/gu, "");
  const grouped = ["", ",", " ", "\u00a0", "\u2009", "\u202f", "'", "’", "_", "٬", "{,}"].map((sign) =>
    digits.replace(/(?<=\p{Nd})(?=(?:\p{Nd}{3}){1,9}$)/gu, sign),
  );
  // Lakhs and crores: 12,50,000.
  return [...grouped, digits.replace(/(?<=\p{Nd})(?=(?:\p{Nd}{2}){0,4}\p{Nd}{3}$)/gu, ",")];
};

/** Whether a number stands in a text as one. */
function stands(text: string, number: string): boolean {
  for (let at = text.indexOf(number); at !== -1; at = text.indexOf(number, at + 1))
    if (
      !/\p{Nd}[.,]?$/u.test(text.slice(Math.max(0, at - 2), at)) &&
      !/^(?:\p{Nd}|,\p{Nd})/u.test(text.slice(at + number.length, at + number.length + 2))
    )
      return true;
  return false;
}

/**
 * A citation's number that is raised in the quote and in brackets in the text: "MTCT¹⁴", "(GARS)^9,10". Behind a unit
 * or one letter it would be a power.
 */
const citationsOnLine = (quote: string, text: string): string =>
  quote.replace(
    /(?<=(\p{L}{2,40})|[\])%”"’.,;]|\p{Nd}[.,])(?:([¹²³⁴-⁹][⁰¹²³⁴-⁹]{0,2}(?:[,–⁻-][⁰¹²³⁴-⁹]{1,3}){0,9})|\^\{([1-9]\p{Nd}{0,2}(?:[,–-] ?\p{Nd}{1,3}){0,9})\})|\^\[([1-9]\p{Nd}{0,2}(?:[,–-] ?\p{Nd}{1,3}){0,9})\]/gu,
    (whole, word: string | undefined, raised: string | undefined, inBraces?: string, inBrackets?: string) => {
      const number = raised?.normalize("NFKC").replace("−", "–") ?? inBraces ?? inBrackets;
      const isCited = text.includes(`[${number}]`) && !(word !== undefined && isUnit(word));
      return isCited ? ` [${number}]` : whole;
    },
  );

/** "[12]" for "(12)" and the other way round, where the text has the other. */
const inOtherBrackets = (quote: string, text: string): string =>
  quote.replace(/[[(]([1-9]\p{Nd}{0,2}(?:[\s,;–-]{1,2}[1-9]\p{Nd}{0,2}){0,4})[\])]/gu, (whole, inside: string) => {
    const other = whole.startsWith("[") ? `(${inside})` : `[${inside}]`;
    return text.includes(other) ? other : whole;
  });

/**
 * A text made without ranks has "kg/m2", "s-1", "10-5" and "CO2"; a quote that raises and lowers them says the same.
 */
const onTheLine = (quote: string): string =>
  quote
    .replace(/(?<=(?<!\p{L})(?:[cmkdnµμ]?m|s|R|r|χ|η|I))(?:[²³]|\^\{?[23]\}?)/gu, inPlain)
    .replace(/(?<=(?<!\p{L})(\p{L}{1,4}))(?:⁻[¹²³]|\^\{?[-−][123]\}?)/gu, (power: string, unit: string) =>
      isUnit(unit) ? inPlain(power) : power,
    )
    // "10-5" is not a range: a range goes up.
    .replace(/(?<=(?<![\p{Nd}.,])10)(?:⁻[¹²³⁴-⁹]|\^\{?[-−][1-9]\}?)(?![⁰-⁹\p{Nd}])/gu, inPlain)
    .replace(/(?<=[\p{L}\p{Nd}₀-₉])(?:[²³]?[⁺⁻](?![⁰¹²³⁴-⁹])|\^\{?[23]?[+−-]\}?(?!\p{Nd}))/gu, inPlain)
    .replace(/(?<![\p{L}\p{N}^])(?:[¹²³⁰⁴-⁹]{1,3}ᵐ?|\^\{\p{Nd}{1,3}m?\})(?=\p{Lu}\p{Ll}?(?!\p{L}))/gu, inPlain)
    .replace(formulaNumber, inPlain);
/** Letters set low, which readers of PDFs set apart: "C max" and "x i" for "C_max" and "xᵢ". */
const setApart = (quote: string): string =>
  quote.replace(
    /(?<=\p{L}|′)(?:_\{?(?:[\p{L}\p{Nd}]{1,8}|[\p{L}\p{Nd}],[\p{L}\p{Nd}])\}?|[ᵢ-ᵪₐ-ₜⱼ]{1,6})(?!\p{L})/gu,
    (low) => ` ${inPlain(low)}`,
  );

/** A page keeps powers and sets the numbers of "CO₂" on the line, as its readers do. */
const lowered = (quote: string): string => quote.replace(formulaNumber, inPlain);
const formulaNumber =
  /(?<=\p{Lu}\p{Ll}?|\)|log|ln)(?:[₀-₉]{1,3}(?:\.[₀-₉]{1,2})?|_\{?\p{Nd}{1,3}(?:\.\p{Nd}{1,2})?\}?)|(?<=\p{L})_\{[\p{L}\p{Nd},]{1,8}\}/gu;

const inPlain = (power: string): string => power.normalize("NFKC").replace(/[\^_{}]/g, "");
