import { oneLine } from "../../engine/lib/sanitise.js";

/**
 * Text for one cell of a Markdown table: as `inline`, and no bars that would split it. Before ours, a backslash would
 * take its effect away.
 */
export const cell = (value: unknown): string => inline(value).replace(/(?<!\\)\\*\|/g, "\\|");

/** Text on one line, so that nothing in it can pass for a heading or an entry of the page. */
export const flat = (value: unknown): string => oneLine(String(value ?? ""));

/**
 * Text on one line whose angle brackets show as they are. Nothing in it is a link, an image or the definition of one:
 * whose words they are, a reader can't see, so only our own links lead somewhere. Emphasis, code and mathematics stay.
 * None of our backslashes stands behind one that would take its effect away.
 */
export const inline = (value: unknown): string =>
  flat(value)
    .replace(/</g, "&lt;")
    .replace(/!\[/g, "!\\[")
    .replace(/\](?=[(:])/g, "]\\")
    .replace(/(?<!\\)\\*\]$/, "\\]");

/** Text between the brackets of one of our links, in a table too: nothing in it ends them. */
export const linkText = (value: unknown): string =>
  flat(value)
    .replace(/</g, "&lt;")
    .replace(/[\\[\]`|]/g, "\\$&");

/**
 * Marks of lists and quotes, and behind them a heading, a table, a fence or a line that parts sections.
 */
const opening = /^((?:(?:[-+*>]|\d{1,9}[.)]) +|>)*)(?=#{1,6}(?: |$)|\||`{3}|~{3}|=+$|([-*_])(?: ?\2){2,}$)/;

/**
 * As `inline`, for text that begins a line or an entry of a list: none of it starts a heading, a table or a fence.
 */
export const line = (value: unknown): string => inline(value).replace(opening, "$1\\");

/** Marks of headings, lists and quotations at the beginning of a line. */
const mark = /^(?:(?=[#>]|[-+*](?: |$))|(\d{1,9})(?=[.)](?: |$)))/;

/** A line of Markdown whose beginning shows as it is: no heading, list, table or fence. */
export const asText = (markdown: string): string => {
  const marked = markdown.replace(mark, "$1\\");
  return marked === markdown ? markdown.replace(opening, "$1\\") : marked;
};

/** Text over several lines, each paragraph as `line` has it. */
export const block = (value: unknown): string =>
  String(value ?? "")
    .split(/\n\s*\n/)
    .map(line)
    .filter((paragraph) => paragraph !== "")
    .join("\n\n");

/** A report is for people: longer lists end with where the rest stands. */
export const maxListed = 100;

/** Where the rest of a list stands that is longer than `most`; nothing where it is not. */
export const moreThan = (length: number, most = maxListed, word = ""): string[] =>
  length <= most
    ? []
    : [`_${length - most} more${word === "" ? "" : ` ${word}${length - most === 1 ? "" : "s"}`}: see rrd.json._`];

/** Text of a field that old files hold as a string or as a list. */
export const prose = (value: unknown): string =>
  Array.isArray(value) ? value.join(" ") : typeof value === "string" ? value : "";
