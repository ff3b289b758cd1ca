import type { Element, Node } from "../html/select.js";

/** Maximum number of columns. A table with more is not made for readers. */
const maxColumns = 100;

/**
 * The number of bars to write before each cell of a page's tables, so that the cells of a column have the same number
 * of bars before them in each row. A cell that spans several rows or columns counts in each of them.
 */
export function barCountsOf(rows: Iterable<Node>): ReadonlyMap<Node, number> {
  const barCounts = new Map<Node, number>();
  /** For each table body: the current row, and for each column the row after the last one that a cell spans. */
  const groups = new Map<unknown, { row: number; readonly spanEnds: number[] }>();
  for (const row of rows) {
    if (!("children" in row)) continue;
    const group = groups.get(row.parent) ?? { row: 0, spanEnds: [] };
    groups.set(row.parent, group);
    let [lastColumn, column] = [0, 0];
    for (const cell of row.children as Node[]) {
      if (!("attribs" in cell) || !cellElements.has(cell.name)) continue;
      while ((group.spanEnds[column] ?? 0) > group.row) column += 1;
      barCounts.set(cell, column - lastColumn);
      lastColumn = column;
      const spanEnd = group.row + spanOf(cell, "rowspan");
      const nextColumn = column + Math.min(spanOf(cell, "colspan"), Math.max(1, maxColumns - column));
      for (; column < nextColumn; column += 1) if (column < maxColumns) group.spanEnds[column] = spanEnd;
    }
    group.row += 1;
  }
  return barCounts;
}

const cellElements = new Set(["td", "th"]);

/** The number of rows or columns that a cell spans. In HTML, a rowspan of 0 means all remaining rows. */
function spanOf({ attribs }: Element, name: "rowspan" | "colspan"): number {
  const span = Number.parseInt(attribs[name] ?? "1", 10);
  return span === 0 && name === "rowspan" ? Number.POSITIVE_INFINITY : Math.max(1, span || 1);
}
