/** Separators between two cells in a copied row. */
const separator = /^\s{0,9}(?:\|{1,2}|\\?&|[,;\t])\s{0,9}|^\s{1,9}/u;
/** The end of a row in a source, and commands that draw lines. */
const rowEnd =
  /\s{0,9}(?:\\\\|\\(?:hline|midrule|bottomrule|toprule))(?:\s{0,9}\\(?:hline|midrule|bottomrule|toprule)){0,3}\s{0,9}$/u;
/** Maximum number of cells of a row that are compared. */
const maxCells = 60;
/** Maximum length of a row in a quote. */
const maxRowChars = 1000;

/**
 * Finds the row of the text for a quote whose cells are separated by commas, semicolons, ampersands or tabs, or by a
 * colon after the row's name, and returns it with the text's separators: "Drift & 2.1 & 0.03 \\\\" becomes "Drift | 2.1
 * | 0.03". Two cells never become one number: between two digits there must be a space or a sign that is not part of a
 * number. Returns the quote itself if no row has its cells in this order. Linear in the text.
 */
export function asRow(quote: string, text: string): string {
  if (!/[,;:&\t\\|]|\s[-–−]\s/.test(quote) || quote.length > maxRowChars || !text.includes(" | ")) return quote;
  const content = quote
    .replace(rowEnd, "")
    .trim()
    .replace(/^\|\s{0,9}|\s{0,9}\|$/g, "");
  const beginning = (content.slice(0, 3).split(/[,;:&\t|\\]/, 1)[0] as string).trimEnd().toLowerCase();
  if (beginning === "") return quote;
  for (let at = text.indexOf(" | "); at !== -1;) {
    const start = text.lastIndexOf("\n", at) + 1;
    const next = text.indexOf("\n", at);
    const end = next === -1 ? text.length : next;
    // Formulas are padded with invisible characters.
    const line = text.slice(start, end).replaceAll("\u2060", "");
    if (end - start <= maxRowChars * 4 && line.toLowerCase().includes(beginning)) {
      const cells = line
        .split("|")
        .slice(0, maxCells)
        .map((cell) => cell.trim());
      for (const [index, cell] of cells.entries()) {
        if (cell === "" || !cell.toLowerCase().startsWith(beginning.slice(0, cell.length))) continue;
        const cellCount = cellsOf(content, cells, index);
        if (cellCount !== undefined && cellCount > 1) return cells.slice(index, index + cellCount).join(" | ");
      }
    }
    at = text.indexOf(" | ", end);
  }
  return quote;
}

/** The number of successive cells that make up the complete quote; undefined if they do not. */
function cellsOf(quote: string, cells: readonly string[], first: number): number | undefined {
  let remaining = quote;
  let previousCell: string | undefined;
  let isName = true;
  for (let index = first; index < cells.length; index += 1) {
    const cell = cells[index] as string;
    if (cell === "") {
      // The border of an empty cell may be copied or not.
      remaining = remaining.slice(/^\s{0,9}[|;,&\t]\s{0,9}(?=[|;,&\t])/.exec(remaining)?.[0].length ?? 0);
      continue;
    }
    if (index > first) {
      // The name of a row may be followed by a colon: "Age: 36, 38".
      const separatorText =
        (isName ? /^\s{0,3}:\s{1,3}/.exec(remaining)?.[0] : undefined) ?? separator.exec(remaining)?.[0];
      isName = false;
      if (separatorText === undefined) return undefined;
      // "12,500" is one number, so it is not two cells.
      const isNumber =
        /^[,\s]?$/.test(separatorText) && separatorText !== " " && separatorText !== "\t" && separatorText !== "\n";
      if (isNumber && /\d$/.test(previousCell ?? "") && /^\d/.test(cell)) return undefined;
      remaining = remaining.slice(separatorText.length);
    }
    if (!isSameCell(remaining.slice(0, cell.length), cell)) return undefined;
    remaining = remaining.slice(cell.length);
    previousCell = cell;
    if (/^[\s.,;]{0,3}$/.test(remaining)) return index - first + 1;
  }
  return undefined;
}

/** A cell in lower case, with one kind of dash and space. */
const comparableCell = (cell: string) =>
  cell
    .toLowerCase()
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replace(/[\s\u00a0\u2009\u202f]/g, " ");
const isSameCell = (quotedCell: string, cell: string): boolean => comparableCell(quotedCell) === comparableCell(cell);
