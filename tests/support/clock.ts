import { onTestFinished, vi } from "vitest";
import type { Clock, Span } from "../../src/engine/lib/clock.js";

/** More sleeps than any test has: what sleeps more often goes round without an end, and is to fail, not to hang. */
const mostSleeps = 20_000;

/** A clock that stands still until it is told to move; sleeping moves it. */
export function fakeClock(
  start = Date.parse("2026-01-01T00:00:00Z"),
): Clock & { advance(ms: number): void; suspend(ms: number): void } {
  let now = start;
  let sleeps = 0;
  const asleep: Span[] = [];
  return {
    now: () => now,
    async sleep(until, signal) {
      if ((sleeps += 1) > mostSleeps) throw new Error(`the test slept ${mostSleeps} times; it has no end`);
      if (!signal.aborted) now = Math.max(now, until);
    },
    advance(ms) {
      now += ms;
    },
    sleeps: () => asleep,
    /** The machine sleeps for so long. */
    suspend(ms) {
      asleep.push({ from: now, until: now + ms });
      now += ms;
    },
  };
}

/** Lets `Date.now` go on by a second each time that it is asked, until the test ends: a wait by it is soon over. */
export function hastenDates(): void {
  let now = Date.now();
  const dates = vi.spyOn(Date, "now").mockImplementation(() => (now += 1000));
  onTestFinished(() => dates.mockRestore());
}
