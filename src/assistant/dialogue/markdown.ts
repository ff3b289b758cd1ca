import type { Colors } from "picocolors/types.js";
import { pad, textWidth } from "../../engine/ui/terminal/format.js";

/** The terminal on which formatted lines are printed. */
interface Output {
  readonly colors: Colors;
  /** Current width of the terminal. */
  columns(): number;
  write(text: string): void;
}

/** A longer line is printed before its end: an unfinished line is formatted again after each new word. */
const maxLineChars = 8000;
/** Minimum width for text. */
const minColumns = 10;

/**
 * Formats streaming Markdown for a terminal. It prints complete lines, and complete rows of long paragraphs. It knows
 * headings, emphasis, code, lists, quotes, rules, links, and tables, which are printed after their last row. Everything
 * else stays as it is. The text must be sanitised.
 */
export class MarkdownPrinter {
  readonly #output: Output;
  #line = "";
  #isCode = false;
  #tableLines: string[] = [];
  /** The prefix of the next row, if the first rows of a paragraph are printed and others follow. */
  #nextRowPrefix: string | undefined;

  constructor(target: Output) {
    this.#output = target;
  }

  /** Adds a piece of the text. */
  add(text: string): void {
    for (const [index, part] of text.split("\n").entries()) {
      if (index > 0) {
        this.#printLine(this.#line);
        this.#line = "";
      }
      this.#line += part;
      if (this.#line.length <= maxLineChars) continue;
      this.#printLine(this.#line);
      this.#line = "";
    }
    this.#printFullRows();
  }

  /** Prints the rest. */
  end(): void {
    if (this.#line !== "") this.#printLine(this.#line);
    this.#line = "";
    this.#printTable();
    this.#isCode = false;
    this.#nextRowPrefix = undefined;
  }

  #printLine(rawLine: string): void {
    const { colors } = this.#output;
    const line = rawLine.trimEnd();
    if (this.#nextRowPrefix !== undefined) {
      for (const row of wrapRows(line, this.#textColumns(this.#nextRowPrefix)))
        this.#printRow(this.#nextRowPrefix, this.#formatInline(row));
      this.#nextRowPrefix = undefined;
      return;
    }
    if (/^\s*(?:```|~~~)/.test(line)) {
      this.#printTable();
      this.#isCode = !this.#isCode;
      return;
    }
    if (this.#isCode) return this.#printRow("  ", colors.cyan(line));
    if (/^\s*\|.*\|\s*$/.test(line)) return void this.#tableLines.push(line);
    this.#printTable();
    const headingMark = /^#{1,6}(?= )/.exec(line)?.[0];
    if (headingMark !== undefined) {
      const title = line.slice(headingMark.length).trim();
      const format = (row: string) =>
        colors.bold(headingMark === "#" ? colors.underline(this.#formatInline(row)) : this.#formatInline(row));
      for (const row of wrapRows(title, this.#textColumns(""))) this.#printRow("", format(row));
      return;
    }
    if (/^\s*(?:[-*_]\s*){3,}$/.test(line))
      return this.#printRow("", colors.dim("─".repeat(Math.min(40, this.#textColumns("")))));
    const { first: firstPrefix, rest: nextPrefix, text } = this.#prefixesOf(line);
    for (const [index, row] of wrapRows(text, this.#textColumns(firstPrefix)).entries())
      this.#printRow(index === 0 ? firstPrefix : nextPrefix, this.#formatInline(row));
  }

  /** The prefix of the first row of a line, the prefix of its other rows, and its text. */
  #prefixesOf(line: string): { first: string; rest: string; text: string } {
    const { colors } = this.#output;
    const trimmed = line.trimStart();
    const indent = line.slice(0, Math.min(12, line.length - trimmed.length)).replaceAll("\t", "  ");
    const listMark = /^(?:[-*+]|\d{1,9}[.)]|>)(?= )/.exec(trimmed)?.[0];
    if (listMark === undefined) return { first: indent, rest: indent, text: trimmed };
    const text = trimmed.slice(listMark.length).trimStart();
    if (listMark === ">") return { first: colors.dim("│ "), rest: colors.dim("│ "), text };
    const shownMark = /\d/.test(listMark) ? listMark : "•";
    return { first: `${indent}${shownMark} `, rest: `${indent}${" ".repeat(shownMark.length + 1)}`, text };
  }

  /** Prints the rows of an unfinished paragraph that later words can't change. */
  #printFullRows(): void {
    if (this.#isCode || /^\s*(?:[|#`~]|(?:[-*_]\s*){2,}$)/.test(this.#line)) return;
    for (;;) {
      const {
        first: firstPrefix,
        rest: nextPrefix,
        text,
      } = this.#nextRowPrefix === undefined
        ? this.#prefixesOf(this.#line)
        : { first: this.#nextRowPrefix, rest: this.#nextRowPrefix, text: this.#line };
      const [row, ...laterRows] = wrapRows(text, this.#textColumns(firstPrefix));
      // The last two rows may still change: a word becomes longer, or emphasis ends.
      if (row === undefined || laterRows.length < 2 || !hasClosedMarks(row)) return;
      this.#printTable();
      this.#printRow(firstPrefix, this.#formatInline(row));
      this.#nextRowPrefix = nextPrefix;
      this.#line = text.slice(row.length).trimStart();
    }
  }

  #printTable(): void {
    const rows = this.#tableLines.map((line) =>
      line
        .trim()
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    );
    this.#tableLines = [];
    if (rows.length === 0) return;
    const isRule = (cells: readonly string[]) => cells.every((cell) => /^:?-+:?$/.test(cell));
    const widths: number[] = [];
    for (const cells of rows.filter((cells) => !isRule(cells)))
      for (const [index, cell] of cells.entries())
        widths[index] = Math.max(widths[index] ?? 0, textWidth(this.#plainText(cell)));
    const fits = widths.reduce((sum, columnWidth) => sum + columnWidth + 2, 0) <= this.#textColumns("");
    for (const [index, cells] of rows.entries()) {
      if (isRule(cells)) continue;
      const formattedCells = cells.map((cell, column) => {
        const padded = fits
          ? this.#formatInline(cell) + pad("", (widths[column] ?? 0) - textWidth(this.#plainText(cell)))
          : this.#formatInline(cell);
        return index === 0 && rows.length > 1 && isRule(rows[1] ?? []) ? this.#output.colors.bold(padded) : padded;
      });
      this.#printRow("", formattedCells.join(fits ? "  " : this.#output.colors.dim(" · ")).trimEnd());
    }
  }

  #textColumns = (prefix: string): number =>
    Math.max(minColumns, this.#output.columns() - 1 - textWidth(removeColours(prefix)));

  #printRow(prefix: string, text: string): void {
    this.#output.write(`${prefix}${text}\n`);
  }

  /** Formats emphasis, code and links of one row. */
  #formatInline(text: string): string {
    const { colors } = this.#output;
    return text
      .split(/(`{1,3}[^`]{1,500}`{1,3})/)
      .map((part, index) => {
        if (index % 2 === 1) return colors.cyan(part.replaceAll("`", "").trim());
        return part
          .replace(/\[([^\][\n]{1,300})\]\((https?:[^)\s]{1,2000})\)/g, (_, words: string, url: string) =>
            words === url ? url : `${words} ${colors.dim(`(${url})`)}`,
          )
          .replace(/\*\*(?=\S)(.+?)(?<=\S)\*\*/g, (_, words: string) => colors.bold(words))
          .replace(/(?<![\w*])\*(?=[^\s*])([^*\n]+?)(?<=[^\s*])\*(?![\w*])/g, (_, words: string) =>
            colors.italic(words),
          )
          .replace(/(?<![\w_])_(?=[^\s_])([^_\n]+?)(?<=[^\s_])_(?![\w_])/g, (_, words: string) => colors.italic(words));
      })
      .join("");
  }

  #plainText = (text: string): string => removeColours(this.#formatInline(text));
}

// oxlint-disable-next-line no-control-regex -- our own colours
const removeColours = (text: string): string => text.replace(/\u001b\[\d*m/g, "");

/** Whether no emphasis or code continues after the row, so that it can be formatted alone. */
const hasClosedMarks = (row: string): boolean =>
  (row.split("`").length - 1) % 2 === 0 &&
  (row.split("**").length - 1) % 2 === 0 &&
  !/\[[^\][]*(?:\]\([^)[]*)?$/.test(row);

/** Wraps a text into rows at spaces. The rows, joined with spaces, are the text. */
function wrapRows(text: string, columns: number): string[] {
  const rows: string[] = [];
  let row = "";
  for (const word of text.split(" ")) {
    if (row !== "" && textWidth(row) + 1 + textWidth(word) > columns) {
      // Emphasis over two rows can't be formatted, so the row becomes longer.
      if (hasClosedMarks(row) || textWidth(row) > columns * 2) {
        rows.push(row);
        row = word;
        continue;
      }
    }
    row = row === "" ? word : `${row} ${word}`;
  }
  return [...rows, row];
}
