/** What people and programs set between two cells of a row that they copy. */
const separator = /^\s{0,9}(?:\|{1,2}|\\?&|[,;\t])\s{0,9}|^\s{1,9}/u;
/** What closes a row in a source, and what lines are drawn with. */
const rowEnd =
  /\s{0,9}(?:\\\\|\\(?:hline|midrule|bottomrule|toprule))(?:\s{0,9}\\(?:hline|midrule|bottomrule|toprule)){0,3}\s{0,9}$/u;
const maxCells = 60;
/** Longer quotes are not a row. */
const maxRow = 1000;

/**
 * A quote whose parts are joined by commas, semicolons, ampersands or tabs, or by a colon behind its name, with the
 * borders that the text's row has in their places: "Drift & 2.1 & 0.03 \\\\" as "Drift | 2.1 | 0.03". Two cells never
 * become one number: between two digits stands a space or a sign that makes no number. The quote itself where no row of
 * the text has its cells in their order. Linear in the text.
 */
export function asRow(quote: string, text: string): string {
  if (!/[,;:&\t\\|]|\s[-–−]\s/.test(quote) || quote.length > maxRow || !text.includes(" | ")) return quote;
  const said = quote
    .replace(rowEnd, "")
    .trim()
    .replace(/^\|\s{0,9}|\s{0,9}\|$/g, "");
  const begins = (said.slice(0, 3).split(/[,;:&\t|\\]/, 1)[0] as string).trimEnd().toLowerCase();
  if (begins === "") return quote;
  for (let at = text.indexOf(" | "); at !== -1;) {
    const start = text.lastIndexOf("\n", at) + 1;
    const next = text.indexOf("\n", at);
    const end = next === -1 ? text.length : next;
    // Formulas are filled up with what nobody sees.
    const line = text.slice(start, end).replaceAll("\u2060", "");
    if (end - start <= maxRow * 4 && line.toLowerCase().includes(begins)) {
      const cells = line
        .split("|")
        .slice(0, maxCells)
        .map((cell) => cell.trim());
      for (const [index, cell] of cells.entries()) {
        if (cell === "" || !cell.toLowerCase().startsWith(begins.slice(0, cell.length))) continue;
        const taken = cellsOf(said, cells, index);
        if (taken !== undefined && taken > 1) return cells.slice(index, index + taken).join(" | ");
      }
    }
    at = text.indexOf(" | ", end);
  }
  return quote;
}

/** How many cells from one on make up the whole of a quote; undefined where they do not. */
function cellsOf(said: string, cells: readonly string[], first: number): number | undefined {
  let rest = said;
  let last: string | undefined;
  let isName = true;
  for (let index = first; index < cells.length; index += 1) {
    const cell = cells[index] as string;
    if (cell === "") {
      // Nobody copies the border of an empty cell, or everybody does.
      rest = rest.slice(/^\s{0,9}[|;,&\t]\s{0,9}(?=[|;,&\t])/.exec(rest)?.[0].length ?? 0);
      continue;
    }
    if (index > first) {
      // A row's name is set apart by a colon as well: "Age: 36, 38".
      const between = (isName ? /^\s{0,3}:\s{1,3}/.exec(rest)?.[0] : undefined) ?? separator.exec(rest)?.[0];
      isName = false;
      if (between === undefined) return undefined;
      // "12,500" is one number, and so it is in no row of two.
      const isNumber = /^[,\s]?$/.test(between) && between !== " " && between !== "\t" && between !== "\n";
      if (isNumber && /\d$/.test(last ?? "") && /^\d/.test(cell)) return undefined;
      rest = rest.slice(between.length);
    }
    if (!sameCell(rest.slice(0, cell.length), cell)) return undefined;
    rest = rest.slice(cell.length);
    last = cell;
    if (/^[\s.,;]{0,3}$/.test(rest)) return index - first + 1;
  }
  return undefined;
}

const plain = (cell: string) =>
  cell
    .toLowerCase()
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replace(/[\s\u00a0\u2009\u202f]/g, " ");
const sameCell = (said: string, cell: string): boolean => plain(said) === plain(cell);
