import { type Sink, jsonSink } from "./sink.js";
import type { Io } from "./io.js";
import { plainSink, quietSink } from "./plain.js";
import type { Questions } from "./terminal/questions.js";
import { canRepaint, say } from "./terminal/format.js";
import { terminalSink } from "./terminal/terminal.js";

/** The user's options for the display of a run. */
interface WatchOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  /** Whether each summary of the history is shown too. */
  readonly verbose: boolean;
  /** The name of the project or task, if it has one. */
  readonly name?: string;
  /** Whether numbers of iterations are shown. False for work whose iterations are not part of a project or a task. */
  readonly isNumbered: boolean;
  readonly agent: string;
  /** Maximum number of iterations of this run. */
  readonly maxIterations?: number;
  /** Finds questions that wait for the user. */
  readonly questions?: Questions;
  /** Aborted if the run ends after the current iteration; a message then explains a second Ctrl+C. */
  readonly finish: AbortSignal;
}

/** Creates the sink for these options: JSON lines, few lines for --quiet, a live view on a terminal, or plain lines. */
export function createSink(io: Io, { json, quiet, ...otherOptions }: WatchOptions): Sink {
  if (json) return jsonSink(io);
  // On a terminal that can't be repainted, long lines are broken between words.
  const logIo = { ...io, stderr: (line: string) => say(io, line) };
  if (quiet) return quietSink(logIo);
  return canRepaint(io)
    ? terminalSink(io, { ...otherOptions, clock: io.clock })
    : plainSink(logIo, otherOptions.finish, otherOptions);
}
