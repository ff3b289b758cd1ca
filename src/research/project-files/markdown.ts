import { oneLine } from "../../engine/lib/sanitise.js";

/**
 * Text for one cell of a Markdown table: like `inline`, with vertical bars escaped. Backslashes before a bar are
 * removed, because they would undo the escape.
 */
export const cell = (value: unknown): string => inline(value).replace(/(?<!\\)\\*\|/g, "\\|");

/** Text on one line, so that it can't contain a heading or an entry of the page. */
export const onOneLine = (value: unknown): string => oneLine(String(value ?? ""));

/**
 * Text on one line with escaped angle brackets, and without links, images and their definitions: a reader can't see who
 * wrote the text, so only links of this program may work. Emphasis, code and mathematics stay. Backslashes before an
 * added one are removed, because they would undo it.
 */
export const inline = (value: unknown): string =>
  onOneLine(value)
    .replace(/</g, "&lt;")
    .replace(/!\[/g, "!\\[")
    .replace(/\](?=[(:])/g, "]\\")
    .replace(/(?<!\\)\\*\]$/, "\\]");

/** Text for the brackets of a link, also in a table. Characters that would end the link are escaped. */
export const linkText = (value: unknown): string =>
  onOneLine(value)
    .replace(/</g, "&lt;")
    .replace(/[\\[\]`|]/g, "\\$&");

/**
 * Matches marks of lists and quotes that are followed by a heading, a table, a fence or a horizontal line.
 */
const blockStart = /^((?:(?:[-+*>]|\d{1,9}[.)]) +|>)*)(?=#{1,6}(?: |$)|\||`{3}|~{3}|=+$|([-*_])(?: ?\2){2,}$)/;

/**
 * Like `inline`, for text at the beginning of a line or of a list entry: it can't start a heading, a table or a fence.
 */
export const line = (value: unknown): string => inline(value).replace(blockStart, "$1\\");

/** Matches marks of headings, lists and quotations at the beginning of a line. */
const lineMark = /^(?:(?=[#>]|[-+*](?: |$))|(\d{1,9})(?=[.)](?: |$)))/;

/** A line of Markdown whose first characters are escaped: it can't start a heading, a list, a table or a fence. */
export const escapeLineStart = (markdown: string): string => {
  const escaped = markdown.replace(lineMark, "$1\\");
  return escaped === markdown ? markdown.replace(blockStart, "$1\\") : escaped;
};

/** Text of several paragraphs; each one is escaped like `line`. */
export const block = (value: unknown): string =>
  String(value ?? "")
    .split(/\n\s*\n/)
    .map(line)
    .filter((paragraph) => paragraph !== "")
    .join("\n\n");

/** Maximum number of items in a list of a report. A longer list ends with a note about the rest. */
export const maxListItems = 100;

/** A note about the omitted items if a list has more than `maxItems`; otherwise empty. */
export const omittedNote = (length: number, maxItems = maxListItems, itemName = ""): string[] =>
  length <= maxItems
    ? []
    : [
        `_${length - maxItems} more${itemName === "" ? "" : ` ${itemName}${length - maxItems === 1 ? "" : "s"}`}: see rrd.json._`,
      ];

/** The text of a field that old files contain as a string or as a list. */
export const joinTexts = (value: unknown): string =>
  Array.isArray(value) ? value.join(" ") : typeof value === "string" ? value : "";
