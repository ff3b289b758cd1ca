import { readFileSync } from "node:fs";
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
 * The first Ctrl+C lets the iteration finish, the second ends it at once; so do SIGTERM and SIGHUP the first time, and SIGQUIT and SIGUSR2
 * as if they were SIGTERM. A reader of our stdout that went away counts as the first Ctrl+C. SIGUSR1 does nothing, where Node would open a
 * debugger; neither does SIGHUP under nohup (`hasNohup`).
 */
export function listenForSignals(io: Io, hasNohup = isUnderNohup()): Signals {
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
    SIGHUP: hasNohup ? ignore : endNow("SIGHUP"),
    SIGUSR1: ignore,
  } as const;
  const onGone = () => finish.abort("SIGHUP");
  for (const [signal, handler] of Object.entries(handlers)) process.on(signal, handler);
  // The reader may have gone before this run: during the one that made the research, say.
  if (io.readerGone.aborted) onGone();
  io.readerGone.addEventListener("abort", onGone);
  return {
    finish: finish.signal,
    abort: abort.signal,
    stop: () => {
      for (const [signal, handler] of Object.entries(handlers)) process.off(signal, handler);
      io.readerGone.removeEventListener("abort", onGone);
    },
  };
}

/**
 * Whether `nohup` started us. Node makes every ignored signal a deadly one again before any code of ours runs, so what it leaves of
 * itself is asked for: stdin that was a terminal and is now /dev/null opened for writing only (GNU, Linux).
 */
function isUnderNohup(): boolean {
  try {
    return /^flags:\s*\d*[15]$/m.test(readFileSync("/proc/self/fdinfo/0", "utf8"));
  } catch {
    return false;
  }
}
