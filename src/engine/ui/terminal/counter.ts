import { shortDuration } from "../../lib/words.js";
import type { Io } from "../io.js";
import { canRepaint, lineMs, say, timeLeft, truncate } from "./format.js";
import { repainter } from "./repaint.js";

/** How far the steps of a command are, as a person sees it while they go on. */
interface Counter {
  /** So many steps are done, of `all` of what `label` says; 0 of 0: nobody knows how many there are. */
  step(done: number, all?: number, label?: string): void;
  /** Writes a sentence above the line. */
  say(sentence: string): void;
  close(): void;
}

/** A line is painted again after so many milliseconds. */
const repaintMs = 250;

/** Shows on stderr how many of `all` steps are done: a line that moves, off a terminal a line now and then. */
export function counter(io: Io, firstLabel: string, firstAll: number): Counter {
  let [label, all, done, start] = [firstLabel, firstAll, 0, io.clock.now()];
  let painter: ReturnType<typeof repainter> | undefined;
  const show = () => {
    const elapsed = io.clock.now() - start;
    const soFar = `${shortDuration(elapsed)} so far`;
    const text = `${label} ${all === 0 ? soFar : `${done} of ${all}${timeLeft(done, all, elapsed) || `, ${soFar}`}`}`;
    if (!canRepaint(io)) return say(io, text);
    painter ??= repainter(io);
    painter.paint([], [truncate(text, io.columns - 1)]);
  };
  const clear = () => {
    painter?.close({ clear: true });
    painter = undefined;
  };
  const timer = setInterval(show, canRepaint(io) ? repaintMs : lineMs).unref();
  return {
    step(nextDone, nextAll = all, nextLabel = label) {
      // What is counted anew takes its own time.
      if (nextLabel !== label) start = io.clock.now();
      [done, all, label] = [nextDone, nextAll, nextLabel];
    },
    say(sentence) {
      clear();
      say(io, sentence);
    },
    close() {
      clearInterval(timer);
      clear();
    },
  };
}
