import { quantity } from "../lib/words.js";
import type { LoopEvent } from "../loop/types.js";
import type { Io } from "./io.js";

/** Shows the events of a run: on a terminal, as plain lines, or as JSON. */
export interface Sink {
  /** Never throws and never waits, because a sink must not delay the loop. */
  event(event: LoopEvent): void;
  /** Called once, when the loop has ended or thrown; restores the terminal. */
  close(): void;
}

/**
 * Maximum number of bytes that wait for the reader of stdout. If there are more, events of agents are omitted until the
 * reader has read half of them.
 */
const maxUnreadBytes = 2 ** 19;

/**
 * Writes each LoopEvent as a line of JSON to stdout (schemas/event.schema.json). If the reader is too slow, text and
 * tool calls of agents are omitted, and a notice counts them. Every other event is written.
 */
export function jsonSink(io: Io): Sink {
  let omittedCount = 0;
  const write = (event: LoopEvent) => io.stdout(`${JSON.stringify(event)}\n`);
  const reportOmitted = (at: string) => {
    const message = `${quantity(omittedCount, "event")} of agents ${omittedCount === 1 ? "was" : "were"} left out here, because stdout was read too slowly.`;
    if (omittedCount > 0) write({ type: "notice", at, level: "info", message });
    omittedCount = 0;
  };
  return {
    event: (event) => {
      if (isIntermediate(event) && io.unread > (omittedCount > 0 ? maxUnreadBytes / 2 : maxUnreadBytes))
        return void (omittedCount += 1);
      reportOmitted(event.at);
      write(event);
    },
    close: () => {},
  };
}

/** Whether an event is a text or a tool call of an agent; the end of the iteration repeats the important facts. */
const isIntermediate = (event: LoopEvent): boolean =>
  event.type === "agent" && event.event.type !== "begun" && event.event.type !== "end";
