import { homedir } from "node:os";
import type { Readable, Writable } from "node:stream";
import { type Clock, systemClock } from "../lib/clock.js";
import { hasCode } from "../lib/errors.js";
import { type Keyboard, keyboardOf } from "./terminal/keyboard.js";
import type { Exec, ProcessRequest } from "../process/run-process.js";
import { processSignals, type SignalSource } from "./signals.js";

/**
 * The outside of a command: where it stands, what it is sent and where its words go. Injected, so that a test can run a
 * command in its own process.
 */
export interface Io {
  /** Absolute path of the folder the command was started in. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly signals: SignalSource;
  /** Where a person types and a client writes. */
  readonly stdin: Readable;
  /** The stream of stderr, for questions that repaint themselves. */
  readonly terminal: Writable;
  /** Starts a program; as `runProcess` does. */
  readonly runProgram: Exec;
  /** Results. Never throws, also when nobody reads any more. */
  stdout(text: string): void;
  /** Bytes of stdout that its reader has not taken yet: they are kept in memory. */
  readonly unread: number;
  /** Everything else: progress, warnings, errors. */
  stderr(text: string): void;
  /** Whether stderr is a terminal that can be repainted. */
  readonly isTTY: boolean;
  /**
   * Width of the terminal, in columns; read it again before each painting, people resize. 80 where there is no
   * terminal.
   */
  readonly columns: number;
  /** Columns that a table on stdout may take; no limit where stdout is not a terminal: a pipe wants whole names. */
  readonly tableWidth: number;
  /** Whether both streams are terminals and the user has not set NO_COLOR. */
  readonly color: boolean;
  /** Whether a person can be asked: stdin is a terminal too. */
  readonly canAsk: boolean;
  /** What a person presses while a command works; undefined where stdin, stdout or stderr is not a terminal. */
  readonly keyboard?: Keyboard;
  /**
   * Aborted once stdout can't be written any more: with "SIGHUP" when its reader has gone (`| head -1`), with "ENOSPC"
   * on a full disk.
   */
  readonly readerGone: AbortSignal;
}

/** Runs a command line of this program, as its `main` does; answers with the exit code. */
export type RunCommand = (args: readonly string[], io: Io) => Promise<number>;

/** The folder of the user. */
export const homeOf = (env: NodeJS.ProcessEnv): string => env["HOME"] ?? homedir();

/** The real process. `name`: of the program, for what it says itself. */
export function processIo(name: string): Io {
  const { stdout, stderr, stdin, env } = process;
  const goneController = new AbortController();
  const onError = (stream: NodeJS.WriteStream) => (error: unknown) => {
    if (hasCode(error, "EPIPE", "EIO")) return goneController.abort("SIGHUP");
    if (!hasCode(error, "ENOSPC", "EDQUOT")) throw error;
    // A full log can't be reported anywhere, and is not a reason to end a run.
    if (stream === stderr || goneController.signal.aborted) return;
    goneController.abort("ENOSPC");
    write(stderr)(`${name}: There is no space left on the disk that stdout goes to; free some and run again.\n`);
  };
  stdout.on("error", onError(stdout));
  stderr.on("error", onError(stderr));
  const write = (stream: NodeJS.WriteStream) => (text: string) => {
    try {
      stream.write(text);
    } catch (error) {
      // To a file Node writes at once, and throws what it tells of a pipe later.
      onError(stream)(error);
    }
  };
  const isDumbTerminal = env["TERM"] === "dumb";
  return {
    cwd: process.cwd(),
    env,
    clock: systemClock,
    signals: processSignals,
    stdin,
    terminal: stderr,
    async *runProgram(request: ProcessRequest) {
      // Loaded when it is needed: most commands start no program.
      const { runProcess } = await import("../process/run-process.js");
      return yield* runProcess(request);
    },
    stdout: (text) => void (goneController.signal.aborted || write(stdout)(text)),
    get unread() {
      return stdout.writableLength;
    },
    stderr: write(stderr),
    isTTY: stderr.isTTY === true && !isDumbTerminal,
    get columns() {
      // A terminal that nobody has told its size has 0 columns.
      return stderr.columns || stdout.columns || 80;
    },
    get tableWidth() {
      return stdout.isTTY === true ? stdout.columns : Number.POSITIVE_INFINITY;
    },
    color: stdout.isTTY === true && stderr.isTTY === true && !isDumbTerminal && !env["NO_COLOR"],
    canAsk: stdin.isTTY === true && stderr.isTTY === true,
    ...(stdin.isTTY === true && stdout.isTTY === true && stderr.isTTY === true ? { keyboard: keyboardOf(stdin) } : {}),
    readerGone: goneController.signal,
  };
}
