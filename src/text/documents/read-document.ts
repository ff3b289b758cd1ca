import { decodeText, utf16Of } from "./text/decode.js";
import type { HtmlResult } from "./html/read-html.js";
import { isJats } from "./jats/is-jats.js";
import { isGzip } from "./latex/archive.js";

/**
 * Maximum number of bytes of a web page. Longer pages are not articles, and parsing needs a hundred times as much
 * memory.
 */
const maxPageBytes = 30 * 1024 * 1024;

export interface DocumentHints {
  /** The Content-Type of the response. */
  readonly type?: string;
  /** The address or file name. Its extension is used if the content does not show the format. */
  readonly name?: string;
  /** Maximum number of pages of a PDF to read. */
  readonly pages?: number;
  /** Minimum number of characters of a web page; by default as many as a page about an article has. */
  readonly minTextChars?: number;
}

/** Reads a document of any format. The format is determined from the content, then from the type and the name. */
export async function readDocument(
  bytes: Uint8Array,
  { type = "", name = "", pages, minTextChars }: DocumentHints,
): Promise<HtmlResult> {
  const head = headOf(bytes);
  // Readers are loaded on demand: most processes read documents of one format.
  if (isPdf(head, name)) return (await import("./pdf/read-pdf.js")).readPdf(bytes, { pages });
  const readLatex = async () => (await import("./latex/read-latex.js")).readLatex(bytes);
  if (isGzip(bytes) || isTarNamed(type, name)) return readLatex();
  if (bytes.length > maxPageBytes)
    return {
      status: "unreadable",
      reason: `The document is larger than ${maxPageBytes / 1024 / 1024} MB and is not a PDF.`,
    };
  // Some programs leave single NUL bytes in texts, but a binary file contains many.
  const isText = isPlainNamed(type, name) && countOfNul(bytes) <= bytes.length / minBytesPerNul;
  if (bytes.includes(0) && !isText && utf16Of(bytes, type) === undefined)
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
    return readHtml(text, /^https?:/.test(name) ? name : undefined, minTextChars);
  }
  if (!isPlain && /^\s*<\?xml\b/.test(text)) {
    // Archives put an article into other XML elements, or return an error message instead of it.
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

/** Whether the name or type means plain text or Markdown, and the content does not contradict that. */
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

/** A text may contain one NUL byte per this many bytes. */
const minBytesPerNul = 200;
const countOfNul = (bytes: Uint8Array): number => bytes.reduce((sum, byte) => sum + (byte === 0 ? 1 : 0), 0);

const headOf = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(0, 1024)).toString("latin1");
const isPdf = (head: string, name: string): boolean =>
  head.includes("%PDF-") || (/\.pdf$/i.test(name) && !/<html|<!doctype/i.test(head));
const isPlainNamed = (type: string, name: string): boolean =>
  /\.(?:md|markdown|txt)$/i.test(name) || /^text\/(?:plain|markdown|x-markdown)/.test(type);
const isTarNamed = (type: string, name: string): boolean => /\bx-(?:eprint-)?tar\b/.test(type) || /\.tar$/i.test(name);
