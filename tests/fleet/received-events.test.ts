import fc from "../support/runner/fast-check.js";
import { expect, test } from "vitest";
import { makeJobEvents } from "../../src/fleet/received-events.js";
import type { Entry } from "../../src/fleet/talk.js";
import type { FleetItem } from "../../src/engine/generated/fleet-item.js";

const entry = (attempt: number, sequence: number, ...items: FleetItem[]): Entry => ({
  job: "j",
  attempt,
  sequence,
  items,
});
const begun = (worker: string): FleetItem => ({ type: "begun", worker, confinement: "workspace" });
const text = (said: string): FleetItem => ({ type: "text", text: said });
const end: FleetItem = { type: "end", message: "done" };
const usage = (input: number, cost_usd?: number): FleetItem => ({
  type: "usage",
  usage: { input, cached: 1, output: 2, requests: 1 },
  ...(cost_usd === undefined ? {} : { cost_usd }),
});

test("an older attempt is not heard once a newer one has spoken, and the change is told", () => {
  const hearing = makeJobEvents();
  hearing.newEventsOf(entry(1, 0, begun("first"), text("a")));
  const told = hearing.newEventsOf(entry(2, 0, begun("second")));
  expect(told).toEqual([
    { type: "notice", message: expect.stringContaining("second starts the job again (attempt 2): first") },
    begun("second"),
  ]);
  expect(hearing.newEventsOf(entry(1, 1, text("late"), end))).toEqual([]);
  expect(hearing.newEventsOf(entry(2, 1, end))).toEqual([end]);
  expect(hearing.worker()).toBe("second");
});

test("nothing is heard after the first end, of a newer attempt neither", () => {
  const hearing = makeJobEvents();
  expect(hearing.newEventsOf(entry(1, 0, begun("w"), end, text("after")))).toEqual([begun("w"), end]);
  expect(hearing.newEventsOf(entry(2, 0, begun("x"), end))).toEqual([]);
});

test("an entry that was sent twice is heard once", () => {
  const hearing = makeJobEvents();
  expect(hearing.newEventsOf(entry(1, 0, begun("w"), text("a")))).toHaveLength(2);
  expect(hearing.newEventsOf(entry(1, 0, begun("w"), text("a")))).toEqual([]);
  expect(hearing.newEventsOf(entry(1, 1, text("b")))).toEqual([text("b")]);
});

test("what lost attempts used is added to what the next one tells", () => {
  const hearing = makeJobEvents();
  hearing.newEventsOf(entry(1, 0, begun("a"), usage(100, 0.5), usage(300, 1)));
  hearing.newEventsOf(entry(2, 0, begun("b"), usage(10, 0.25)));
  const [, , third] = hearing.newEventsOf(entry(3, 0, begun("c"), usage(1)));
  expect(third).toMatchObject({ usage: { input: 311, cached: 3, output: 6, requests: 3 }, cost_usd: 1.25 });
});

test("whatever order entries come in, attempts never go back and there is at most one end", () => {
  const items = fc.constantFrom<FleetItem>(begun("w"), text("t"), end, usage(1));
  const entries = fc.array(
    fc.record({
      job: fc.constant("j"),
      attempt: fc.integer({ min: 1, max: 4 }),
      sequence: fc.nat(6),
      items: fc.array(items, { maxLength: 4 }),
    }),
  );
  fc.assert(
    fc.property(entries, (all) => {
      const hearing = makeJobEvents();
      let newest = 0;
      let ends = 0;
      for (const each of all) {
        const heard = hearing.newEventsOf(each);
        if (each.attempt < newest) expect(heard).toEqual([]);
        if (ends > 0) expect(heard).toEqual([]);
        newest = Math.max(newest, ends > 0 ? newest : each.attempt);
        ends += heard.filter(({ type }) => type === "end").length;
      }
      expect(ends).toBeLessThanOrEqual(1);
    }),
  );
});
