/**
 * What a terminal of `columns` shows after `text` was written to it; understands the sequences the live view uses, and
 * no others.
 */
export function screenOf(text: string, columns: number): string[] {
  const rows: string[][] = [[]];
  let row = 0;
  let column = 0;
  for (const [token] of text.matchAll(/\u001b\[\??\d*[a-zA-Z]|[\s\S]/gu)) {
    if (token === "\r") column = 0;
    else if (token === "\n") {
      row += 1;
      column = 0;
      rows[row] ??= [];
    } else if (token.startsWith("\u001b[")) {
      const amount = Number(/\d+/.exec(token)?.[0] ?? 1);
      const kind = token.at(-1);
      if (kind === "A") row = Math.max(0, row - amount);
      else if (kind === "K") rows[row]?.splice(column);
      else if (kind === "J") {
        rows[row]?.splice(column);
        rows.splice(row + 1);
      } else if (kind !== "m" && kind !== "l" && kind !== "h")
        throw new Error(`unknown sequence ${JSON.stringify(token)}`);
    } else {
      if (column >= columns) throw new Error(`a line is wider than ${columns} columns`);
      (rows[row] ??= [])[column] = token;
      column += 1;
    }
  }
  return rows.map((cells) => Array.from(cells, (cell) => cell ?? " ").join(""));
}
