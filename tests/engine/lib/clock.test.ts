import { expect, onTestFinished, test, vi } from "vitest";
import {
  timeoutSignal,
  awakeBetween,
  steadyClock,
  startStopwatch,
  systemClock,
  durationText,
} from "../../../src/engine/lib/clock.js";
import { fakeClock } from "../../support/clock.js";

const hour = 3_600_000;
const never = new AbortController().signal;

test("a clock that is set back goes on from its last reading, however often", () => {
  const readings = [1000, 1500, 1500 - hour, 1700 - hour, 1600 - hour, 2600 - hour];
  const clock = steadyClock(() => readings.shift() ?? Number.NaN);
  expect([clock.now(), clock.now(), clock.now(), clock.now(), clock.now()]).toEqual([1500, 1500, 1700, 1700, 2700]);
});

test("time that passed unseen, as while a laptop slept, is time of the world", () => {
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

test("a time limit aborts when it is reached, and not where it is longer than a timer of the system", async () => {
  const [near, far] = [20, 60 * 24 * hour].map((ms) => timeoutSignal(ms, systemClock));
  if (near === undefined || far === undefined) throw new Error("no limits");
  await new Promise((resolve) => near.signal.addEventListener("abort", resolve));
  expect(near.signal.reason).toBe("time");
  expect(far.signal.aborted).toBe(false);
  far.clear();
});

test("a time limit does not end while the machine sleeps", async () => {
  const clock = fakeClock();
  clock.suspend(hour);
  const start = clock.now();
  let slept = false;
  const { sleep } = clock;
  // Asleep in the first half of the wait: it ended with the machine, and half of the limit is left.
  clock.sleep = async (until, signal) => {
    if (slept) return await sleep(until, signal);
    slept = true;
    clock.advance(hour / 2);
    clock.suspend(9 * hour);
  };
  const limit = timeoutSignal(hour, clock);
  await new Promise((resolve) => limit.signal.addEventListener("abort", resolve));
  expect(clock.now() - start).toBe(10 * hour);
});

test("a watched clock tells a sleep of the machine from its readings, and one that nobody watches tells of none", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const clock = steadyClock(Date.now);
  vi.setSystemTime(Date.now() + hour);
  clock.now();
  expect(clock.sleeps()).toEqual([]);
  const watch = startStopwatch(clock);
  vi.advanceTimersByTime(2 * hour);
  const until = clock.now();
  vi.setSystemTime(until + 3 * hour);
  expect(watch.awakeMs()).toBe(2 * hour);
  vi.advanceTimersByTime(60_000);
  expect(clock.now() - until).toBe(3 * hour + 60_000);
  expect(watch.awakeMs()).toBe(2 * hour + 60_000);
  expect(clock.sleeps()).toEqual([{ from: until, until: until + 3 * hour }]);
  watch.stop();
  vi.setSystemTime(Date.now() + hour);
  clock.now();
  expect(clock.sleeps()).toHaveLength(1);
});

test("of a span the sleeps in it are left out, those that reach over its ends in part", () => {
  const sleeps = [
    { from: 0, until: 10 },
    { from: 20, until: 40 },
    { from: 90, until: 200 },
  ];
  expect(awakeBetween(5, 100, sleeps)).toBe(95 - 5 - 20 - 10);
  expect(awakeBetween(25, 30, sleeps)).toBe(0);
  expect(awakeBetween(30, 25)).toBe(0);
});

test("a time limit that was cleared does not abort", async () => {
  const limit = timeoutSignal(hour, systemClock);
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
  expect(durationText(ms)).toBe(words);
});
