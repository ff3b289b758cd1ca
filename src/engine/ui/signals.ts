import { readFileSync } from "node:fs";

/** The source of the signals of a process. Tests replace it. */
export interface SignalSource {
  on(name: NodeJS.Signals, handler: () => void): unknown;
  off(name: NodeJS.Signals, handler: () => void): unknown;
  /** Whether `nohup` started this process; then SIGHUP must be ignored. */
  readonly underNohup: boolean;
}

/** The signals of this process. */
export const processSignals: SignalSource = {
  on: (name, handler) => process.on(name, handler),
  off: (name, handler) => process.off(name, handler),
  get underNohup() {
    return isUnderNohup();
  },
};

/**
 * Whether `nohup` started this process. Node resets ignored signals before our code runs, so this function looks for
 * another sign: nohup (GNU, Linux) replaces a terminal on stdin by /dev/null, opened for writing only.
 */
function isUnderNohup(): boolean {
  try {
    return /^flags:\s*\d*[15]$/m.test(readFileSync("/proc/self/fdinfo/0", "utf8"));
  } catch {
    return false;
  }
}

export interface Signals {
  /** Aborted if the run should end after the current iterations. The reason is the name of the signal. */
  readonly finish: AbortSignal;
  /** Aborted if the current iterations should end at once. */
  readonly abort: AbortSignal;
  /** Removes the signal handlers. */
  stop(): void;
}

/**
 * The first Ctrl+C (SIGINT) lets the current iterations finish, the second ends them at once. SIGTERM and SIGHUP end
 * them at once; SIGQUIT and SIGUSR2 act like SIGTERM. If the reader of stdout closes it, that counts as the first
 * Ctrl+C. SIGUSR1 is ignored (Node would open a debugger), and so is SIGHUP under nohup.
 */
export function listenForSignals(
  io: { readonly signals: SignalSource; readonly readerGone?: AbortSignal } = { signals: processSignals },
): Signals {
  const finish = new AbortController();
  const abort = new AbortController();
  const onInterrupt = () => {
    if (finish.signal.aborted) abort.abort("SIGINT");
    // The sinks print the message: the live view would paint over a line that is written here.
    else finish.abort("SIGINT");
  };
  const abortWith = (signal: string) => () => {
    finish.abort(signal);
    abort.abort(signal);
  };
  const ignore = () => undefined;
  const handlers = {
    SIGINT: onInterrupt,
    SIGTERM: abortWith("SIGTERM"),
    SIGQUIT: abortWith("SIGTERM"),
    SIGUSR2: abortWith("SIGTERM"),
    SIGHUP: io.signals.underNohup ? ignore : abortWith("SIGHUP"),
    SIGUSR1: ignore,
  } as const;
  const entries = Object.entries(handlers) as [keyof typeof handlers, () => void][];
  const onReaderGone = () => finish.abort("SIGHUP");
  for (const [signal, handler] of entries) io.signals.on(signal, handler);
  // The reader may have closed stdout before this run, for example during the command that created the project.
  if (io.readerGone?.aborted === true) onReaderGone();
  io.readerGone?.addEventListener("abort", onReaderGone);
  return {
    finish: finish.signal,
    abort: abort.signal,
    stop: () => {
      for (const [signal, handler] of entries) io.signals.off(signal, handler);
      io.readerGone?.removeEventListener("abort", onReaderGone);
    },
  };
}
