import { pad, truncate, textWidth } from "./format.js";

/** A column of a table. */
export interface Column {
  readonly head?: string;
  /**
   * Where texts of the column are cut if the table is too wide; absent: they are never cut. `before-date`: at the end,
   * but before the date at the end of the name if different names would otherwise look equal.
   */
  readonly cut?: "end" | "before-date";
  /** If set, the column is omitted if the table is too wide. The column with the lowest number is omitted first. */
  readonly dropOrder?: number;
}

/** Minimum width of a column that is shortened. */
const minCutWidth = 16;
/** Other columns are omitted before a column is shortened to less. */
const comfortableWidth = 28;
const columnGap = 2;

/**
 * The lines of a table, each at most `maxWidth` columns wide, with a header line if a column has a header. If the table
 * is too wide, columns with `cut` are shortened, to at least 28 columns; if that is not enough, columns with
 * `dropOrder` are omitted, and then columns with `cut` shortened to at least 16; after that, a line may still be too
 * long. In a row with fewer cells than columns, the last cell may use the rest of the line. Cells must be sanitised
 * texts.
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
    return cut === undefined ? fullWidth : Math.min(comfortableWidth, fullWidth);
  };
  const totalWidth = (columnIndexes: readonly number[], widthOfColumn: (columnIndex: number) => number) =>
    columnIndexes.reduce((sum, columnIndex) => sum + widthOfColumn(columnIndex) + columnGap, -columnGap);
  let columnIndexes = columns.map((_, columnIndex) => columnIndex);
  const droppableColumns = columnIndexes
    .filter((columnIndex) => columns[columnIndex]?.dropOrder !== undefined)
    .sort((a, b) => (columns[a]?.dropOrder ?? 0) - (columns[b]?.dropOrder ?? 0));
  for (const columnIndex of droppableColumns)
    if (totalWidth(columnIndexes, (candidate) => minWidth(columns[candidate] ?? {}, candidate)) > maxWidth)
      columnIndexes = columnIndexes.filter((candidate) => candidate !== columnIndex);
  const fixedColumns = columnIndexes.filter((columnIndex) => columns[columnIndex]?.cut === undefined);
  const remainingWidth =
    maxWidth - totalWidth(fixedColumns, (columnIndex) => minWidth(columns[columnIndex] ?? {}, columnIndex)) - columnGap;
  const widths = columns.map((column, columnIndex) => {
    const fullWidth = Math.max(
      naturalWidths[columnIndex] ?? 0,
      ...(columnIndex === 0 ? rows.map(([cell = ""]) => textWidth(cell)) : []),
    );
    return column.cut === undefined
      ? fullWidth
      : Math.max(Math.min(minCutWidth, fullWidth), Math.min(fullWidth, remainingWidth));
  });
  const cellCutters = columns.map(({ cut }, columnIndex) => {
    const cutWidth = widths[columnIndex] ?? 0;
    return cut === "before-date"
      ? createNameCutter(
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
      return pad(cellCutters[columnIndex]?.(cell) ?? cell, columnWidth);
    });
    const text = texts.join(" ".repeat(columnGap)).trimEnd();
    return isFullRow ? text : truncate(text, maxWidth);
  };
  const heads = columns.map(({ head = "" }) => head);
  return [...(heads.some((head) => head !== "") ? [rowLine(heads)] : []), ...rows.map(rowLine)];
}

/**
 * Creates a function that shortens each of these names to `columns` columns. Different names stay different, if that is
 * possible.
 */
function createNameCutter(names: readonly string[], columns: number): (name: string) => string {
  const cutBeforeTail = (tailLength: number) => (name: string) => {
    if (textWidth(name) <= columns) return name;
    const date = /-\d{4}-\d{2}-\d{2}(-\d+)?$/.exec(name)?.[0] ?? "";
    const characters = [...name.slice(0, name.length - date.length)];
    const tail = `${characters.slice(characters.length - tailLength).join("")}${date}`;
    return `${truncate(characters.join(""), columns - textWidth(tail))}${tail}`;
  };
  const distinctCount = new Set(names).size;
  const cutAtEnd = (name: string) => truncate(name, columns);
  if (distinctCount > 1 && new Set(names.map(cutAtEnd)).size === distinctCount) return cutAtEnd;
  for (let tailLength = 0; tailLength < columns / 2; tailLength += 1) {
    const cutName = cutBeforeTail(tailLength);
    if (new Set(names.map(cutName)).size === distinctCount) return cutName;
  }
  return cutBeforeTail(0);
}
