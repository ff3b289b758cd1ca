import type { Io } from "./io.js";

export interface Signals {
  /** Aborted, with the signal's name as its reason, when the run should end after the iteration under way. */
  readonly finish: AbortSignal;
  /** Aborted when the iteration under way should end at once. */
  readonly abort: AbortSignal;
  /** Gives the signals back. */
  stop(): void;
}

/**
 * The first Ctrl+C lets the iteration finish, the second ends it at once; so do SIGTERM and SIGHUP the first time, and
 * SIGQUIT and SIGUSR2 as if they were SIGTERM. A reader of our stdout that went away counts as the first Ctrl+C.
 * SIGUSR1 does nothing, where Node would open a debugger; neither does SIGHUP under nohup.
 */
export function listenForSignals(io: Io): Signals {
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
  const all = Object.entries(handlers) as [keyof typeof handlers, () => void][];
  const onGone = () => finish.abort("SIGHUP");
  for (const [signal, handler] of all) io.signals.on(signal, handler);
  // The reader may have gone before this run: during the one that made the project, say.
  if (io.readerGone.aborted) onGone();
  io.readerGone.addEventListener("abort", onGone);
  return {
    finish: finish.signal,
    abort: abort.signal,
    stop: () => {
      for (const [signal, handler] of all) io.signals.off(signal, handler);
      io.readerGone.removeEventListener("abort", onGone);
    },
  };
}
