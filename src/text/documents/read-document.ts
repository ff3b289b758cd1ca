import { decodeText, utf16Of } from "./text/decode.js";
import type { HtmlResult } from "./html/read-html.js";
import { isJats } from "./jats/is-jats.js";
import { isGzip } from "./latex/archive.js";

/** Longer pages are not articles; parsing one takes a hundred times its size in memory. */
const maxPage = 30 * 1024 * 1024;

export interface DocumentHints {
  /** The Content-Type it came with. */
  readonly type?: string;
  /** Its address or file name; the ending helps where the bytes don't tell. */
  readonly name?: string;
  /** Reads only so many pages of a PDF. */
  readonly pages?: number;
  /** Characters of text that a web page must have; by default as many as a page about an article has. */
  readonly leastText?: number;
}

/** Reads a document whatever its format: told by its bytes first, then by its type and its name. */
export async function readDocument(
  bytes: Uint8Array,
  { type = "", name = "", pages, leastText }: DocumentHints,
): Promise<HtmlResult> {
  const head = headOf(bytes);
  // Each reader with its libraries is loaded for the first document of its kind: most processes read one kind alone.
  if (isPdf(head, name)) return (await import("./pdf/read-pdf.js")).readPdf(bytes, { pages });
  const readLatex = async () => (await import("./latex/read-latex.js")).readLatex(bytes);
  if (isGzip(bytes) || isTarNamed(type, name)) return readLatex();
  if (bytes.length > maxPage)
    return {
      status: "unreadable",
      reason: `The document is larger than ${maxPage / 1024 / 1024} MB and is not a PDF.`,
    };
  // Some programs leave single ones behind in a text; a binary file is full of them.
  const isStray = isPlainNamed(type, name) && countOfNul(bytes) <= bytes.length / maxNulShare;
  if (bytes.includes(0) && !isStray && utf16Of(bytes, type) === undefined)
    return { status: "unreadable", reason: "The document is neither a PDF, a web page nor text." };

  const text = decodeText(bytes, type);
  const readJats = async (xml: string) => (await import("./jats/read-jats.js")).readJats(xml);
  if (isJats(text)) return readJats(text);
  const isPlain = isPlainNamed(type, name);
  if (
    !isPlain &&
    (/html/.test(type) ||
      /\.x?html?$/i.test(name) ||
      /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*)?<(?:!doctype html|html|head|body|article|div|p|h1)\b/i.test(text))
  ) {
    const { readHtml } = await import("./html/read-html.js");
    return readHtml(text, /^https?:/.test(name) ? name : undefined, leastText);
  }
  if (!isPlain && /^\s*<\?xml\b/.test(text)) {
    // Archives hand an article out with an envelope around it, or an error in its place.
    const [start, end] = [text.search(/<article[\s>]/), text.lastIndexOf("</article>")];
    if (start === -1 || end < start)
      return { status: "unreadable", reason: "The document is XML and contains no article." };
    return readJats(text.slice(start, end + "</article>".length));
  }
  if (!isPlain && /^[^a-z]{0,200}\\document(?:class|style)\b/im.test(text.slice(0, 5000))) return readLatex();
  if (text.trim() === "") return { status: "unreadable", reason: "The document is empty." };
  const { readMarkdown } = await import("./text/markdown.js");
  return { status: "ok", text: readMarkdown(text, /\.txt$/i.test(name) ? "text" : "markdown") };
}

/**
 * Whether a document goes by its name or type to the reader of plain text and Markdown, and no bytes of it say
 * otherwise.
 */
export function isPlainText(bytes: Uint8Array, { type = "", name = "" }: DocumentHints): boolean {
  const head = headOf(bytes);
  return (
    isPlainNamed(type, name) &&
    !isPdf(head, name) &&
    !isGzip(bytes) &&
    !isTarNamed(type, name) &&
    !isJats(Buffer.from(bytes).toString("latin1"))
  );
}

/** Of so many bytes of a text one may be NUL. */
const maxNulShare = 200;
const countOfNul = (bytes: Uint8Array): number => bytes.reduce((sum, byte) => sum + (byte === 0 ? 1 : 0), 0);

const headOf = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(0, 1024)).toString("latin1");
const isPdf = (head: string, name: string): boolean =>
  head.includes("%PDF-") || (/\.pdf$/i.test(name) && !/<html|<!doctype/i.test(head));
const isPlainNamed = (type: string, name: string): boolean =>
  /\.(?:md|markdown|txt)$/i.test(name) || /^text\/(?:plain|markdown|x-markdown)/.test(type);
const isTarNamed = (type: string, name: string): boolean => /\bx-(?:eprint-)?tar\b/.test(type) || /\.tar$/i.test(name);
