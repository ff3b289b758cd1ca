import { stripVTControlCharacters } from "node:util";

/** Control characters but for line feed and tab, and the marks that reorder or hide text (bidirectional overrides, zero widths). */
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const unprintable = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu;

/**
 * Text that came from an agent, a paper or the web, made safe for a terminal: escape sequences would move the cursor,
 * set the title or write to the clipboard. Lines and tabs stay.
 */
export const sanitise = (text: string): string => stripVTControlCharacters(text.replaceAll("\r\n", "\n")).replace(unprintable, "");

/** The same, on one line. */
export const oneLine = (text: string): string => sanitise(text.replaceAll("\r", "\n")).replace(/\s+/gu, " ").trim();
