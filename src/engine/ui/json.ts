import type { Sink } from "./follow.js";
import type { Io } from "./io.js";

/** One LoopEvent a line on stdout (schemas/event.schema.json). */
export const jsonSink = (io: Io): Sink => ({
  event: (event) => io.stdout(`${JSON.stringify(event)}\n`),
  close: () => {},
});
