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
   * Writes the permanent lines and repaints: `live` replaces the earlier live lines. Each line must fit the terminal.
   */
  paint(permanent: readonly string[], live: readonly string[]): void;
  /** Shows the cursor, for example before the job is stopped. */
  showCursor(): void;
  /** Shows the cursor and ends repainting. `clear`: whether the live lines are removed. */
  close(options?: { readonly clear: boolean }): void;
}

export function repainter(io: Io): Repainter {
  let widths: readonly number[] = [];
  const restore = () => io.stderr(showCursor);
  // If an error or process.exit ends the process, the user must still get the cursor back.
  process.once("exit", restore);
  io.stderr(hideCursor);

  /** Moves the cursor to the first live line. In a narrower window, the lines may take more rows now. */
  function moveToStart(): string {
    const rows = widths.reduce((sum, columns) => sum + Math.max(1, Math.ceil(columns / io.columns)), 0);
    return `\r${rows > 0 ? `\u001b[${rows}A` : ""}`;
  }

  return {
    paint(permanent, live) {
      const lines = [...permanent, ...live].map((line) => `${line}${clearLine}\n`);
      io.stderr(`${moveToStart()}${lines.join("")}${clearBelow}`);
      widths = live.map((line) => textWidth(stripVTControlCharacters(line)));
    },
    showCursor: () => void restore(),
    close({ clear } = { clear: false }) {
      process.off("exit", restore);
      io.stderr(`${clear ? `${moveToStart()}${clearBelow}` : ""}${showCursor}`);
    },
  };
}
