import { type Sink, jsonSink } from "./sink.js";
import type { Io } from "./io.js";
import { plainSink, quietSink } from "./plain.js";
import type { Questions } from "./terminal/questions.js";
import { terminalSink } from "./terminal/terminal.js";

/** How the user wants to watch a run. */
interface WatchOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  /** Each summary of the history too. */
  readonly verbose: boolean;
  /** What is worked on, where it has a name. */
  readonly name?: string;
  readonly agent: string;
  /** Most iterations of this run. */
  readonly maxIterations?: number;
  /** What may wait for a person's yes. */
  readonly questions?: Questions;
  /** Aborted when the run ends after the iteration under way; a message says what a second Ctrl+C would do. */
  readonly finish: AbortSignal;
}

/** JSON lines if asked for, next to nothing with --quiet, a live view on a terminal, else plain lines. */
export function sinkFor(io: Io, { json, quiet, ...watched }: WatchOptions): Sink {
  if (json) return jsonSink(io);
  if (quiet) return quietSink(io);
  return io.isTTY ? terminalSink(io, { ...watched, clock: io.clock }) : plainSink(io, watched.finish, watched.verbose);
}
