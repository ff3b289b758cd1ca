import type { Colors } from "picocolors/types.js";
import { pad, textWidth } from "../../engine/ui/terminal/format.js";

/** Where set lines go. */
interface Target {
  readonly colors: Colors;
  /** Of the terminal; read anew for each line. */
  columns(): number;
  write(text: string): void;
}

/** Characters of a line that is kept until its end: what is kept is looked at again with each new word. */
const longestLine = 8000;
/** Least width that text is broken to. */
const leastWidth = 10;

/**
 * Sets Markdown for a terminal while it streams: whole lines, and of a long paragraph each row that is full. Headings,
 * emphasis, code, lists, quotes, rules and links; a table once its last row is there. What it does not know stays as it
 * is. The text must be sanitised.
 */
export class MarkdownSetter {
  readonly #target: Target;
  #line = "";
  #isCode = false;
  #table: string[] = [];
  /** The row of a paragraph that goes on: what stands before the next row of it. */
  #hanging: string | undefined;

  constructor(target: Target) {
    this.#target = target;
  }

  /** More of the text, in pieces of any size. */
  add(text: string): void {
    for (const [place, part] of text.split("\n").entries()) {
      if (place > 0) {
        this.#set(this.#line);
        this.#line = "";
      }
      this.#line += part;
      if (this.#line.length <= longestLine) continue;
      this.#set(this.#line);
      this.#line = "";
    }
    this.#setFullRows();
  }

  /** What has not been set so far. */
  end(): void {
    if (this.#line !== "") this.#set(this.#line);
    this.#line = "";
    this.#endTable();
    this.#isCode = false;
    this.#hanging = undefined;
  }

  #set(untrimmed: string): void {
    const { colors } = this.#target;
    const line = untrimmed.trimEnd();
    if (this.#hanging !== undefined) {
      for (const row of broken(line, this.#room(this.#hanging))) this.#row(this.#hanging, this.#inline(row));
      this.#hanging = undefined;
      return;
    }
    if (/^\s*(?:```|~~~)/.test(line)) {
      this.#endTable();
      this.#isCode = !this.#isCode;
      return;
    }
    if (this.#isCode) return this.#row("  ", colors.cyan(line));
    if (/^\s*\|.*\|\s*$/.test(line)) return void this.#table.push(line);
    this.#endTable();
    const marks = /^#{1,6}(?= )/.exec(line)?.[0];
    if (marks !== undefined) {
      const title = line.slice(marks.length).trim();
      const set = (row: string) => colors.bold(marks === "#" ? colors.underline(this.#inline(row)) : this.#inline(row));
      for (const row of broken(title, this.#room(""))) this.#row("", set(row));
      return;
    }
    if (/^\s*(?:[-*_]\s*){3,}$/.test(line)) return this.#row("", colors.dim("─".repeat(Math.min(40, this.#room("")))));
    const { first, rest, text } = this.#layout(line);
    for (const [place, row] of broken(text, this.#room(first)).entries())
      this.#row(place === 0 ? first : rest, this.#inline(row));
  }

  /** What stands before the first row of a line, before its next ones, and its words. */
  #layout(line: string): { first: string; rest: string; text: string } {
    const { colors } = this.#target;
    const trimmed = line.trimStart();
    const indent = line.slice(0, Math.min(12, line.length - trimmed.length)).replaceAll("\t", "  ");
    const mark = /^(?:[-*+]|\d{1,9}[.)]|>)(?= )/.exec(trimmed)?.[0];
    if (mark === undefined) return { first: indent, rest: indent, text: trimmed };
    const text = trimmed.slice(mark.length).trimStart();
    if (mark === ">") return { first: colors.dim("│ "), rest: colors.dim("│ "), text };
    const shown = /\d/.test(mark) ? mark : "•";
    return { first: `${indent}${shown} `, rest: `${indent}${" ".repeat(shown.length + 1)}`, text };
  }

  /** Of an unfinished paragraph, the rows that no later word can change. */
  #setFullRows(): void {
    if (this.#isCode || /^\s*(?:[|#`~]|(?:[-*_]\s*){2,}$)/.test(this.#line)) return;
    for (;;) {
      const { first, rest, text } =
        this.#hanging === undefined
          ? this.#layout(this.#line)
          : { first: this.#hanging, rest: this.#hanging, text: this.#line };
      const [row, ...more] = broken(text, this.#room(first));
      // The last two rows may still change: a word grows, a mark closes.
      if (row === undefined || more.length < 2 || !isClosed(row)) return;
      this.#endTable();
      this.#row(first, this.#inline(row));
      this.#hanging = rest;
      this.#line = text.slice(row.length).trimStart();
    }
  }

  #endTable(): void {
    const rows = this.#table.map((line) =>
      line
        .trim()
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    );
    this.#table = [];
    if (rows.length === 0) return;
    const isRule = (cells: readonly string[]) => cells.every((cell) => /^:?-+:?$/.test(cell));
    const widths: number[] = [];
    for (const cells of rows.filter((each) => !isRule(each)))
      for (const [place, cell] of cells.entries())
        widths[place] = Math.max(widths[place] ?? 0, textWidth(this.#plain(cell)));
    const fits = widths.reduce((sum, each) => sum + each + 2, 0) <= this.#room("");
    for (const [place, cells] of rows.entries()) {
      if (isRule(cells)) continue;
      const set = cells.map((cell, column) => {
        const filled = fits
          ? this.#inline(cell) + pad("", (widths[column] ?? 0) - textWidth(this.#plain(cell)))
          : this.#inline(cell);
        return place === 0 && rows.length > 1 && isRule(rows[1] ?? []) ? this.#target.colors.bold(filled) : filled;
      });
      this.#row("", set.join(fits ? "  " : this.#target.colors.dim(" · ")).trimEnd());
    }
  }

  #room = (before: string): number => Math.max(leastWidth, this.#target.columns() - 1 - textWidth(plainOf(before)));

  #row(before: string, text: string): void {
    this.#target.write(`${before}${text}\n`);
  }

  /** Emphasis, code and links of one row. */
  #inline(text: string): string {
    const { colors } = this.#target;
    return text
      .split(/(`{1,3}[^`]{1,500}`{1,3})/)
      .map((part, place) => {
        if (place % 2 === 1) return colors.cyan(part.replaceAll("`", "").trim());
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

  #plain = (text: string): string => plainOf(this.#inline(text));
}

// oxlint-disable-next-line no-control-regex -- our own colours
const plainOf = (text: string): string => text.replace(/\u001b\[\d*m/g, "");

/** Whether a row can be set without the next one: no emphasis or code reaches over its end. */
const isClosed = (row: string): boolean =>
  (row.split("`").length - 1) % 2 === 0 &&
  (row.split("**").length - 1) % 2 === 0 &&
  !/\[[^\][]*(?:\]\([^)[]*)?$/.test(row);

/** A text in rows that fit, broken at spaces; a longer word is broken too. Joined with spaces they are the text. */
function broken(text: string, columns: number): string[] {
  const rows: string[] = [];
  let row = "";
  for (const word of text.split(" ")) {
    if (row !== "" && textWidth(row) + 1 + textWidth(word) > columns) {
      // Marks that reach over the end of a row would be printed as they are.
      if (isClosed(row) || textWidth(row) > columns * 2) {
        rows.push(row);
        row = word;
        continue;
      }
    }
    row = row === "" ? word : `${row} ${word}`;
  }
  return [...rows, row];
}
