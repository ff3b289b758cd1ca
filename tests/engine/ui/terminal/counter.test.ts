import { afterEach, expect, test, vi } from "vitest";
import { systemClock } from "../../../../src/engine/lib/clock.js";
import { createCounter } from "../../../../src/engine/ui/terminal/counter.js";
import { timeLeftText } from "../../../../src/engine/ui/terminal/format.js";
import { fakeIo } from "../fake-io.js";
import { screenOf } from "../screen.js";

afterEach(() => void vi.useRealTimers());

test("the steps of a command are a line that moves on a terminal and goes at the end, in a log a line every 15 seconds", () => {
  vi.useFakeTimers();
  const clock = { ...systemClock, now: () => Date.now() };
  const [terminal, log] = [fakeIo({ isTTY: true, columns: 60, clock }), fakeIo({ clock })];
  const counters = [terminal, log].map((io) => createCounter(io, "Looking up", 200));
  for (let done = 1; done <= 40; done += 1) {
    vi.advanceTimersByTime(1000);
    for (const each of counters) each.step(done);
  }
  expect(screenOf(terminal.err(), 60).join("\n").trim()).toBe("Looking up 39 of 200, about 2m 45s left");
  for (const each of counters) each.close();
  expect(screenOf(terminal.err(), 60).join("\n").trim()).toBe("");
  expect(log.err()).toBe("Looking up 14 of 200, about 3m 19s left\nLooking up 29 of 200, about 2m 56s left\n");
});

test("nobody is told how long steps take before a few are done", () => {
  expect([timeLeftText(2, 10, 5000), timeLeftText(5, 10, 5000), timeLeftText(10, 10, 5000)]).toEqual([
    "",
    ", about 5s left",
    "",
  ]);
});
