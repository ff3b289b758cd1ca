import type { Io } from "../io.js";

const hideCursor = "\u001b[?25l";
const showCursor = "\u001b[?25h";
const clearLine = "\u001b[K";
const clearBelow = "\u001b[J";

/** Lines on stderr that are painted again in place, below lines that stay. */
interface Repainter {
  /** `live` takes the place of what was painted last; each of its lines fits the terminal. */
  paint(permanent: readonly string[], live: readonly string[]): void;
  /** Leaves the live lines standing and gives the cursor back. */
  close(): void;
}

export function repainter(io: Io): Repainter {
  let rows = 0;
  const restore = () => io.stderr(showCursor);
  // A throw or process.exit elsewhere must not leave the user without a cursor.
  process.once("exit", restore);
  io.stderr(hideCursor);
  return {
    paint(permanent, live) {
      const up = rows > 0 ? `\u001b[${rows}A` : "";
      io.stderr(`\r${up}${[...permanent, ...live].map((line) => `${line}${clearLine}\n`).join("")}${clearBelow}`);
      rows = live.length;
    },
    close() {
      process.off("exit", restore);
      restore();
    },
  };
}
