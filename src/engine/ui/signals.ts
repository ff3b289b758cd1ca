import { readFileSync } from "node:fs";

/** The signals that a process can be sent. */
export interface SignalSource {
  on(name: NodeJS.Signals, handler: () => void): unknown;
  off(name: NodeJS.Signals, handler: () => void): unknown;
  /** Whether `nohup` started us, so that SIGHUP must do nothing. */
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
 * Whether `nohup` started us. Node makes every ignored signal a deadly one again before any of our code runs, so what
 * it leaves of itself is asked for: stdin that was a terminal and is now /dev/null opened for writing only (GNU,
 * Linux).
 */
function isUnderNohup(): boolean {
  try {
    return /^flags:\s*\d*[15]$/m.test(readFileSync("/proc/self/fdinfo/0", "utf8"));
  } catch {
    return false;
  }
}

export interface Signals {
  /** Aborted, with the signal's name as its reason, when the run should end after the iteration under way. */
  readonly finish: AbortSignal;
  /** Aborted when the iteration under way should end at once. */
  readonly abort: AbortSignal;
  /** Removes the signal handlers. */
  stop(): void;
}

/**
 * The first Ctrl+C lets the iteration finish, the second ends it at once; so do SIGTERM and SIGHUP the first time, and
 * SIGQUIT and SIGUSR2 as if they were SIGTERM. A reader of our stdout that went away counts as the first Ctrl+C.
 * SIGUSR1 does nothing, where Node would open a debugger; neither does SIGHUP under nohup.
 */
export function listenForSignals(
  io: { readonly signals: SignalSource; readonly readerGone?: AbortSignal } = { signals: processSignals },
): Signals {
  const finish = new AbortController();
  const abort = new AbortController();
  const onInterrupt = () => {
    if (finish.signal.aborted) abort.abort("SIGINT");
    // The sinks say so: a line written past the live view would be painted over.
    else finish.abort("SIGINT");
  };
  const endNow = (signal: string) => () => {
    finish.abort(signal);
    abort.abort(signal);
  };
  const ignore = () => undefined;
  const handlers = {
    SIGINT: onInterrupt,
    SIGTERM: endNow("SIGTERM"),
    SIGQUIT: endNow("SIGTERM"),
    SIGUSR2: endNow("SIGTERM"),
    SIGHUP: io.signals.underNohup ? ignore : endNow("SIGHUP"),
    SIGUSR1: ignore,
  } as const;
  const entries = Object.entries(handlers) as [keyof typeof handlers, () => void][];
  const onReaderGone = () => finish.abort("SIGHUP");
  for (const [signal, handler] of entries) io.signals.on(signal, handler);
  // The reader may have gone before this run: during the one that made the project, say.
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
