import { expect, test } from "vitest";
import { abortedAt, steadyClock, systemClock, spanInWords } from "../../../src/engine/lib/clock.js";

const hour = 3_600_000;
const never = new AbortController().signal;

test("a clock that is set back goes on from its last reading, however often", () => {
  const readings = [1000, 1500, 1500 - hour, 1700 - hour, 1600 - hour, 2600 - hour];
  const clock = steadyClock(() => readings.shift() ?? Number.NaN);
  expect([clock.now(), clock.now(), clock.now(), clock.now(), clock.now()]).toEqual([1500, 1500, 1700, 1700, 2700]);
});

test("time that passed unseen, as while a laptop slept, counts", () => {
  const readings = [1000, 1000 + hour];
  expect(steadyClock(() => readings.shift() ?? Number.NaN).now()).toBe(1000 + hour);
});

test("a sleep during which the clock is set back by an hour still ends", async () => {
  let setBack = 0;
  const clock = steadyClock(() => Date.now() - setBack);
  const sleeping = clock.sleep(clock.now() + 30, never);
  setBack = hour;
  await sleeping;
});

test("a sleep ends at once when its signal aborts", async () => {
  const stop = new AbortController();
  const clock = steadyClock(Date.now);
  const sleeping = clock.sleep(clock.now() + hour, stop.signal);
  stop.abort();
  await sleeping;
});

test("a time limit aborts when it is reached or when a signal of it does, and not where it is longer than a timer of the system", async () => {
  const outer = new AbortController();
  const [near, far] = [20, 60 * 24 * hour].map((ms) => abortedAt(systemClock.now() + ms, systemClock, outer.signal));
  if (near === undefined || far === undefined) throw new Error("no limits");
  await new Promise((resolve) => near.signal.addEventListener("abort", resolve));
  expect(far.signal.aborted).toBe(false);
  outer.abort("SIGINT");
  expect(far.signal.reason).toBe("SIGINT");
  far.clear();
});

test("a time limit that was cleared does not abort", async () => {
  const limit = abortedAt(systemClock.now() + hour, systemClock);
  limit.clear();
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(limit.signal.aborted).toBe(false);
});
test.each([
  [1_800, "1.8 seconds"],
  [1_000, "1 second"],
  [60_000, "1 minute"],
  [5_400_000, "90 minutes"],
])("%i ms are called %s", (ms, words) => {
  expect(spanInWords(ms)).toBe(words);
});
