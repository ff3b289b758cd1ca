import { pad, truncate, textWidth } from "./format.js";

/** A column of a table. */
export interface Column {
  readonly head?: string;
  /**
   * The column is shortened if the table is too wide: at its end, or, if names would then be alike, before the date at
   * its end. Before the date, as much of each name is kept as distinguishes it from the others.
   */
  readonly cut?: "end" | "before-date";
  /** Omitted if the table is too wide; the column with the lowest number is omitted first. */
  readonly drop?: number;
}

/** Minimum width of a column that is shortened. */
const minCutWidth = 16;
const gap = 2;

/**
 * Rows as lines of at most `maxWidth` columns, with a header line if a column has a header. If the table is too wide,
 * columns are first shortened to 16 columns and then omitted; after that, a line may still be too long. In a row with
 * fewer cells than columns, the last cell may use the rest of the line. Cells must be sanitised texts.
 */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  maxWidth: number,
): string[] {
  const naturalWidths = columns.map(({ head = "" }, columnIndex) =>
    Math.max(
      textWidth(head),
      ...rows.filter((row) => row.length === columns.length).map((row) => textWidth(row[columnIndex] ?? "")),
    ),
  );
  const minWidth = ({ cut }: Column, columnIndex: number) => {
    const fullWidth = Math.max(
      naturalWidths[columnIndex] ?? 0,
      ...(columnIndex === 0 ? rows.map(([cell = ""]) => textWidth(cell)) : []),
    );
    return cut === undefined ? fullWidth : Math.min(minCutWidth, fullWidth);
  };
  const totalWidth = (columnIndexes: readonly number[], widthOfColumn: (columnIndex: number) => number) =>
    columnIndexes.reduce((sum, columnIndex) => sum + widthOfColumn(columnIndex) + gap, -gap);
  let columnIndexes = columns.map((_, columnIndex) => columnIndex);
  const droppableColumns = columnIndexes
    .filter((columnIndex) => columns[columnIndex]?.drop !== undefined)
    .sort((a, b) => (columns[a]?.drop ?? 0) - (columns[b]?.drop ?? 0));
  for (const columnIndex of droppableColumns)
    if (totalWidth(columnIndexes, (candidate) => minWidth(columns[candidate] ?? {}, candidate)) > maxWidth)
      columnIndexes = columnIndexes.filter((candidate) => candidate !== columnIndex);
  const fixedColumns = columnIndexes.filter((columnIndex) => columns[columnIndex]?.cut === undefined);
  const remainingWidth =
    maxWidth - totalWidth(fixedColumns, (columnIndex) => minWidth(columns[columnIndex] ?? {}, columnIndex)) - gap;
  const widths = columns.map((column, columnIndex) => {
    const fullWidth = Math.max(
      naturalWidths[columnIndex] ?? 0,
      ...(columnIndex === 0 ? rows.map(([cell = ""]) => textWidth(cell)) : []),
    );
    return column.cut === undefined
      ? fullWidth
      : Math.max(Math.min(minCutWidth, fullWidth), Math.min(fullWidth, remainingWidth));
  });
  const cutters = columns.map(({ cut }, columnIndex) => {
    const cutWidth = widths[columnIndex] ?? 0;
    return cut === "before-date"
      ? nameCutter(
          rows.map((row) => row[columnIndex] ?? ""),
          cutWidth,
        )
      : (cell: string) => truncate(cell, cutWidth);
  });
  const rowLine = (cells: readonly string[]) => {
    const isFullRow = cells.length === columns.length;
    const visibleColumns = isFullRow ? columnIndexes : cells.map((_, columnIndex) => columnIndex);
    const texts = visibleColumns.map((columnIndex, position) => {
      const [cell, columnWidth] = [cells[columnIndex] ?? "", widths[columnIndex] ?? 0];
      if (!isFullRow && position === visibleColumns.length - 1) return cell;
      return pad(cutters[columnIndex]?.(cell) ?? cell, columnWidth);
    });
    const text = texts.join(" ".repeat(gap)).trimEnd();
    return isFullRow ? text : truncate(text, maxWidth);
  };
  const heads = columns.map(({ head = "" }) => head);
  return [...(heads.some((head) => head !== "") ? [rowLine(heads)] : []), ...rows.map(rowLine)];
}

/** Shortens each of these names to `columns` columns, so that different names stay different where that is possible. */
function nameCutter(names: readonly string[], columns: number): (name: string) => string {
  const withTail = (keptColumns: number) => (name: string) => {
    if (textWidth(name) <= columns) return name;
    const date = /-\d{4}-\d{2}-\d{2}(-\d+)?$/.exec(name)?.[0] ?? "";
    const words = [...name.slice(0, name.length - date.length)];
    const tail = `${words.slice(words.length - keptColumns).join("")}${date}`;
    return `${truncate(words.join(""), columns - textWidth(tail))}${tail}`;
  };
  const distinct = new Set(names).size;
  const atEnd = (name: string) => truncate(name, columns);
  if (distinct > 1 && new Set(names.map(atEnd)).size === distinct) return atEnd;
  for (let keptColumns = 0; keptColumns < columns / 2; keptColumns += 1) {
    const cut = withTail(keptColumns);
    if (new Set(names.map(cut)).size === distinct) return cut;
  }
  return withTail(0);
}
