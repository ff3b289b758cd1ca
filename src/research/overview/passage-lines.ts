import { createColors } from "picocolors";
import { oneLine } from "../../engine/lib/sanitise.js";
import { wrap } from "../../engine/ui/terminal/format.js";
import { type StoredQuote, piecesOf } from "../../text/evidence/quoted.js";

/** Replacements for the two marks while lines are wrapped, because papers often contain the marks themselves. */
const [open, close] = ["⸨", "⸩"];

/**
 * The passage of a quote for a terminal. The quoted words are between “ and ”, in bold if colours are used, and the
 * rest of the sentence is dim. Rows of a table are on lines of their own. `columns`: the width without the indent.
 */
export function passageLines(
  quote: StoredQuote,
  { columns, color, indent = "" }: { readonly columns: number; readonly color: boolean; readonly indent?: string },
): string[] {
  const { bold, dim } = createColors(color);
  const text = piecesOf(quote)
    .map(({ text: piece, isQuoted }) => ({ isQuoted, piece: piece.replaceAll(open, "((").replaceAll(close, "))") }))
    .map(({ piece, isQuoted }) => (isQuoted ? `${open}${piece}${close}` : piece))
    .join("");
  if (text === "") return [];
  let isQuoted = false;
  const withColours = (line: string): string =>
    line
      .split(/([⸨⸩])/)
      .map((piece) => {
        if (piece === open || piece === close) isQuoted = piece === open;
        const character = piece === open ? "“" : piece === close ? "”" : piece;
        return character === "" ? "" : isQuoted || piece === close ? bold(character) : dim(character);
      })
      .join("");
  return text
    .split("\n")
    .flatMap((line) => wrap(oneLine(line), columns - indent.length))
    .map((line) => indent + withColours(line));
}
