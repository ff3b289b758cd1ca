import { stripVTControlCharacters } from "node:util";
import { createHash } from "node:crypto";

/**
 * Control characters but for line feed and tab, and the marks that reorder or hide text: bidirectional overrides, zero
 * widths, tags. The two joiners stay: Persian and many others are not spelled without them.
 */
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const unprintable =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

const anyUnprintable = new RegExp(unprintable.source, "u");

/** Whether a text has nothing that `sanitise` takes out. Looking costs a tenth of taking out. */
export const isClean = (text: string): boolean => !anyUnprintable.test(text);

/** Every character at which some program begins a new line. */
const lineEnds = /\r\n|[\r\v\f\u0085\u2028\u2029]/g;

/**
 * Text that came from an agent, a document or the web, made safe for a terminal and for files that people read in one:
 * escape sequences would move the cursor, set the title or write to the clipboard. Lines and tabs stay.
 */
export const sanitise = (text: string): string =>
  stripVTControlCharacters(text.replaceAll("\r\n", "\n")).replace(unprintable, "");

/** The same, on one line. Most texts are so already, and looking costs a tenth. */
export const oneLine = (text: string): string =>
  untidy.test(text) ? sanitise(text.replace(lineEnds, "\n")).replace(/\s+/gu, " ").trim() : text;

/** Anything but printable ASCII with single spaces between its words. */
const untidy = /[^\x20-\x7e]|^ | $| {2}/;

/** A reason to stand behind the name of its source, which it may begin with. */
export const behindName = (name: string, reason: string): string =>
  reason.startsWith(`${name}: `) ? reason.slice(name.length + 2) : reason;

/**
 * Marks a text as data from outside. The mark carries the text's own hash, so no text can close its fence:
 * it would have to contain its own hash.
 */
export function fence(text: string): string {
  const mark = `untrusted-text sha256="${createHash("sha256").update(text).digest("hex").slice(0, 12)}"`;
  return `<${mark}>\n${text}\n</${mark}>`;
}

/**
 * A path as one word of a command that a person may copy: as it is where a shell takes it so, else in double quotes.
 */
export const shellWord = (path: string): string =>
  /^[\w./:@%+=,~-]+$/.test(path) ? path : `"${path.replace(/["\\$`]/g, "\\$&")}"`;
