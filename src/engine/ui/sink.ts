import type { LoopEvent, Verdict } from "../loop/types.js";
import type { Io } from "./io.js";

/** Something that watches a running loop: a terminal, lines, JSON. */
export interface Sink {
  /** Never throws and never waits: a watcher must not hold up the loop. */
  event(event: LoopEvent): void;
  /** Called once, whether the loop ended or threw; gives the terminal back as it was. */
  close(): void;
}

const codes = { complete: 0, failed: 1, limit: 3, stuck: 4, blocked: 5 } as const;
const signals = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/**
 * The exit code that a script sees: 0 complete, 1 failed, 3 limit, 4 stuck, 5 blocked, 128 + n interrupted by signal n.
 */
export const exitCodeOf = ({ verdict, signal }: Verdict): number =>
  verdict === "interrupted" ? signals[signal ?? "SIGINT"] : codes[verdict];

/** One LoopEvent a line on stdout (schemas/event.schema.json). */
export const jsonSink = (io: Io): Sink => ({
  event: (event) => io.stdout(`${JSON.stringify(event)}\n`),
  close: () => {},
});
