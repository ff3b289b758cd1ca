import { type Sink, jsonSink } from "./sink.js";
import type { Io } from "./io.js";
import { plainSink, quietSink } from "./plain.js";
import { terminalSink } from "./terminal/terminal.js";

/** How the user wants to watch a run. */
interface WatchOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly agent: string;
  /** Most iterations of this run. */
  readonly maxIterations?: number;
  /** Aborted when the run ends after the iteration under way; a person is told what a second Ctrl+C would do. */
  readonly finish: AbortSignal;
}

/** JSON lines if asked for, next to nothing with --quiet, a live view on a terminal, else plain lines. */
export function sinkFor(io: Io, { json, quiet, agent, maxIterations, finish }: WatchOptions): Sink {
  if (json) return jsonSink(io);
  if (quiet) return quietSink(io);
  return io.isTTY ? terminalSink(io, { agent, maxIterations, finish, clock: io.clock }) : plainSink(io, finish);
}
