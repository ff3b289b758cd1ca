import { oneLine } from "../../engine/lib/sanitise.js";

/**
 * Text for one cell of a Markdown table: as `inline`, and no bars that would split it. Before ours, a backslash would
 * take its effect away.
 */
export const cell = (value: unknown): string => inline(value).replace(/(?<!\\)\\*\|/g, "\\|");

/** Text on one line, so that nothing in it can pass for a heading or an entry of the page. */
export const flat = (value: unknown): string => oneLine(String(value ?? ""));

/** What begins a link, unless it leads to the web or to an address of mail. */
const otherLink = /\]\((?!\s*(?:https?:\/\/|mailto:))/gi;

/**
 * Text on one line whose angle brackets show as they are. No image is fetched for it, and no link leads where a script
 * or a file may be; emphasis, code, mathematics and links to the web stay. None of our backslashes stands behind one
 * that would take its effect away.
 */
export const inline = (value: unknown): string =>
  flat(value).replace(/</g, "&lt;").replace(/!\[/g, "!\\[").replace(otherLink, "]\\(");

/**
 * Marks of lists and quotes, and behind them a heading, a table, a fence, the definition of a link or a line that parts
 * sections.
 */
const opening =
  /^((?:(?:[-+*>]|\d{1,9}[.)]) +|>)*)(?=#{1,6}(?: |$)|\||`{3}|~{3}|\[(?:\\.|[^\]\\])*\]:|=+$|([-*_])(?: ?\2){2,}$)/;

/**
 * As `inline`, for text that begins a line or an entry of a list: none of it starts a heading, a table, a fence or a
 * definition.
 */
export const line = (value: unknown): string => inline(value).replace(opening, "$1\\");

/** Marks of headings, lists and quotations at the beginning of a line. */
const mark = /^(?:(?=[#>]|[-+*](?: |$))|(\d{1,9})(?=[.)](?: |$)))/;

/** A line of Markdown whose beginning shows as it is: no heading, list, table or fence. */
export const asText = (markdown: string): string => {
  const marked = markdown.replace(mark, "$1\\");
  return marked === markdown ? markdown.replace(opening, "$1\\") : marked;
};

/** Markdown without the links that its text would make. */
export const unlinked = (markdown: string): string => markdown.replaceAll("](", "]\\(");

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
