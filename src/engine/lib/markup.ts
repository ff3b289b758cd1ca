import { isClean, sanitise } from "./sanitise.js";

/** A piece of HTML or SVG that may go into a page as it is. */
export class Markup {
  constructor(readonly text: string) {}
}

/** What stands between the words of a template: markup as it is, all else escaped, nothing for what is not there. */
export type Piece = Markup | string | number | false | null | undefined | readonly Piece[];

/**
 * HTML from a template. Every value is escaped unless it is markup already, and loses control, bidirectional and
 * zero-width characters: a title must not be able to close a tag or reorder the page. Attributes are to be quoted.
 */
export function markup(words: TemplateStringsArray, ...values: readonly Piece[]): Markup {
  let text = words[0] ?? "";
  for (let at = 0; at < values.length; at++) text += textOf(values[at]) + (words[at + 1] ?? "");
  return new Markup(text);
}

/** Markup of our own that is in a string, such as a style sheet. Never text from outside. */
export const trusted = (text: string): Markup => new Markup(text);

function textOf(value: Piece): string {
  if (value === undefined || value === null || value === false) return "";
  if (value instanceof Markup) return value.text;
  if (typeof value === "string") return escapeHtml(value);
  if (typeof value === "number") return String(value);
  return value.map(textOf).join("");
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text as it may stand in HTML, between tags or in a quoted attribute. Most needs nothing, and looking is cheap. */
export function escapeHtml(text: string): string {
  const clean = isClean(text) ? text : sanitise(text);
  return /[&<>"']/.test(clean) ? clean.replace(/[&<>"']/g, (sign) => entities[sign] ?? "") : clean;
}

/** A link where the address is one of the web; else the words alone: `javascript:` and `file:` are not links. */
export const link = (address: string | null | undefined, words: Piece): Markup =>
  isWebAddress(address) ? markup`<a href="${address}">${words}</a>` : markup`${words}`;

const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** The attribute with which a browser writes a text from right to left where it begins so; most need none. */
export const direction = (text: string): Markup => (rightToLeft.test(text) ? markup` dir="auto"` : markup``);

/** A text among others of one line: one from right to left must not take its neighbours along. */
export const isolated = (text: string): Piece => (rightToLeft.test(text) ? markup`<bdi>${text}</bdi>` : text);

/** Texts on one line with `between` them, each apart from its neighbours. */
export function inLine(texts: readonly string[], between: string): Piece {
  const line = texts.join(between);
  return rightToLeft.test(line) ? texts.map((text, at) => [at === 0 ? "" : between, isolated(text)]) : line;
}

/** Whether it is an address that a browser may be sent to. */
export const isWebAddress = (address: string | null | undefined): address is string =>
  /^https?:\/\/[^\s/]/i.test(address ?? "");
