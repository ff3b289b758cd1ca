/**
 * Rows of a CSV file (RFC 4180: quoted fields, doubled quotes, line ends within quotes) as objects by the names of its
 * header.
 */
export function csvRows(text) {
  const rows = [];
  let row = [];
  const field = /(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r?\n|$)/gy;
  const body = text.replace(/^\uFEFF/, "");
  while (field.lastIndex < body.length) {
    const match = field.exec(body);
    if (match === null) throw new Error(`the CSV file can't be read at character ${field.lastIndex}`);
    const [, quoted, bare, end] = match;
    row.push(quoted === undefined ? bare : quoted.replaceAll('""', '"'));
    if (end === ",") continue;
    rows.push(row);
    row = [];
  }
  const [header = [], ...rest] = rows;
  return rest
    .filter((cells) => cells.some((cell) => cell !== ""))
    .map((cells) => Object.fromEntries(header.map((name, index) => [name, cells[index] ?? ""])));
}
