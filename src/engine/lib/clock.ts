/** The source of the time. Tests replace it, so that they need not wait. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Starts to detect sleep of the machine; the returned function ends that. Absent in a test clock without sleep. */
  watch?(): () => void;
  /** The spans in which the machine slept during `watch`, oldest first. Absent in a test clock without sleep. */
  sleeps?(): readonly Span[];
  /** Resolves at `until`, or as soon as `signal` aborts. Never rejects. */
  sleep(until: number, signal: AbortSignal): Promise<void>;
}

/** Times in milliseconds since the epoch. */
export interface Span {
  readonly from: number;
  readonly until: number;
}

/** How many milliseconds the machine was awake between two times; never negative. */
export function awakeBetween(from: number, until: number, sleeps: readonly Span[] = []): number {
  const sleepParts = sleeps.map((sleep) => Math.min(until, sleep.until) - Math.max(from, sleep.from));
  return Math.max(0, until - from - sleepParts.reduce((sum, ms) => sum + Math.max(0, ms), 0));
}

/** Milliseconds between two readings during `watch`. */
const tickMs = 5_000;
/** The gap between two readings that counts as sleep, in milliseconds. */
const minSleepMs = 30_000;

/**
 * A clock that never goes back. If `wallClock` (milliseconds since the epoch) is set back, the clock continues from its
 * last reading. Without that, if the wall clock were set back by an hour, a wait of two seconds would take an hour, and
 * an iteration could have a negative duration. If `wallClock` jumps forward, as after sleep of the machine, `now` jumps
 * too, because services measure their limits in real time. Node's monotonic clock can't be used: during sleep it stops
 * on Linux but continues on macOS and Windows.
 */
export function steadyClock(wallClock: () => number): Required<Clock> {
  let lastTime = wallClock();
  let correction = 0;
  let watcherCount = 0;
  let tickTimer: NodeJS.Timeout | undefined;
  const sleeps: Span[] = [];
  const now = (): number => {
    const time = wallClock() + correction;
    if (time < lastTime) correction += lastTime - time;
    else if (watcherCount > 0 && time - lastTime >= minSleepMs) sleeps.push({ from: lastTime, until: time });
    lastTime = Math.max(lastTime, time);
    return lastTime;
  };
  return {
    now,
    sleeps: () => sleeps,
    watch() {
      now();
      watcherCount += 1;
      tickTimer ??= setInterval(now, tickMs).unref();
      return () => {
        watcherCount -= 1;
        if (watcherCount > 0) return;
        clearInterval(tickTimer);
        tickTimer = undefined;
      };
    },
    /** Waits in slices of ten seconds, so that the wait ends on time after sleep of the machine. */
    async sleep(until, signal) {
      for (let remainingMs = until - now(); !signal.aborted && remainingMs > 0; remainingMs = until - now()) {
        await new Promise<void>((resolve) => {
          const wake = () => {
            clearTimeout(timer);
            signal.removeEventListener("abort", wake);
            resolve();
          };
          const timer = setTimeout(wake, Math.min(remainingMs, 10_000));
          signal.addEventListener("abort", wake);
        });
      }
    },
  };
}

/** The clock of the machine. */
export const systemClock: Required<Clock> = steadyClock(Date.now);

/** Starts to measure how many milliseconds the machine is awake from now on. `stop` ends the detection of sleep. */
export function startStopwatch(clock: Clock): { awakeMs(): number; stop(): void } {
  const unwatch = clock.watch?.();
  const startedAt = clock.now();
  return { awakeMs: () => awakeBetween(startedAt, clock.now(), clock.sleeps?.()), stop: () => unwatch?.() };
}

/** The abort reason of a signal of `timeoutSignal`. */
export const timeoutReason = "time";

/**
 * A signal that aborts after the machine was awake for `ms` milliseconds. `ms` may be any length; a system timer waits
 * at most 24 days and fires at once for more. `clear` ends the wait.
 */
export function timeoutSignal(ms: number, clock: Clock): { signal: AbortSignal; clear(): void } {
  const timeoutController = new AbortController();
  const cancelController = new AbortController();
  const awakeTime = startStopwatch(clock);
  const wait = async (): Promise<void> => {
    for (
      let remainingMs = ms;
      remainingMs > 0 && !cancelController.signal.aborted;
      remainingMs = ms - awakeTime.awakeMs()
    )
      await clock.sleep(clock.now() + remainingMs, cancelController.signal);
    awakeTime.stop();
    if (!cancelController.signal.aborted) timeoutController.abort(timeoutReason);
  };
  void wait();
  return { signal: timeoutController.signal, clear: () => cancelController.abort() };
}

/**
 * The value of a promise; undefined if `deadline` (ms since the epoch) passes or `signal` is aborted first.
 */
export async function beforeDeadline<Value>(
  promise: Promise<Value>,
  deadline: number,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Value | undefined> {
  if (signal.aborted || clock.now() >= deadline) return undefined;
  const done = new AbortController();
  try {
    const timeout = clock.sleep(deadline, AbortSignal.any([signal, done.signal])).then(() => undefined);
    return await Promise.race([promise, timeout]);
  } finally {
    done.abort();
  }
}

/** The text of a duration for limits that the user has set: "1.8 seconds", "1 minute", "90 minutes". */
export function durationText(ms: number): string {
  const [value, unit] = ms < 60_000 ? [ms / 1000, "second"] : [ms / 60_000, "minute"];
  const roundedValue = Math.round(value * 10) / 10;
  return `${roundedValue} ${unit}${roundedValue === 1 ? "" : "s"}`;
}

/** An ISO 8601 time in UTC, without the characters that some file systems refuse. `time`: ms since the epoch. */
export const timeForName = (time: number): string => new Date(time).toISOString().replaceAll(":", "-");
