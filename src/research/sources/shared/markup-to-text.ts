import { line } from "../../../engine/lib/json-fields.js";
import { withoutReferences } from "../../../text/entities.js";

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
  for (let round = 0; round < 2 && text.includes("&"); round += 1) text = withoutReferences(text);
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
