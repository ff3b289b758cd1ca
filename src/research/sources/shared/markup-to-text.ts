import { lineFrom } from "../../../engine/lib/json-fields.js";
import { withoutReferences } from "../../../text/entities.js";

/** Tags inside a word or sentence. They are removed without a space, so that H<sub>2</sub>O becomes H2O. */
const inlineTags =
  /<\/?(?:jats:|mml:|ns\d:)?(?:i|b|em|strong|italic|bold|su[bp]|u|sc|tt|span|font|a|xref|ext-link|inline-formula|m\w*|scp|roman)(?:\s[^<>]*)?\/?>/gi;

/**
 * The text of a title or abstract on one line: without JATS, HTML and MathML tags and with characters for references,
 * also if the mark-up was escaped twice.
 */
export function plainText(value: unknown): string | undefined {
  let text = lineFrom(value);
  if (text === undefined) return undefined;
  if (text.includes("<![CDATA[")) text = text.replace(/<!\[CDATA\[|\]\]>/g, "");
  if (text.includes("<")) text = text.replace(inlineTags, "").replace(/<\/?[a-z][^<>]*>/gi, " ");
  for (let round = 0; round < 2 && text.includes("&"); round += 1) text = withoutReferences(text);
  // After unescaping, only real tags are removed: "p<q and r>s" is text.
  return lineFrom(text.replace(/<\/?(?:jats:)?(?:i|b|em|strong|italic|bold|su[bp]|p|br|title|h\d)\s*\/?>/gi, ""));
}

/** An abstract without the leading word "Abstract", which may be joined to the next word. */
export const abstractText = (value: unknown): string | undefined =>
  lineFrom(
    plainText(value)
      ?.replace(/^(?:abstract|summary)\b[\s.:—-]*/i, "")
      .replace(/^(?:Abstract(?=\p{Lu})|ABSTRACT(?=\p{Lu}\p{Ll}))/u, ""),
  );
