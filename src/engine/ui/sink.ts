import type { LoopEvent } from "../loop/types.js";
import type { Io } from "./io.js";

/** Something that watches a running loop: a terminal, lines, JSON. */
export interface Sink {
  /** Never throws and never waits: a watcher must not hold up the loop. */
  event(event: LoopEvent): void;
  /** Called once, whether the loop ended or threw; gives the terminal back as it was. */
  close(): void;
}

/** One LoopEvent a line on stdout (schemas/event.schema.json). */
export const jsonSink = (io: Io): Sink => ({
  event: (event) => io.stdout(`${JSON.stringify(event)}\n`),
  close: () => {},
});
