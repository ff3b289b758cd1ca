import { createHash } from "node:crypto";
import { withoutReferences } from "../../entities.js";

/** The beginning of a page or section of a text. */
export interface Mark {
  /** Offset in the text. */
  readonly at: number;
  /** The page or section as a locator: "p. 4" or "§ 3 Method". */
  readonly label: string;
}

/** The text of a document. Agents read it, and quotes are searched in it. */
export interface DocumentText {
  /** Pages begin with a line such as `[p. 4]`, sections with one such as `## 3 Method`. */
  readonly text: string;
  /** The hash of `text`, in hexadecimal. */
  readonly sha256: string;
  /** The pages and sections, in the order of the text. */
  readonly marks: readonly Mark[];
  readonly kind: "pdf" | "html" | "markdown" | "text" | "latex" | "jats";
  /**
   * `partial`: a part of the document is missing or could not be read. `abstract`: only the abstract of the document,
   * such as on a publisher's page.
   */
  readonly depth: "full" | "partial" | "abstract";
  readonly title?: string;
  readonly authors?: readonly string[];
  /** YYYY, YYYY-MM or YYYY-MM-DD. */
  readonly date?: string;
  readonly abstract?: string;
  /** True if the document itself says that it is retracted. */
  readonly retracted?: boolean;
  /** The id in the document's front matter. */
  readonly id?: string;
  readonly doi?: string;
  /** The arXiv id that is printed on the document, with its version. */
  readonly arxiv?: string;
  /** The kind of publication, such as "research article", if the document states it. */
  readonly publicationType?: string;
  /** The address of the licence, if the document states it. */
  readonly license?: string;
  /** How the document was found (`way`), its address, and the ways that were tried before without a better result. */
  readonly origin?: {
    readonly way: string;
    readonly url: string;
    readonly tried?: readonly { readonly way: string; readonly reason: string }[];
  };
  /** Sentences for the user about problems of the text: hidden text that was left out, pages that were not read. */
  readonly warnings: readonly string[];
}

/** The result of reading a document. */
export type ReadResult =
  | { readonly status: "ok"; readonly text: DocumentText }
  | { readonly status: "unreadable"; readonly reason: string };

/** A part of a text. */
export interface Part {
  /** The locator of the page or section that begins with this part. */
  readonly label?: string;
  readonly text: string;
}

/** Properties of a document besides its text. */
type Details = Pick<DocumentText, "kind" | "depth"> & {
  readonly [Name in "title" | "authors" | "date" | "abstract" | "retracted" | "id" | "doi" | "arxiv" | "warnings"]?:
    | DocumentText[Name]
    | undefined;
};

/** Joins parts with an empty line between them. Empty details are left out, and long ones are cut. */
export function buildText(parts: readonly Part[], details: Details): DocumentText {
  const marks: Mark[] = [];
  let text = "";
  let invisibleCount = 0;
  for (const part of parts) {
    const cleaned = cleanText(part.text);
    invisibleCount += cleaned.invisibleCount;
    const partText = cleaned.text.trim();
    if (partText === "") continue;
    if (text !== "") text += "\n\n";
    if (part.label !== undefined) marks.push({ at: text.length, label: part.label });
    text += partText;
  }
  const invisibleWarning =
    invisibleCount >= minInvisible
      ? [`${invisibleCount} invisible characters (Unicode tags or zero-width) were left out of the text.`]
      : [];
  const { title, authors, abstract } = details;
  const cutDetails = {
    ...details,
    title: title === undefined ? undefined : withoutEntities(title).slice(0, 500),
    authors: authors?.slice(0, 300).map((name) => name.slice(0, 200)),
    abstract: abstract?.slice(0, 6000),
  };
  const nonEmptyDetails = Object.fromEntries(
    Object.entries(cutDetails).filter(([, value]) => value !== undefined && value !== ""),
  );
  const sha256 = createHash("sha256").update(text).digest("hex");
  const isRetracted =
    details.retracted === true || /^\W*(retracted|withdrawn)\b(?! (?:and|or) )/i.test(details.title ?? "");
  const warnings = [...(details.warnings ?? []), ...invisibleWarning];
  return {
    ...(nonEmptyDetails as Pick<DocumentText, keyof Details>),
    ...(isRetracted ? { retracted: true } : {}),
    text,
    sha256,
    marks,
    warnings,
  };
}

/** If so many invisible characters were removed, the text gets a warning. */
const minInvisible = 20;

/**
 * A title or name with characters in place of entities, and without the tags that some programs write into it. Entities
 * are decoded twice, because some programs encode them twice ("&amp;amp;").
 */
export function withoutEntities(title: string): string {
  return withoutReferences(withoutReferences(title))
    .replace(/<\/?(?:i|b|em|strong|sub|sup|span|sc|inf)\b[^<>]{0,80}>|\u00ad/gi, "")
    .replace(/\s+/g, " ")
    .trim();
}

/** A special space between the thousands of a number: "12 450" is one number, which a usual space would hide. */
const thousandsSpace = /(?<=\p{Nd})[\u00a0\u2009\u202f](?=\p{Nd}{3}(?!\p{Nd}))/gu;
const anySpaces = new RegExp(`(${thousandsSpace.source})|\\s+`, "gu");
const spacesInLine = new RegExp(`(${thousandsSpace.source})|[^\\S\\n]+`, "gu");
const spaceFor = (_: string, thousands: string | undefined): string => (thousands === undefined ? " " : "\u202f");

/** Makes a space of each white space, line ends too, except the special space between thousands. */
export const collapseSpaces = (text: string): string => text.replace(anySpaces, spaceFor);

/** Removes spaces that are not needed, and all empty lines except one between two paragraphs. */
export const tidyText = (text: string): string =>
  text
    .replace(spacesInLine, spaceFor)
    .replace(/ ?\n ?/g, "\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();

/** The page or section of the character at `offset`. */
export function locatorAt(marks: readonly Mark[], offset: number): string | undefined {
  return marks.findLast((mark) => mark.at <= offset)?.label;
}

/**
 * More combining marks than a letter has in any language; 30 is the limit of Unicode's stream-safe format (UAX 15).
 * Normalising a row of marks takes quadratic time: more than an hour for 300,000.
 */
const tooManyMarks = /(\p{M}{30})\p{M}+/gu;

/**
 * Normalises a text: NFC, line feeds, and no control characters or invisible characters. Invisible tag characters
 * (U+E0000 to U+E007F) could contain sentences that only a model reads.
 * @returns the text, and the number of invisible characters that were removed.
 */
function cleanText(raw: string): { text: string; invisibleCount: number } {
  const withoutControls = raw
    .replace(/\r\n?|[\u2028\u2029\u0085\f\v]/g, "\n")
    .replace(thousandsSpace, "\u202f")
    .replace(/[\t\u00a0\u2000-\u200a\u3000]|(?<!\p{Nd})\u202f|\u202f(?!\p{Nd}{3}(?!\p{Nd}))/gu, " ")
    .replace(/\p{Surrogate}/gu, "\ufffd")
    // eslint-disable-next-line no-control-regex
    .replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, "")
    .replace(tooManyMarks, "$1");
  const text = withoutControls.replace(/[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu, "");
  const trimmed = text
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
  return {
    text: trimmed.replace(/\n{3,}/g, "\n\n").normalize("NFC"),
    invisibleCount: withoutControls.length - text.length,
  };
}

/**
 * Removes each piece of a text that begins with `open` and ends with `close`, or with the text if `close` is missing. A
 * regular expression would take quadratic time for a text with many `open` and no `close`.
 * @returns the remaining text, and the removed pieces without `open` and `close`.
 */
export function extractBetween(text: string, open: string, close: string): { text: string; pieces: string[] } {
  const pieces: string[] = [];
  let remainingText = "";
  let lastEnd = 0;
  for (let start = text.indexOf(open); start !== -1; start = text.indexOf(open, lastEnd)) {
    const end = text.indexOf(close, start + open.length);
    remainingText += text.slice(lastEnd, start);
    pieces.push(text.slice(start + open.length, end === -1 ? undefined : end));
    lastEnd = end === -1 ? text.length : end + close.length;
  }
  return { text: remainingText + text.slice(lastEnd), pieces };
}
