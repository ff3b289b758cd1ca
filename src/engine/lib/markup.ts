import { isClean, sanitise } from "./sanitise.js";

/** A piece of HTML or SVG that is inserted into a page without escaping. */
export class Markup {
  constructor(readonly text: string) {}
}

/** A value in a template: markup is inserted unchanged, other values are escaped, missing values are empty. */
export type Piece = Markup | string | number | false | null | undefined | readonly Piece[];

/**
 * Makes HTML from a template. Every value that is not markup is escaped, and its control, bidirectional and zero-width
 * characters are removed: a title must not close a tag or reorder the page. Attributes must be in quotes.
 */
export function markup(words: TemplateStringsArray, ...values: readonly Piece[]): Markup {
  let text = words[0] ?? "";
  for (let index = 0; index < values.length; index++) text += textOf(values[index]) + (words[index + 1] ?? "");
  return new Markup(text);
}

/** Turns a string of this program, such as a style sheet, into markup. Never use it for text from outside. */
export const trustMarkup = (text: string): Markup => new Markup(text);

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

/** Escapes text for HTML, between tags or in a quoted attribute. Most texts need no change, and the checks are fast. */
export function escapeHtml(text: string): string {
  const cleanText = isClean(text) ? text : sanitise(text);
  return /[&<>"']/.test(cleanText) ? cleanText.replace(/[&<>"']/g, (sign) => entities[sign] ?? "") : cleanText;
}

/** A link if the address is a web address; otherwise only the words. Addresses with `javascript:` are never links. */
export const link = (address: string | null | undefined, words: Piece): Markup =>
  isWebAddress(address) ? markup`<a href="${address}">${words}</a>` : markup`${words}`;

const rightToLeftPattern = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** The attribute `dir="auto"` for a text with right-to-left letters; empty for other texts. */
export const directionAttribute = (text: string): Markup =>
  rightToLeftPattern.test(text) ? markup` dir="auto"` : markup``;

/** Isolates a right-to-left text within a line, so that it does not reorder the text around it. */
export const isolate = (text: string): Piece => (rightToLeftPattern.test(text) ? markup`<bdi>${text}</bdi>` : text);

/** Joins texts to one line with a separator. Right-to-left texts do not reorder the others. */
export function joinIsolated(texts: readonly string[], separator: string): Piece {
  const line = texts.join(separator);
  return rightToLeftPattern.test(line)
    ? texts.map((text, index) => [index === 0 ? "" : separator, isolate(text)])
    : line;
}

/** Whether a text is an http or https address. */
const isWebAddress = (address: string | null | undefined): address is string =>
  /^https?:\/\/[^\s/]/i.test(address ?? "");
