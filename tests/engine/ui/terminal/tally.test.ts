import { expect, test } from "vitest";
import type { LoopEvent } from "../../../../src/engine/loop/types.js";
import {
  costText,
  emptyTally,
  shortForecastText,
  usageSoFar,
  addToTally,
} from "../../../../src/engine/ui/terminal/tally.js";
import { event } from "../events.js";

const estimate = event.agent(2, {
  type: "usage",
  usage: { input: 900, cached: 0, output: 100, requests: 1 },
  cost_usd: 0.5,
  estimated: true,
});
const after = (...events: LoopEvent[]) => usageSoFar(events.reduce(addToTally, emptyTally));

test("a cost is marked as our estimate while it is one: not any more once the CLI has reported its own", () => {
  const began = [event.runStarted(), event.started(1), estimate];
  expect(after(...began)).toContain("≈ $0.50");
  expect(after(...began, event.usage(3, 900, 100, 0.4))).toContain(" · $0.40");
  const ended = event.ended(4, { outcome: "accepted", summary: "read" }, 0.12);
  expect(after(...began, ended)).toContain(" · $0.12");
  expect(after(...began, { ...ended, estimated: true } as LoopEvent)).toContain("≈ $0.12");
});

test("a cost that no agent reported is not known, and one that some reported is at least that", () => {
  const silent = { ...event.ended(4, { outcome: "accepted", summary: "read" }), cost_usd: undefined } as LoopEvent;
  const free = { ...silent, cost_usd: 0 } as LoopEvent;
  const paid = { ...silent, cost_usd: 0.12 } as LoopEvent;
  expect(after(event.runStarted(), silent)).toBe("36.1k tokens · cost not known");
  expect(after(event.runStarted(), silent, free)).toBe("72.2k tokens · cost not known");
  expect(after(event.runStarted(), silent, paid)).toBe("72.2k tokens · at least $0.12");
  expect(costText({ cost_usd: 0, unreported: 10 })).toBe("not known");
  expect(costText({ cost_usd: 0.12, unreported: 10 })).toBe("at least $0.12; 10 iterations reported no cost");
  expect(costText({ cost_usd: 0 })).toBe("$0.00");
});

test("what is left is told in short as money and time, or tokens and time where the price is not known", () => {
  const forecast = { papers: 3, iterations: 4, tokens: 90_000, seconds: 4200, from: "elsewhere" };
  expect(shortForecastText({ ...forecast, cost_usd: 1.42 })).toBe("≈ $1.42 and 1h 10m left");
  expect(shortForecastText(forecast)).toBe("≈ 90.0k tokens and 1h 10m left");
});
