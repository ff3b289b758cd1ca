import { type Sink, jsonSink } from "./sink.js";
import type { Io } from "./io.js";
import { plainSink, quietSink } from "./plain.js";
import type { Questions } from "./terminal/questions.js";
import { canRepaint, say } from "./terminal/format.js";
import { terminalSink } from "./terminal/terminal.js";

/** How the user wants to watch a run. */
interface WatchOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  /** Each summary of the history too. */
  readonly verbose: boolean;
  /** The name of the project or task, if it has one. */
  readonly name?: string;
  /** False: its iterations have no place in the numbers of a project or a task, so none is shown. */
  readonly isNumbered: boolean;
  readonly agent: string;
  /** Maximum number of iterations of this run. */
  readonly maxIterations?: number;
  /** Finds questions that wait for the user. */
  readonly questions?: Questions;
  /** Aborted if the run ends after the current iteration; a message then explains a second Ctrl+C. */
  readonly finish: AbortSignal;
}

/** The sink for these options: JSON lines, few lines with --quiet, a live view on a terminal, else plain lines. */
export function sinkFor(io: Io, { json, quiet, ...otherOptions }: WatchOptions): Sink {
  if (json) return jsonSink(io);
  // On a terminal that can't be repainted the lines of a log are broken between words.
  const lines = { ...io, stderr: (line: string) => say(io, line) };
  if (quiet) return quietSink(lines);
  return canRepaint(io)
    ? terminalSink(io, { ...otherOptions, clock: io.clock })
    : plainSink(lines, otherOptions.finish, otherOptions);
}
