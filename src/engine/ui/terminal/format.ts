import { oneLine } from "../../lib/sanitise.js";
import type { Io } from "../io.js";

/** A progress bar of `width` columns. Full only when everything is done. */
export function bar(done: number, total: number, width: number): string {
  const share = total <= 0 ? 0 : Math.min(1, Math.max(0, done / total));
  const full = Math.floor(share * width);
  return "█".repeat(full) + "░".repeat(width - full);
}

const zeroWidthPattern = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
const widePattern =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]$/u;

const widthOf = (character: string): number =>
  zeroWidthPattern.test(character) ? 0 : widePattern.test(character) ? 2 : 1;

/** Columns that a sanitised text takes on a terminal. */
export function width(text: string): number {
  let columns = 0;
  for (const character of text) columns += widthOf(character);
  return columns;
}

/** `text` in at most `columns` columns, ending in an ellipsis where something was cut. */
export function truncate(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  let result = "";
  let usedColumns = 0;
  for (const character of text) {
    usedColumns += widthOf(character);
    if (usedColumns > columns - 1) break;
    result += character;
  }
  return columns <= 0 ? "" : `${result.trimEnd()}…`;
}

/** `text` with spaces behind it up to `columns` columns. */
export const pad = (text: string, columns: number): string => text + " ".repeat(Math.max(0, columns - width(text)));

/** `text` broken at spaces into lines of at most `columns` columns; a longer word stands alone and sticks out. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    for (const [index, part] of splitWord(word).entries()) {
      const space = index === 0 ? " " : "";
      if (line !== "" && width(line) + space.length + width(part) > columns) {
        lines.push(line);
        line = part;
      } else {
        line = line === "" ? part : `${line}${space}${part}`;
      }
    }
  }
  return [...lines, line];
}

/** Scripts without spaces between words, in which a line may end behind any sign. */
const unspacedScripts = String.raw`\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}`;
const unspacedPattern = new RegExp(`[${unspacedScripts}]`, "u");
/** A sign of them with the marks that no line begins or ends with, or a run of others. */
const wordPartPattern = new RegExp(
  String.raw`[\p{Ps}\p{Pi}]*[${unspacedScripts}][\p{M}\p{Pe}\p{Pf}\p{Po}]*|[\p{Ps}\p{Pi}]*[^${unspacedScripts}\p{Ps}\p{Pi}]+|[\p{Ps}\p{Pi}]+`,
  "gu",
);

const splitWord = (word: string): readonly string[] =>
  unspacedPattern.test(word) ? (word.match(wordPartPattern) ?? [word]) : [word];

/** A text behind its label, broken at words into lines of at most `columns` columns that stand below each other. */
export function labelledLines(label: string, text: string, columns: number): string[] {
  const [first = "", ...otherLines] = wrap(text, Math.max(20, columns - width(label)));
  return [`${label}${first}`, ...otherLines.map((line) => `${" ".repeat(width(label))}${line}`)];
}

/** A row of a status: its label, and its text in lines that stand below each other. */
export const statusRow = (label: string, text: string, columns: number): string[] =>
  labelledLines(`  ${label.padEnd(10)} `, text, columns - 1);

/** A message, broken at words for a terminal; a log keeps it on one line. */
export const wrapForTerminal = (
  message: string,
  { isTTY, columns }: { readonly isTTY: boolean; readonly columns: number },
): string => (isTTY ? wrap(message, columns - 1).join("\n") : message);

/** Says a sentence on stderr, behind a label if it has one: broken at words on a terminal, one line in a log. */
export function say(io: Pick<Io, "stderr" | "isTTY" | "columns">, sentence: string, label = ""): void {
  const text = oneLine(sentence);
  const lines = io.isTTY ? labelledLines(label, text, io.columns - 1) : [`${label}${text}`];
  io.stderr(`${lines.join("\n")}\n`);
}
