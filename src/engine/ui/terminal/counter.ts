import { shortDuration } from "../../lib/words.js";
import type { Io } from "../io.js";
import { canRepaint, logIntervalMs, say, timeLeftText, truncate } from "./format.js";
import { createRepainter } from "./repaint.js";

/** Shows the progress of a command that has many steps. */
interface Counter {
  /** Sets the number of steps that are done, the number of all steps (0: not known), and the label of the steps. */
  step(done: number, all?: number, label?: string): void;
  /** Writes a sentence above the line with the progress. */
  say(sentence: string): void;
  close(): void;
}

/** Interval of repaints on a terminal, in milliseconds. */
const repaintMs = 250;

/**
 * Shows on stderr how many steps are done: on a terminal in a line that is repainted, in a log in a line at intervals.
 */
export function createCounter(io: Io, firstLabel: string, firstAll: number): Counter {
  let [label, all, done, startedAt] = [firstLabel, firstAll, 0, io.clock.now()];
  let painter: ReturnType<typeof createRepainter> | undefined;
  const show = () => {
    const elapsedMs = io.clock.now() - startedAt;
    const elapsedText = `${shortDuration(elapsedMs)} so far`;
    const text = `${label} ${all === 0 ? elapsedText : `${done} of ${all}${timeLeftText(done, all, elapsedMs) || `, ${elapsedText}`}`}`;
    if (!canRepaint(io)) return say(io, text);
    painter ??= createRepainter(io);
    painter.paint([], [truncate(text, io.columns - 1)]);
  };
  const clear = () => {
    painter?.close({ clear: true });
    painter = undefined;
  };
  const timer = setInterval(show, canRepaint(io) ? repaintMs : logIntervalMs).unref();
  return {
    step(nextDone, nextAll = all, nextLabel = label) {
      // Steps with a new label are measured from now on.
      if (nextLabel !== label) startedAt = io.clock.now();
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
