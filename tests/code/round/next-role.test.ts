import fc from "../../support/runner/fast-check.js";
import { describe, expect, it } from "vitest";
import type { Step } from "../../../src/task/generated/ralph-state.js";
import { loadMachine } from "../../../src/code/round/next-role.js";

const placeOf = await loadMachine();
const at = "2026-01-01T00:00:00.000Z";
const after = (events: readonly Step["event"][], hasAdversary = true) =>
  placeOf(
    events.map((event) => ({ role: "librarian", event, at })),
    hasAdversary,
  );

describe("the order of the roles", () => {
  it.each([
    [[], "librarian"],
    [["ok"], "artisan"],
    [["ok", "ok"], "critic"],
    [["ok", "ok", "approve"], "tests"],
    [["ok", "ok", "revise"], "artisan"],
    [["ok", "ok", "revise", "ok"], "tests"],
    [["ok", "ok", "approve", "fail"], "completion"],
    [["ok", "ok", "approve", "pass"], "adversary"],
    [["ok", "ok", "approve", "pass", "failed"], "completion"],
    [["ok", "ok", "approve", "pass", "refused"], "completion"],
    [["refused", "failed"], "librarian"],
    [["refused", "failed", "refused"], "error"],
    [["refused", "failed", "ok", "failed", "failed"], "artisan"],
    [["ok", "ok", "refused", "refused", "approve"], "tests"],
    [["ok", "ok", "refused", "failed"], "critic"],
    [["ok", "ok", "refused", "failed", "refused"], "tests"],
    [["ok", "ok", "refused", "failed", "refused", "pass"], "adversary"],
  ] as const)("after %j comes %s", (events, place) => {
    expect(after(events)).toBe(place);
  });

  it("goes from passing tests to the end where there is no adversary", () => {
    expect(after(["ok", "ok", "approve", "pass"], false)).toBe("completion");
  });

  it("asks for one revision at most, and says the same of the same outcomes", () => {
    const events = fc.constantFrom<Step["event"]>("ok", "approve", "revise", "pass", "fail", "refused", "failed");
    fc.assert(
      fc.property(fc.array(events, { maxLength: 20 }), (all) => {
        expect(after(all)).toBe(after(all));
        const places = all.map((_, index) => after(all.slice(0, index + 1)));
        const revisions = places.filter((place, index) => place === "artisan" && places[index - 1] === "critic");
        expect(revisions.length).toBeLessThanOrEqual(1);
      }),
      { numRuns: 50 },
    );
  });
});
