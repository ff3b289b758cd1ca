import { stripVTControlCharacters } from "node:util";
import type { Io } from "../io.js";
import { width } from "./format.js";

const hideCursor = "\u001b[?25l";
const showCursor = "\u001b[?25h";
const clearLine = "\u001b[K";
const clearBelow = "\u001b[J";

/** Lines on stderr that are painted again in place, below lines that stay. */
interface Repainter {
  /** `live` takes the place of what was painted last; each of its lines fits the terminal. */
  paint(permanent: readonly string[], live: readonly string[]): void;
  /** Shows the cursor meanwhile, as when the job is stopped. */
  showCursor(): void;
  /** Shows the cursor again. `clear`: whether the live lines are removed. */
  close(how?: { readonly clear: boolean }): void;
}

export function repainter(io: Io): Repainter {
  let widths: readonly number[] = [];
  const restore = () => io.stderr(showCursor);
  // A throw or process.exit elsewhere must not leave the user without a cursor.
  process.once("exit", restore);
  io.stderr(hideCursor);

  /** Puts the cursor at the start of what was painted last. A narrower window has wrapped it into more rows. */
  function moveToStart(): string {
    const rows = widths.reduce((sum, columns) => sum + Math.max(1, Math.ceil(columns / io.columns)), 0);
    return `\r${rows > 0 ? `\u001b[${rows}A` : ""}`;
  }

  return {
    paint(permanent, live) {
      const lines = [...permanent, ...live].map((line) => `${line}${clearLine}\n`);
      io.stderr(`${moveToStart()}${lines.join("")}${clearBelow}`);
      widths = live.map((line) => width(stripVTControlCharacters(line)));
    },
    showCursor: () => void restore(),
    close({ clear } = { clear: false }) {
      process.off("exit", restore);
      io.stderr(`${clear ? `${moveToStart()}${clearBelow}` : ""}${showCursor}`);
    },
  };
}
