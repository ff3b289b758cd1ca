import { homedir } from "node:os";
import type { Readable, Writable } from "node:stream";
import { type Clock, systemClock } from "../lib/clock.js";
import { hasCode } from "../lib/errors.js";
import { type Keyboard, keyboardOf } from "./terminal/keyboard.js";
import type { Exec, ProcessRequest } from "../process/run-process.js";
import { processSignals, type SignalSource } from "./signals.js";

/**
 * The environment of a command: its folder, its input and its output. A test can replace it and run a command in its
 * own process.
 */
export interface Io {
  /** Absolute path of the folder in which the command was started. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly signals: SignalSource;
  /** Input of the user, or of a client. */
  readonly stdin: Readable;
  /** The stream of stderr, for questions that are painted again after each key. */
  readonly terminal: Writable;
  /** Starts a program, like `runProcess`. */
  readonly runProgram: Exec;
  /** Writes a result. Never throws, even if the reader of stdout has closed it. */
  stdout(text: string): void;
  /** Number of bytes of stdout that wait in memory, because the reader has not read them yet. */
  readonly unread: number;
  /** Writes everything else: progress, warnings, errors. */
  stderr(text: string): void;
  /** Whether stderr is a terminal. */
  readonly isTTY: boolean;
  /** True: lines on the terminal can't be repainted, for example on a braille display (TERM is "dumb"). */
  readonly isDumb?: boolean;
  /**
   * Width of the terminal in columns; without a terminal the value of COLUMNS, or 80. Read it before each repaint,
   * because users resize windows.
   */
  readonly columns: number;
  /** Height of the terminal in lines; undefined if it is not known. */
  readonly rows?: number | undefined;
  /**
   * Maximum width of a table on stdout, in columns. Infinity if stdout is not a terminal and COLUMNS is not set,
   * because a pipe needs full names.
   */
  readonly tableWidth: number;
  /** Whether stdout is a terminal, not a pipe or a file. */
  readonly isShown: boolean;
  /** Whether colours are used: stdout and stderr are terminals with colours, and the user has not set NO_COLOR. */
  readonly color: boolean;
  /** Whether the user can answer questions: stdin and stderr are terminals. */
  readonly canAsk: boolean;
  /** Keys that the user presses while a command works; undefined if stdin, stdout or stderr is not a terminal. */
  readonly keyboard?: Keyboard;
  /**
   * Aborted if stdout can't be written any more. The reason is "SIGHUP" if the reader has closed it (`| head -1`), or
   * "ENOSPC" if the disk is full.
   */
  readonly readerGone: AbortSignal;
}

/** Runs a command line of this program, like `main`; returns the exit code. */
export type RunCommand = (args: readonly string[], io: Io) => Promise<number>;

/** The user's home folder. */
export const homeOf = (env: NodeJS.ProcessEnv): string => env["HOME"] ?? homedir();

/** The `Io` of this process. `name`: the name of the program in its messages. */
export function processIo(name: string): Io {
  const { stdout, stderr, stdin, env } = process;
  const goneController = new AbortController();
  const onError = (stream: NodeJS.WriteStream) => (error: unknown) => {
    if (hasCode(error, "EPIPE", "EIO")) return goneController.abort("SIGHUP");
    if (!hasCode(error, "ENOSPC", "EDQUOT")) throw error;
    // A full disk under stderr can't be reported anywhere, and it is not a reason to end a run.
    if (stream === stderr || goneController.signal.aborted) return;
    goneController.abort("ENOSPC");
    write(stderr)(`${name}: There is no space left on the disk that stdout goes to; free some space and run again.\n`);
  };
  stdout.on("error", onError(stdout));
  stderr.on("error", onError(stderr));
  const write = (stream: NodeJS.WriteStream) => (text: string) => {
    try {
      stream.write(text);
    } catch (error) {
      // Node writes to a file at once and throws the error; for a pipe it emits the error later.
      onError(stream)(error);
    }
  };
  const isDumbTerminal = env["TERM"] === "dumb";
  const requestedColumns = Number(env["COLUMNS"]);
  const columnsFromEnv = Number.isInteger(requestedColumns) && requestedColumns > 0 ? requestedColumns : undefined;
  return {
    cwd: process.cwd(),
    env,
    clock: systemClock,
    signals: processSignals,
    stdin,
    terminal: stderr,
    async *runProgram(request: ProcessRequest) {
      // Imported only here, because most commands start no program.
      const { runProcess } = await import("../process/run-process.js");
      return yield* runProcess(request);
    },
    stdout: (text) => void (goneController.signal.aborted || write(stdout)(text)),
    get unread() {
      return stdout.writableLength;
    },
    stderr: write(stderr),
    isTTY: stderr.isTTY === true,
    isDumb: isDumbTerminal,
    get columns() {
      // A terminal without a known size has 0 columns.
      return stderr.columns || stdout.columns || (columnsFromEnv ?? 80);
    },
    get rows() {
      return stdout.rows || undefined;
    },
    get tableWidth() {
      return stdout.isTTY === true ? stdout.columns : (columnsFromEnv ?? Number.POSITIVE_INFINITY);
    },
    isShown: stdout.isTTY === true,
    color: stdout.isTTY === true && stderr.isTTY === true && !isDumbTerminal && !env["NO_COLOR"],
    canAsk: stdin.isTTY === true && stderr.isTTY === true,
    ...(stdin.isTTY === true && stdout.isTTY === true && stderr.isTTY === true ? { keyboard: keyboardOf(stdin) } : {}),
    readerGone: goneController.signal,
  };
}
