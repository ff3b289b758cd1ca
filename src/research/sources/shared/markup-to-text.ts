import { line } from "../../../engine/lib/json-fields.js";

const greek =
  "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigmaf sigma tau upsilon phi chi psi omega";
const greekLetters = greek.split(" ").flatMap((name, index): readonly (readonly [string, string])[] => [
  [name, String.fromCodePoint(0x3b1 + index)],
  [`${name[0]?.toUpperCase()}${name.slice(1)}`, String.fromCodePoint(0x391 + index)],
]);
const named: Readonly<Record<string, string>> = {
  ...Object.fromEntries(greekLetters),
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  ensp: " ",
  emsp: " ",
  thinsp: " ",
  shy: "",
  ndash: "–",
  mdash: "—",
  minus: "−",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  laquo: "«",
  raquo: "»",
  hellip: "…",
  bull: "•",
  middot: "·",
  prime: "′",
  times: "×",
  plusmn: "±",
  deg: "°",
  le: "≤",
  ge: "≥",
  ne: "≠",
  asymp: "≈",
  infin: "∞",
  rarr: "→",
  micro: "µ",
  szlig: "ß",
  oslash: "ø",
  Oslash: "Ø",
  aelig: "æ",
  AElig: "Æ",
  oelig: "œ",
  OElig: "Œ",
  lstrok: "ł",
  Lstrok: "Ł",
  inodot: "ı",
  copy: "©",
  reg: "®",
  trade: "™",
};

/** The second halves of names such as `&eacute;`. */
const accents: Readonly<Record<string, string>> = {
  acute: "\u0301",
  grave: "\u0300",
  circ: "\u0302",
  uml: "\u0308",
  tilde: "\u0303",
  cedil: "\u0327",
  ring: "\u030a",
  caron: "\u030c",
};

function character(name: string): string | undefined {
  const [, letter, accent] = /^([a-z])(acute|grave|circ|uml|tilde|cedil|ring|caron)$/i.exec(name) ?? [];
  if (letter !== undefined) return `${letter}${accents[accent ?? ""] ?? ""}`.normalize("NFC");
  return named[name] ?? named[name.toLowerCase()];
}

/** Mark-up inside a word or sentence: H<sub>2</sub>O has no spaces in it. */
const inline =
  /<\/?(?:jats:|mml:|ns\d:)?(?:i|b|em|strong|italic|bold|su[bp]|u|sc|tt|span|font|a|xref|ext-link|inline-formula|m\w*|scp|roman)(?:\s[^<>]*)?\/?>/gi;

/**
 * Titles and abstracts as text: JATS, HTML and MathML tags and character references out of them, in one line; also
 * where they are escaped twice.
 */
export function plainText(value: unknown): string | undefined {
  let text = line(value);
  if (text === undefined) return undefined;
  if (text.includes("<![CDATA[")) text = text.replace(/<!\[CDATA\[|\]\]>/g, "");
  if (text.includes("<")) text = text.replace(inline, "").replace(/<\/?[a-z][^<>]*>/gi, " ");
  for (let round = 0; round < 2 && text.includes("&"); round += 1) text = decoded(text);
  // What was escaped: only tags that are real mark-up, as "p<q and r>s" is text.
  return line(text.replace(/<\/?(?:jats:)?(?:i|b|em|strong|italic|bold|su[bp]|p|br|title|h\d)\s*\/?>/gi, ""));
}

/** An abstract without the word "Abstract" in front of it, which may run into its first word. */
export const abstractText = (value: unknown): string | undefined =>
  line(
    plainText(value)
      ?.replace(/^(?:abstract|summary)\b[\s.:—-]*/i, "")
      .replace(/^(?:Abstract(?=\p{Lu})|ABSTRACT(?=\p{Lu}\p{Ll}))/u, ""),
  );

/** HTML's and XML's character references as the characters they stand for. */
const decoded = (text: string): string =>
  text.replace(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi,
    (whole, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return character(name) ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
      return code > 0x10_ff_ff ? "" : String.fromCodePoint(code);
    },
  );
