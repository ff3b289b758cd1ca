/** Time, injected so that tests need not wait. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Looks from now on whether the machine sleeps, until its answer is called. Absent: it never does. */
  watch?(): () => void;
  /** The spans in which the machine slept while it was watched, oldest first. Absent: it never does. */
  sleeps?(): readonly Span[];
  /** Resolves at `until`, or as soon as `signal` aborts. Never rejects. */
  sleep(until: number, signal: AbortSignal): Promise<void>;
}

/** Times in milliseconds since the epoch. */
export interface Span {
  readonly from: number;
  readonly until: number;
}

/** Milliseconds between two times in which the machine did not sleep; never negative. */
export function awakeBetween(from: number, until: number, sleeps: readonly Span[] = []): number {
  const asleep = sleeps.map((sleep) => Math.min(until, sleep.until) - Math.max(from, sleep.from));
  return Math.max(0, until - from - asleep.reduce((sum, ms) => sum + Math.max(0, ms), 0));
}

/** How often a watched clock is read, in milliseconds; from the other time between two readings on, it was a sleep. */
const tickMs = 5_000;
const minSleepMs = 30_000;

/**
 * A clock that never goes back: where `wall` (milliseconds since the epoch) is set back, it goes on from the last
 * reading. An hour set back would otherwise make a wait of two seconds one of an hour, stretch the limit of a run, and
 * give an iteration a negative duration. Where it goes forward between two ticks, as while a laptop slept, `now` goes
 * forward too, because the limits of services end by the time of the world; `sleeps` says which time nobody worked. The
 * monotonic clock of Node does not tell: it stops in sleep on Linux, and goes on on macOS and Windows.
 */
export function steadyClock(wall: () => number): Required<Clock> {
  let last = wall();
  let setBack = 0;
  let watching = 0;
  let ticks: NodeJS.Timeout | undefined;
  const sleeps: Span[] = [];
  const now = (): number => {
    const time = wall() + setBack;
    if (time < last) setBack += last - time;
    else if (watching > 0 && time - last >= minSleepMs) sleeps.push({ from: last, until: time });
    last = Math.max(last, time);
    return last;
  };
  return {
    now,
    sleeps: () => sleeps,
    watch() {
      now();
      watching += 1;
      ticks ??= setInterval(now, tickMs).unref();
      return () => {
        watching -= 1;
        if (watching > 0) return;
        clearInterval(ticks);
        ticks = undefined;
      };
    },
    /** Sleeps in slices, so a laptop that was suspended wakes up on time. */
    async sleep(until, signal) {
      for (let left = until - now(); !signal.aborted && left > 0; left = until - now()) {
        await new Promise<void>((resolve) => {
          const wake = () => {
            clearTimeout(timer);
            signal.removeEventListener("abort", wake);
            resolve();
          };
          const timer = setTimeout(wake, Math.min(left, 10_000));
          signal.addEventListener("abort", wake);
        });
      }
    },
  };
}

/** The machine's own time. */
export const systemClock: Required<Clock> = steadyClock(Date.now);

/** Tells how many milliseconds the machine was awake since now, until `stop` is called. */
export function stopwatch(clock: Clock): { awakeMs(): number; stop(): void } {
  const unwatch = clock.watch?.();
  const began = clock.now();
  return { awakeMs: () => awakeBetween(began, clock.now(), clock.sleeps?.()), stop: () => unwatch?.() };
}

/** The reason of a signal that `abortedAfter` has aborted. */
export const timeIsUp = "time";

/**
 * A signal that aborts once the machine was awake for `ms` milliseconds, however many: the timers of the system wait 24
 * days at most, and fire at once for more. `clear` ends the wait.
 */
export function abortedAfter(ms: number, clock: Clock): { signal: AbortSignal; clear(): void } {
  const over = new AbortController();
  const cleared = new AbortController();
  const watch = stopwatch(clock);
  const wait = async (): Promise<void> => {
    for (let left = ms; left > 0 && !cleared.signal.aborted; left = ms - watch.awakeMs())
      await clock.sleep(clock.now() + left, cleared.signal);
    watch.stop();
    if (!cleared.signal.aborted) over.abort(timeIsUp);
  };
  void wait();
  return { signal: over.signal, clear: () => cleared.abort() };
}

/** A span of time in words, for limits that a person has set: "1.8 seconds", "1 minute", "90 minutes". */
export function spanInWords(ms: number): string {
  const [value, unit] = ms < 60_000 ? [ms / 1000, "second"] : [ms / 60_000, "minute"];
  const rounded = Math.round(value * 10) / 10;
  return `${rounded} ${unit}${rounded === 1 ? "" : "s"}`;
}

/** A time, ISO 8601 in UTC, as every file system takes it in a name. `at`: milliseconds since the epoch. */
export const timeForName = (at: number): string => new Date(at).toISOString().replaceAll(":", "-");
