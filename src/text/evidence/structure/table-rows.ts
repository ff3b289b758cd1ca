import { cellsOf, flatten, isRow, type Line, markedHeading, nextLine, type Span } from "./sentences.js";

/** Maximum number of rows in the head of a table. */
const maxHeadRows = 3;
/** Maximum number of rows between a row and the beginning of its table. */
const maxRows = 400;
/** Maximum number of characters between a row and the beginning of its table. */
const maxChars = 60_000;
/** Maximum length of a line between two rows that is the name of a group of rows. */
const maxGroupChars = 160;
/** Maximum length of a caption. */
const maxCaptionChars = 600;

/** The lines of a table that are needed to understand one of its rows. */
export interface RowContext {
  /** The caption of the table; empty if it has none. */
  readonly caption: string;
  readonly head: readonly string[];
  /** The lines that name the group of the row. */
  readonly groups: readonly string[];
}

/** Finds the caption, the head and the group of a row. */
export function rowContext(text: string, row: Line): RowContext {
  const rows = rowsAbove(text, row);
  const cellCount = countFilledCells(row.text);
  const head: Line[] = [];
  for (const line of rows) {
    if (head.length >= maxHeadRows) break;
    head.push(line);
    if (countFilledCells(line.text) >= cellCount - 1) break;
  }
  const body = rows.slice(head.length);
  const firstRow = rows[0] ?? row;
  return {
    caption: captionAbove(text, firstRow),
    head: head.map((line) => flatten(line.text)),
    groups: groupsOf(body, row).map((line) => flatten(line.text)),
  };
}

/** The lines of the table above a row, from the top: rows, and lines between them that name a group. */
function rowsAbove(text: string, row: Line): Line[] {
  const rows: Line[] = [];
  for (let line = row; rows.length < maxRows && row.start - line.start < maxChars;) {
    const above = nextLine(text, line, -1);
    if (above === undefined) break;
    if (!isTableLine(text, above)) {
      const lineAbove = nextLine(text, above, -1);
      const isGroupName =
        above.text.length <= maxGroupChars && !markedHeading.test(above.text) && line.start === above.end + 1;
      const isBelowTable = lineAbove?.end === above.start - 1 && isTableLine(text, lineAbove);
      if (!isGroupName || !isBelowTable) break;
    }
    rows.unshift(above);
    line = above;
  }
  return rows;
}

const isTableLine = (text: string, line: Line): boolean => isRow(text, line) || /^\s{0,9}\|/.test(line.text);

const cellTexts = (line: string): string[] => cellsOf(line).map(({ start, end }) => line.slice(start, end).trim());
const countFilledCells = (line: string): number => cellTexts(line).filter((cell) => cell !== "").length;

/**
 * The last line above a row that names a group of rows. If the first cell of the row is empty, also the last row whose
 * first cell is not.
 */
function groupsOf(body: readonly Line[], row: Line): Line[] {
  const groupLine = body.findLastIndex(({ text }) => countFilledCells(text) === 1);
  const hasEmptyFirstCell = (cellTexts(row.text.replace(/^\s{0,9}\|\s/, "| "))[0] ?? "") === "";
  const rowWithFirstCell = hasEmptyFirstCell ? body.findLastIndex(({ text }) => (cellTexts(text)[0] ?? "") !== "") : -1;
  return [...new Set([groupLine, rowWithFirstCell])]
    .filter((index) => index !== -1)
    .sort((a, b) => a - b)
    .map((index) => body[index] as Line);
}

/** The beginning of a caption: the word for "table" in several languages. */
const captionStart =
  /^(?:supplement\p{L}{0,4} |extended data )?(?:table|tab\.|tabelle|tableau|tabla|tabela|tabella|таблица|表|표)/iu;

/**
 * The caption above a table: of the two lines above it, the first one that begins like a caption, or else the nearest.
 */
function captionAbove(text: string, firstRow: Line): string {
  const nearest = nextLine(text, firstRow, -1);
  const next = nearest === undefined ? undefined : nextLine(text, nearest, -1);
  const lines = [nearest, next].flatMap((line) =>
    line === undefined ? [] : [flatten(line.text.replace(markedHeading, ""))],
  );
  const caption = lines.find((line) => captionStart.test(line)) ?? lines[0] ?? "";
  return caption.length <= maxCaptionChars ? caption : "";
}

/** The indexes of the columns that a part of a row touches, and of the first column. */
export function columnsOf(row: string, { start, end }: Span): ReadonlySet<number> {
  const columns = cellsOf(row).flatMap((cell, index) => (cell.start < end && cell.end >= start ? [index] : []));
  return new Set([0, ...columns]);
}

/** A row with only these columns. `cutMark` replaces the others. */
export function withColumns(row: string, columns: ReadonlySet<number>, cutMark: string): string {
  const cells: string[] = [];
  for (const [index, cell] of cellTexts(row).entries())
    if (columns.has(index)) cells.push(cell);
    else if (cells.at(-1) !== cutMark) cells.push(cutMark);
  return cells.join(" | ");
}
