import { createColors } from "picocolors";
import { oneLine } from "../../engine/lib/sanitise.js";
import { wrap } from "../../engine/ui/terminal/format.js";
import { type StoredQuote, piecesOf } from "../../text/evidence/quoted.js";

/** Stand for the two marks while lines are broken, since a paper has such marks of its own; these it hardly has. */
const [open, close] = ["⸨", "⸩"];

/**
 * The passage of a quote for a terminal: the quoted words stand between “ and ”, in bold where there are colours, the
 * rest of their sentence is dim. Rows of a table have a line each. `columns`: the width without the indent.
 */
export function passageLines(
  kept: StoredQuote,
  { columns, color, indent = "" }: { readonly columns: number; readonly color: boolean; readonly indent?: string },
): string[] {
  const { bold, dim } = createColors(color);
  const text = piecesOf(kept)
    .map(({ text: piece, isQuoted }) => ({ isQuoted, piece: piece.replaceAll(open, "((").replaceAll(close, "))") }))
    .map(({ piece, isQuoted }) => (isQuoted ? `${open}${piece}${close}` : piece))
    .join("");
  if (text === "") return [];
  let isQuoted = false;
  const coloured = (line: string): string =>
    line
      .split(/([⸨⸩])/)
      .map((piece) => {
        if (piece === open || piece === close) isQuoted = piece === open;
        const shown = piece === open ? "“" : piece === close ? "”" : piece;
        return shown === "" ? "" : isQuoted || piece === close ? bold(shown) : dim(shown);
      })
      .join("");
  return text
    .split("\n")
    .flatMap((line) => wrap(oneLine(line), columns - indent.length))
    .map((line) => indent + coloured(line));
}
