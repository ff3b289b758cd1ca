import { stripVTControlCharacters } from "node:util";
import type { Io } from "../io.js";
import { textWidth } from "./format.js";

const hideCursor = "\u001b[?25l";
const showCursor = "\u001b[?25h";
const clearLine = "\u001b[K";
const clearBelow = "\u001b[J";

/** Lines on stderr that are repainted in place, below permanent lines. */
interface Repainter {
  /**
   * Writes `permanent` above the live lines, and replaces the live lines by `live`. No line may be wider than the
   * terminal.
   */
  paint(permanent: readonly string[], live: readonly string[]): void;
  /** Shows the cursor, for example before Ctrl+Z suspends the process. */
  showCursor(): void;
  /** Shows the cursor and ends repainting. `clear`: whether the live lines are removed. */
  close(options?: { readonly clear: boolean }): void;
}

export function createRepainter(io: Io): Repainter {
  let lineWidths: readonly number[] = [];
  const restoreCursor = () => io.stderr(showCursor);
  // If an error or process.exit ends the process, the user must still get the cursor back.
  process.once("exit", restoreCursor);
  io.stderr(hideCursor);

  /**
   * The escape sequence that moves the cursor to the first live line. If the window is narrower now, a line has more
   * rows.
   */
  function moveToStart(): string {
    const rows = lineWidths.reduce((sum, columns) => sum + Math.max(1, Math.ceil(columns / io.columns)), 0);
    return `\r${rows > 0 ? `\u001b[${rows}A` : ""}`;
  }

  return {
    paint(permanent, live) {
      const lines = [...permanent, ...live].map((line) => `${line}${clearLine}\n`);
      io.stderr(`${moveToStart()}${lines.join("")}${clearBelow}`);
      lineWidths = live.map((line) => textWidth(stripVTControlCharacters(line)));
    },
    showCursor: () => void restoreCursor(),
    close({ clear } = { clear: false }) {
      process.off("exit", restoreCursor);
      io.stderr(`${clear ? `${moveToStart()}${clearBelow}` : ""}${showCursor}`);
    },
  };
}
