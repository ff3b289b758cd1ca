import { duration } from "../../lib/words.js";
import type { Io } from "../io.js";
import { lineMs, timeLeft, truncate } from "./format.js";
import { repainter } from "./repaint.js";

/** How far the steps of a command are, as a person sees it while they go on. */
interface Counter {
  /** So many steps are done. */
  step(done: number): void;
  close(): void;
}

/** A line is painted again after so many milliseconds. */
const repaintMs = 250;

/** Shows on stderr how many of `all` steps are done: a line that moves, off a terminal a line now and then. */
export function counter(io: Io, label: string, all: number): Counter {
  const start = io.clock.now();
  let done = 0;
  let painter: ReturnType<typeof repainter> | undefined;
  const show = () => {
    const elapsed = io.clock.now() - start;
    const text = `${label} ${done} of ${all}${timeLeft(done, all, elapsed) || `, ${duration(elapsed)} so far`}`;
    if (!io.isTTY) return io.stderr(`${text}\n`);
    painter ??= repainter(io);
    painter.paint([], [truncate(text, io.columns - 1)]);
  };
  const timer = setInterval(show, io.isTTY ? repaintMs : lineMs).unref();
  return {
    step(count) {
      done = count;
    },
    close() {
      clearInterval(timer);
      painter?.close({ clear: true });
    },
  };
}
