import type { Element, Node } from "../html/select.js";

/** Columns of a table that are told apart; a table with more is not laid out for people. */
const maxColumns = 100;

/**
 * How many bars stand before each cell of a page's tables, so that every cell of a column has as many in its row: one
 * cell that spans rows or columns counts in each of them.
 */
export function barsOf(rows: Iterable<Node>): ReadonlyMap<Node, number> {
  const bars = new Map<Node, number>();
  const groups = new Map<unknown, { row: number; readonly takenUntil: number[] }>();
  for (const row of rows) {
    if (!("children" in row)) continue;
    const group = groups.get(row.parent) ?? { row: 0, takenUntil: [] };
    groups.set(row.parent, group);
    let [last, at] = [0, 0];
    for (const cell of row.children as Node[]) {
      if (!("attribs" in cell) || !cells.has(cell.name)) continue;
      while ((group.takenUntil[at] ?? 0) > group.row) at += 1;
      bars.set(cell, at - last);
      last = at;
      const until = group.row + spanOf(cell, "rowspan");
      const end = at + Math.min(spanOf(cell, "colspan"), Math.max(1, maxColumns - at));
      for (; at < end; at += 1) if (at < maxColumns) group.takenUntil[at] = until;
    }
    group.row += 1;
  }
  return bars;
}

const cells = new Set(["td", "th"]);

/** By HTML 0 means: to the end. */
function spanOf({ attribs }: Element, name: "rowspan" | "colspan"): number {
  const span = Number.parseInt(attribs[name] ?? "1", 10);
  return span === 0 && name === "rowspan" ? Number.POSITIVE_INFINITY : Math.max(1, span || 1);
}
