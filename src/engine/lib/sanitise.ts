import { stripVTControlCharacters } from "node:util";
import { createHash } from "node:crypto";

/**
 * Control characters except line feed and tab, and characters that reorder or hide text: bidirectional overrides,
 * zero-width characters, tags. The two joiners are kept, because Persian and other languages need them.
 */
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const unprintablePattern =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

const anyUnprintablePattern = new RegExp(unprintablePattern.source, "u");

/** Whether a text has no characters that `sanitise` removes. This check is ten times faster than `sanitise`. */
export const isClean = (text: string): boolean => !anyUnprintablePattern.test(text);

/** All characters at which some program starts a new line. */
const lineEnds = /\r\n|[\r\v\f\u0085\u2028\u2029]/g;

/**
 * Makes text from an agent, a document or the web safe for a terminal and for files that are shown in a terminal:
 * escape sequences could move the cursor, set the title or write to the clipboard. Line feeds and tabs stay.
 */
export const sanitise = (text: string): string =>
  stripVTControlCharacters(text.replaceAll("\r\n", "\n")).replace(unprintablePattern, "");

/**
 * Spaces that become one space. A no-break space in a number or before its percent sign stays, so that no line is
 * broken there.
 */
const spacesPattern = /(?!(?<=\d)[\u00a0\u202f][\d%‰])\s+/gu;

/** As `sanitise`, and also joins all lines to one. Most texts need no change; for them only a fast check runs. */
export const oneLine = (text: string): string =>
  uncleanPattern.test(text) ? sanitise(text.replace(lineEnds, "\n")).replace(spacesPattern, " ").trim() : text;

/** Matches a text that is not only printable ASCII with single spaces between words. */
const uncleanPattern = /[^\x20-\x7e]|^ | $| {2}/;

/** A reason without the prefix "<name>: ", for sentences that already contain the name. */
export const withoutSourcePrefix = (name: string, reason: string): string =>
  reason.startsWith(`${name}: `) ? reason.slice(name.length + 2) : reason;

/**
 * Marks a text as data from outside. The marks contain the hash of the text, so a text can't close its own fence: it
 * would have to contain its own hash.
 */
export function fence(text: string): string {
  const mark = `untrusted-text sha256="${createHash("sha256").update(text).digest("hex").slice(0, 12)}"`;
  return `<${mark}>\n${text}\n</${mark}>`;
}

/**
 * A path as one word of a shell command that the user may copy; in double quotes if it needs them.
 */
export const shellWord = (path: string): string =>
  /^[\w./:@%+=,~-]+$/.test(path) ? path : `"${path.replace(/["\\$`]/g, "\\$&")}"`;
