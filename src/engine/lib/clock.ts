/** Time, injected so that tests need not wait. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves at `until`, or as soon as `signal` aborts. Never rejects. */
  sleep(until: number, signal: AbortSignal): Promise<void>;
}

/**
 * A clock that never goes back: where `wall` (milliseconds since the epoch) is set back, it goes on from the last
 * reading. An hour set back would otherwise make a wait of two seconds one of an hour, stretch the limit of a run, and
 * give an iteration a negative duration. Time that passed while a laptop slept counts, which a monotonic clock of the
 * system would leave out.
 */
export function steadyClock(wall: () => number): Clock {
  let last = wall();
  let setBack = 0;
  const now = (): number => {
    const time = wall() + setBack;
    if (time < last) setBack += last - time;
    last = Math.max(last, time);
    return last;
  };
  return {
    now,
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
export const systemClock: Clock = steadyClock(Date.now);

/** The reason of a signal that `abortedAt` has aborted. */
export const timeIsUp = "time";

/**
 * A signal that aborts when one of `signals` does, or at `until` (milliseconds since the epoch) however far that is:
 * the timers of the system wait 24 days at most, and fire at once for more. `clear` ends the wait.
 */
export function abortedAt(
  until: number,
  clock: Clock,
  ...signals: AbortSignal[]
): { signal: AbortSignal; clear(): void } {
  const over = new AbortController();
  const cleared = new AbortController();
  void clock.sleep(until, cleared.signal).then(() => {
    if (!cleared.signal.aborted) over.abort(timeIsUp);
  });
  return { signal: AbortSignal.any([...signals, over.signal]), clear: () => cleared.abort() };
}

/** A span of time in words, for limits that a person has set: "1.8 seconds", "1 minute", "90 minutes". */
export function spanInWords(ms: number): string {
  const [value, unit] = ms < 60_000 ? [ms / 1000, "second"] : [ms / 60_000, "minute"];
  const rounded = Math.round(value * 10) / 10;
  return `${rounded} ${unit}${rounded === 1 ? "" : "s"}`;
}

/** A time, ISO 8601 in UTC, as every file system takes it in a name. `at`: milliseconds since the epoch. */
export const timeForName = (at: number): string => new Date(at).toISOString().replaceAll(":", "-");
