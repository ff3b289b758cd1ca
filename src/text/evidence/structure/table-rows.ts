import { cellsOf, isRow, type Line, markedHeading, nextLine, pageMark, type Span } from "./sentences.js";

/** Rows that the head of a table has at most. */
const maxHeadRows = 3;
/** Rows that are passed on the way to a table's head, and characters. */
const maxRows = 400;
const maxCharacters = 60_000;
/** Longer lines between two rows name no group of rows, and longer paragraphs above a table are not its caption. */
const maxGroup = 160;
const maxCaption = 600;

/** What a row of a table stands below: its caption, its head and the rows that name its group, a line each. */
export interface AboveRow {
  readonly caption: string;
  readonly head: readonly string[];
  readonly groups: readonly string[];
}

/** What stands above a row; empty where a table has nothing of the kind. */
export function aboveRow(text: string, row: Line): AboveRow {
  const rows = rowsAbove(text, row);
  const wanted = filledIn(row.text);
  const head: Line[] = [];
  for (const line of rows) {
    if (head.length >= maxHeadRows) break;
    head.push(line);
    if (filledIn(line.text) >= wanted - 1) break;
  }
  const body = rows.slice(head.length);
  const top = rows[0] ?? row;
  return {
    caption: captionAbove(text, top),
    head: head.map((line) => flat(line.text)),
    groups: groupsOf(body, row).map((line) => flat(line.text)),
  };
}

/** The lines of the table above a row, the first one first: rows, and lines between them that name a group. */
function rowsAbove(text: string, row: Line): Line[] {
  const rows: Line[] = [];
  for (let line = row; rows.length < maxRows && row.start - line.start < maxCharacters;) {
    const above = nextLine(text, line, -1);
    if (above === undefined) break;
    if (!isTableLine(text, above)) {
      const beyond = nextLine(text, above, -1);
      const isGroup = above.text.length <= maxGroup && !markedHeading.test(above.text) && line.start === above.end + 1;
      if (!isGroup || beyond === undefined || beyond.end + 1 !== above.start || !isTableLine(text, beyond)) break;
    }
    rows.unshift(above);
    line = above;
  }
  return rows;
}

const isTableLine = (text: string, line: Line): boolean => isRow(text, line) || /^\s{0,9}\|/.test(line.text);

const cellTexts = (line: string): string[] => cellsOf(line).map(({ start, end }) => line.slice(start, end).trim());
const filledIn = (line: string): number => cellTexts(line).filter((cell) => cell !== "").length;

/** The nearest line that names a group of rows, and where the row's own first cell is empty the row that fills it. */
function groupsOf(body: readonly Line[], row: Line): Line[] {
  const isGroup = ({ text }: Line) => filledIn(text) === 1;
  const group = body.findLastIndex(isGroup);
  const isUnnamed = (cellTexts(row.text.replace(/^\s{0,9}\|\s/, "| "))[0] ?? "") === "";
  const named = isUnnamed ? body.findLastIndex(({ text }) => (cellTexts(text)[0] ?? "") !== "") : -1;
  return [...new Set([group, named])]
    .filter((at) => at !== -1)
    .sort((a, b) => a - b)
    .map((at) => body[at] as Line);
}

const namesTable =
  /^(?:supplement\p{L}{0,4} |extended data )?(?:table|tab\.|tabelle|tableau|tabla|tabela|tabella|таблица|表|표)/iu;

/** The paragraph above a table that says what it shows: of the two nearest the one that names a table. */
function captionAbove(text: string, top: Line): string {
  const nearest = nextLine(text, top, -1);
  const next = nearest === undefined ? undefined : nextLine(text, nearest, -1);
  const plain = [nearest, next].flatMap((line) =>
    line === undefined ? [] : [flat(line.text.replace(markedHeading, ""))],
  );
  const caption = plain.find((line) => namesTable.test(line)) ?? plain[0] ?? "";
  return caption.length <= maxCaption ? caption : "";
}

const flat = (text: string): string => text.replace(pageMark, " ").replace(/\s+/g, " ").trim();

/** The columns of a row that a stretch of it touches, by their number. */
export function columnsOf(row: string, { start, end }: Span): ReadonlySet<number> {
  const columns = cellsOf(row).flatMap((cell, index) => (cell.start < end && cell.end >= start ? [index] : []));
  return new Set([0, ...columns]);
}

/** A row with these columns alone, `cut` standing for those left out. */
export function inColumns(row: string, columns: ReadonlySet<number>, cut: string): string {
  const shown: string[] = [];
  for (const [index, cell] of cellTexts(row).entries())
    if (columns.has(index)) shown.push(cell);
    else if (shown.at(-1) !== cut) shown.push(cut);
  return shown.join(" | ");
}
