import { createHash } from "node:crypto";

/** A page or section of a text begins at offset `at`. */
export interface Mark {
  readonly at: number;
  /** As a locator names it: "p. 4" or "§ 3 Method". */
  readonly label: string;
}

/** The text of a document as agents read it and quotes are looked for. */
export interface DocumentText {
  /** Pages begin with a line such as `[p. 4]`, sections with one such as `## 3 Method`. */
  readonly text: string;
  /** Of `text`, in hexadecimal. */
  readonly sha256: string;
  /** In the order of the text. */
  readonly marks: readonly Mark[];
  readonly kind: "pdf" | "html" | "markdown" | "text" | "latex" | "jats";
  /**
   * `partial`: a document longer than the reader's bounds. `abstract`: a page about the document, such as a
   * publisher's, without its body.
   */
  readonly depth: "full" | "partial" | "abstract";
  readonly title?: string;
  readonly authors?: readonly string[];
  /** YYYY, YYYY-MM or YYYY-MM-DD. */
  readonly date?: string;
  readonly abstract?: string;
  /** Set where the document itself says so. */
  readonly retracted?: boolean;
  /** The id that the document's own front matter gives it. */
  readonly id?: string;
  readonly doi?: string;
  /** The id that arXiv stamped on it, with its version. */
  readonly arxiv?: string;
  /** What kind of publication the document says it is, such as "research article". */
  readonly publicationType?: string;
  /** The address of the licence that the document names. */
  readonly license?: string;
  /** The way that led to it, its address, and the ways that were tried before and gave nothing better. */
  readonly origin?: {
    readonly way: string;
    readonly url: string;
    readonly tried?: readonly { readonly way: string; readonly reason: string }[];
  };
  /** What a person should know of it, in whole sentences: hidden text that was left out, pages that were not read. */
  readonly warnings: readonly string[];
}

/** What a reader of one format makes of a document's bytes. */
export type ReadResult =
  | { readonly status: "ok"; readonly text: DocumentText }
  | { readonly status: "unreadable"; readonly reason: string };

/** A stretch of a text; `label` says that a page or section begins with it. */
export interface Part {
  readonly label?: string;
  readonly text: string;
}

/** What a reader knows of a text besides its parts. */
type Details = Pick<DocumentText, "kind" | "depth"> & {
  readonly [Name in "title" | "authors" | "date" | "abstract" | "retracted" | "id" | "doi" | "arxiv" | "warnings"]?:
    | DocumentText[Name]
    | undefined;
};

/** Joins parts by a blank line, sets the marks and hashes the whole. Empty details are left out, endless ones cut. */
export function buildText(parts: readonly Part[], details: Details): DocumentText {
  const marks: Mark[] = [];
  let text = "";
  let invisible = 0;
  for (const part of parts) {
    const visible = withoutInvisible(part.text);
    invisible += visible.removed;
    const clean = visible.text.trim();
    if (clean === "") continue;
    if (text !== "") text += "\n\n";
    if (part.label !== undefined) marks.push({ at: text.length, label: part.label });
    text += clean;
  }
  const hidden =
    invisible >= 20
      ? [`${invisible} invisible characters (Unicode tags or zero-width) were left out of the text.`]
      : [];
  const { title, authors, abstract } = details;
  const bounded = {
    ...details,
    title: title === undefined ? undefined : withoutEntities(title).slice(0, 500),
    authors: authors?.slice(0, 300).map((name) => name.slice(0, 200)),
    abstract: abstract?.slice(0, 6000),
  };
  const filled = Object.fromEntries(Object.entries(bounded).filter(([, value]) => value !== undefined && value !== ""));
  const sha256 = createHash("sha256").update(text).digest("hex");
  const isRetracted =
    details.retracted === true || /^\W*(retracted|withdrawn)\b(?! (?:and|or) )/i.test(details.title ?? "");
  const warnings = [...(details.warnings ?? []), ...hidden];
  return {
    ...(filled as Pick<DocumentText, keyof Details>),
    ...(isRetracted ? { retracted: true } : {}),
    text,
    sha256,
    marks,
    warnings,
  };
}

/** A title or name without the entities, once or twice over, and the tags that some programs write into it. */
export function withoutEntities(title: string): string {
  const once = (text: string): string =>
    text.replace(
      /&(?:#x([\da-f]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos|nbsp));/gi,
      (all, hex?: string, decimal?: string, name?: string) => {
        if (name !== undefined) return namedEntities[name.toLowerCase()] ?? all;
        const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
        return code > 31 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : "";
      },
    );
  return once(once(title))
    .replace(/<\/?(?:i|b|em|strong|sub|sup|span|sc|inf)\b[^<>]{0,80}>|\u00ad/gi, "")
    .replace(/\s+/g, " ")
    .trim();
}

const namedEntities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };

/** The page or section that the character at `offset` stands in. */
export function locatorAt(marks: readonly Mark[], offset: number): string | undefined {
  return marks.findLast((mark) => mark.at <= offset)?.label;
}

/**
 * More marks on one letter than any language sets: Unicode's own bound for streams (UAX 15). To put a run of marks in
 * order takes quadratic time: a text of 300,000 strokes took over an hour.
 */
const tooManyMarks = /(\p{M}{30})\p{M}+/gu;

/**
 * One form for every text: NFC, line feeds, no control characters, none that nobody sees.
 * Tag characters (U+E0000 on) spell whole sentences that only a model reads.
 */
function withoutInvisible(raw: string): { text: string; removed: number } {
  const plain = raw
    .replace(/\r\n?|[\u2028\u2029\u0085\f\v]/g, "\n")
    .replace(/[\t\u00a0\u2000-\u200a\u202f\u3000]/g, " ")
    .replace(/\p{Surrogate}/gu, "\ufffd")
    // eslint-disable-next-line no-control-regex
    .replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, "")
    .replace(tooManyMarks, "$1");
  const text = plain.replace(/[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu, "");
  const trimmed = text
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
  return { text: trimmed.replace(/\n{3,}/g, "\n\n").normalize("NFC"), removed: plain.length - text.length };
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
