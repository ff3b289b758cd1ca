import { pad, truncate, width } from "./format.js";

/** A column of a table. */
export interface Column {
  readonly head?: string;
  /**
   * It gives way where the table is too wide: cut at its end, or before the date at its end, which tells names of one
   * topic apart.
   */
  readonly cut?: "end" | "before-date";
  /** Omitted if the table is too wide; the column with the lowest number is omitted first. */
  readonly drop?: number;
}

/** Minimum width of a column that is cut. */
const minCut = 16;
const gap = 2;

/**
 * Rows as lines of at most `room` columns, with a line of heads where there are any. The column that gives way is cut
 * to 16 columns, then whole columns go; what is left may stick out. The last cell of a row with fewer cells takes what
 * room is left. Cells are sanitised texts.
 */
export function tableLines(columns: readonly Column[], rows: readonly (readonly string[])[], room: number): string[] {
  const naturalWidths = columns.map(({ head = "" }, columnIndex) =>
    Math.max(
      width(head),
      ...rows.filter((row) => row.length === columns.length).map((row) => width(row[columnIndex] ?? "")),
    ),
  );
  const minWidth = ({ cut }: Column, columnIndex: number) => {
    const fullWidth = Math.max(
      naturalWidths[columnIndex] ?? 0,
      ...(columnIndex === 0 ? rows.map(([cell = ""]) => width(cell)) : []),
    );
    return cut === undefined ? fullWidth : Math.min(minCut, fullWidth);
  };
  const totalWidth = (columnIndexes: readonly number[], of: (columnIndex: number) => number) =>
    columnIndexes.reduce((sum, columnIndex) => sum + of(columnIndex) + gap, -gap);
  let columnIndexes = columns.map((_, columnIndex) => columnIndex);
  const droppableColumns = columnIndexes
    .filter((columnIndex) => columns[columnIndex]?.drop !== undefined)
    .sort((a, b) => (columns[a]?.drop ?? 0) - (columns[b]?.drop ?? 0));
  for (const columnIndex of droppableColumns)
    if (totalWidth(columnIndexes, (candidate) => minWidth(columns[candidate] ?? {}, candidate)) > room)
      columnIndexes = columnIndexes.filter((candidate) => candidate !== columnIndex);
  const fixedColumns = columnIndexes.filter((columnIndex) => columns[columnIndex]?.cut === undefined);
  const remainingWidth =
    room - totalWidth(fixedColumns, (columnIndex) => minWidth(columns[columnIndex] ?? {}, columnIndex)) - gap;
  const widths = columns.map((column, columnIndex) => {
    const fullWidth = Math.max(
      naturalWidths[columnIndex] ?? 0,
      ...(columnIndex === 0 ? rows.map(([cell = ""]) => width(cell)) : []),
    );
    return column.cut === undefined
      ? fullWidth
      : Math.max(Math.min(minCut, fullWidth), Math.min(fullWidth, remainingWidth));
  });
  const line = (cells: readonly string[]) => {
    const isWhole = cells.length === columns.length;
    const visibleColumns = isWhole ? columnIndexes : cells.map((_, columnIndex) => columnIndex);
    const texts = visibleColumns.map((columnIndex, position) => {
      const [cell, maxWidth] = [cells[columnIndex] ?? "", widths[columnIndex] ?? 0];
      if (!isWhole && position === visibleColumns.length - 1) return cell;
      return pad(
        columns[columnIndex]?.cut === "before-date" ? withDate(cell, maxWidth) : truncate(cell, maxWidth),
        maxWidth,
      );
    });
    const text = texts.join(" ".repeat(gap)).trimEnd();
    return isWhole ? text : truncate(text, room);
  };
  const heads = columns.map(({ head = "" }) => head);
  return [...(heads.some((head) => head !== "") ? [line(heads)] : []), ...rows.map(line)];
}

function withDate(name: string, columns: number): string {
  if (width(name) <= columns) return name;
  const end = /-\d{4}-\d{2}-\d{2}(-\d+)?$/.exec(name)?.[0] ?? "";
  return `${truncate(name.slice(0, name.length - end.length), columns - width(end))}${end}`;
}
