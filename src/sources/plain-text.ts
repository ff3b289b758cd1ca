import { line } from "./fields.js";

const named: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  ndash: "–",
  mdash: "—",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  hellip: "…",
  times: "×",
  alpha: "α",
  beta: "β",
  gamma: "γ",
  mu: "μ",
  micro: "µ",
};

/** Mark-up inside a word or sentence: H<sub>2</sub>O has no spaces in it. */
const inline =
  /<\/?(?:jats:|mml:|ns\d:)?(?:i|b|em|strong|italic|bold|su[bp]|u|sc|tt|span|font|a|xref|ext-link|inline-formula|m\w*|scp|roman)(?:\s[^<>]*)?\/?>/gi;

/** Titles and abstracts as text: JATS, HTML and MathML tags and character references out of them, in one line; also where they are escaped twice. */
export function plainText(value: unknown): string | undefined {
  let text = line(value);
  if (text === undefined) return undefined;
  if (text.includes("<")) text = text.replace(inline, "").replace(/<\/?[a-z][^<>]*>/gi, " ");
  for (let round = 0; round < 2 && text.includes("&"); round += 1) text = decoded(text);
  // What was escaped: only tags that are none but mark-up, as "p<q and r>s" is text.
  return line(text.replace(/<\/?(?:jats:)?(?:i|b|em|strong|italic|bold|su[bp]|p|br|title|h\d)\s*\/?>/gi, ""));
}

/** An abstract without the word "Abstract" in front of it. */
export const abstractText = (value: unknown): string | undefined => line(plainText(value)?.replace(/^(?:abstract|summary)\b[\s.:—-]*/i, ""));

/** HTML's and XML's character references as the characters they stand for. */
const decoded = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return named[name] ?? named[name.toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
    return code > 0x10_ff_ff ? "" : String.fromCodePoint(code);
  });
