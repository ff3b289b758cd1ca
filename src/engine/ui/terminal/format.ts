import { oneLine } from "../../lib/sanitise.js";
import { shortDuration } from "../../lib/words.js";
import type { Io } from "../io.js";

/** A progress bar, `width` columns wide. It is full only if everything is done. */
export function progressBar(done: number, total: number, width: number): string {
  const share = total <= 0 ? 0 : Math.min(1, Math.max(0, done / total));
  const fullColumns = Math.floor(share * width);
  return "█".repeat(fullColumns) + "░".repeat(width - fullColumns);
}

const zeroWidthPattern = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
const widePattern =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]$/u;

const widthOf = (character: string): number =>
  zeroWidthPattern.test(character) ? 0 : widePattern.test(character) ? 2 : 1;

/** Width of a sanitised text on a terminal, in columns. */
export function textWidth(text: string): number {
  let columns = 0;
  for (const character of text) columns += widthOf(character);
  return columns;
}

/** `text` with at most `columns` columns; ends with an ellipsis if it was cut. */
export function truncate(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let result = "";
  let usedColumns = 0;
  for (const character of text) {
    usedColumns += widthOf(character);
    if (usedColumns > columns - 1) break;
    result += character;
  }
  return columns <= 0 ? "" : `${result.trimEnd()}…`;
}

/** `text` with spaces added at the end, up to `columns` columns. */
export const pad = (text: string, columns: number): string => text + " ".repeat(Math.max(0, columns - textWidth(text)));

/**
 * `text` as lines of at most `columns` columns, broken at spaces. A longer word gets its own line, which is too long. A
 * command of this program in quotes is never broken, because users copy it.
 */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of wordsOf(text)) {
    for (const [index, part] of splitWord(word).entries()) {
      const space = index === 0 ? " " : "";
      if (line !== "" && textWidth(line) + space.length + textWidth(part) > columns) {
        lines.push(line);
        line = part;
      } else {
        line = line === "" ? part : `${line}${space}${part}`;
      }
    }
  }
  return [...lines, line];
}

/** The character that stands for a space at which a line must not be broken. */
const unbreakableSpace = "\ue000";

const wordsOf = (text: string): string[] =>
  text
    .replace(/'research-ralph [^']*'/g, (command) => command.replaceAll(" ", unbreakableSpace))
    .split(" ")
    .map((word) => word.replaceAll(unbreakableSpace, " "));

/** Scripts without spaces between words: a line may end after any character. */
const unspacedScripts = String.raw`\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}`;
const unspacedPattern = new RegExp(`[${unspacedScripts}]`, "u");
/** One character of these scripts with adjacent punctuation, or a sequence of other characters. */
const wordPartPattern = new RegExp(
  String.raw`[\p{Ps}\p{Pi}]*[${unspacedScripts}][\p{M}\p{Pe}\p{Pf}\p{Po}]*|[\p{Ps}\p{Pi}]*[^${unspacedScripts}\p{Ps}\p{Pi}]+|[\p{Ps}\p{Pi}]+`,
  "gu",
);

const splitWord = (word: string): readonly string[] =>
  unspacedPattern.test(word) ? (word.match(wordPartPattern) ?? [word]) : [word];

/**
 * A label and a text as lines of at most `columns` columns; all lines of the text begin in the column after the label.
 * A line that would then be too long, such as a command, begins further left.
 */
export function labelledLines(label: string, text: string, columns: number): string[] {
  const labelWidth = textWidth(label);
  const [firstLine = "", ...otherLines] = wrap(text, Math.max(20, columns - labelWidth));
  const indent = (line: string) => `${" ".repeat(Math.max(0, Math.min(labelWidth, columns - textWidth(line))))}${line}`;
  return [`${label}${firstLine}`, ...otherLines.map(indent)];
}

/** Returns a function that breaks a text into lines of at most `columns` columns, each of them indented. */
export const lineBreaker =
  (columns: number) =>
  (text: string, indent = ""): string[] =>
    wrap(oneLine(text), columns - indent.length).map((line) => indent + line);

/** The lines of one entry of `status`: its label and its text. */
export const statusLines = (label: string, text: string, columns: number): string[] =>
  labelledLines(`  ${label.padEnd(10)} `, text, columns - 1);

/** Breaks a message into lines if stderr is a terminal; in a log it stays one line. */
export const wrapForTerminal = (
  message: string,
  { isTTY, columns }: { readonly isTTY: boolean; readonly columns: number },
): string => (isTTY ? wrap(message, columns - 1).join("\n") : message);

/** Whether lines on stderr can be repainted. */
export const canRepaint = ({ isTTY, isDumb = false }: Pick<Io, "isTTY" | "isDumb">): boolean => isTTY && !isDumb;

/** Writes a sentence to stdout: broken between words on a terminal, one line in a pipe. */
export function print(io: Pick<Io, "stdout" | "tableWidth">, sentence: string): void {
  io.stdout(`${wrap(sentence, io.tableWidth - 1).join("\n")}\n`);
}

/** Writes a sentence with an optional label to stderr: broken into lines on a terminal, one line in a log. */
export function say(io: Pick<Io, "stderr" | "isTTY" | "columns">, sentence: string, label = ""): void {
  const text = oneLine(sentence);
  const lines = io.isTTY ? labelledLines(label, text, io.columns - 1) : [`${label}${text}`];
  io.stderr(`${lines.join("\n")}\n`);
}

/** Interval between two lines about the same progress in a log, in milliseconds. */
export const logIntervalMs = 15_000;

/** Minimum number of finished steps from which the remaining time is estimated. */
const minStepsForEstimate = 3;

/** ", about 40s left": the estimated time for the remaining steps; empty if there is no estimate yet. */
export const timeLeftText = (done: number, totalSteps: number, elapsedMs: number): string =>
  done < minStepsForEstimate || done >= totalSteps || elapsedMs < 1000
    ? ""
    : `, about ${shortDuration((elapsedMs / done) * (totalSteps - done))} left`;
