import { many } from "../lib/words.js";
import type { LoopEvent } from "../loop/types.js";
import type { Io } from "./io.js";

/** Something that watches a running loop: a terminal, lines, JSON. */
export interface Sink {
  /** Never throws and never waits: a watcher must not hold up the loop. */
  event(event: LoopEvent): void;
  /** Called once, whether the loop ended or threw; gives the terminal back as it was. */
  close(): void;
}

/** Bytes that may wait for the reader of stdout; then the words of agents are left out until it has caught up. */
const maxUnread = 2 ** 19;

/**
 * One LoopEvent a line on stdout (schemas/event.schema.json). Where its reader is slower than an agent speaks, what the
 * agent says and does on the way is left out, and a notice counts it; every other event is written.
 */
export function jsonSink(io: Io): Sink {
  let omittedCount = 0;
  const write = (event: LoopEvent) => io.stdout(`${JSON.stringify(event)}\n`);
  const reportOmitted = (at: string) => {
    const message = `${many(omittedCount, "event")} of agents left out here: stdout was read too slowly.`;
    if (omittedCount > 0) write({ type: "notice", at, level: "info", message });
    omittedCount = 0;
  };
  return {
    event: (event) => {
      if (isIntermediate(event) && io.unread > (omittedCount > 0 ? maxUnread / 2 : maxUnread))
        return void (omittedCount += 1);
      reportOmitted(event.at);
      write(event);
    },
    close: () => {},
  };
}

/** What an agent says and does before its end. What counts of it, the end of its iteration says too. */
const isIntermediate = (event: LoopEvent): boolean =>
  event.type === "agent" && event.event.type !== "begun" && event.event.type !== "end";
