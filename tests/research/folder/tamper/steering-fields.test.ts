import { describe, expect, it } from "vitest";
import { keepSteering } from "../../../../src/research/folder/tamper/steering-fields.js";
import { paper, rrdWith } from "../../../support/research.js";

const before = rrdWith(
  [paper("p1", { status: "presented", score: 30, decision: "PRESENT", notes: "Solid." }), paper("p2")],
  {
    insights: [{ insight: "i" }],
  },
);

describe("an edit of rrd.json while an unconfined agent works", () => {
  it("is kept whole where it only steers", () => {
    const now = {
      ...before,
      my_note: "mine",
      requirements: { ...before.requirements, keywords: ["other"] },
      papers_pool: [before.papers_pool[0]!, { ...before.papers_pool[1]!, priority: 5 }, paper("p3")],
    };
    expect(keepSteering(before, now)).toEqual({
      rrd: now,
      forged: false,
      kept: expect.arrayContaining(["my_note", "requirements", "p2", "p3"]),
    });
  });

  it("loses every result that it changed, and keeps the rest", () => {
    const now = {
      ...before,
      phase: "COMPLETE" as const,
      insights: [],
      statistics: { total_presented: 99 },
      my_note: "mine",
      papers_pool: [
        { ...before.papers_pool[0]!, score: 1 },
        {
          ...before.papers_pool[1]!,
          status: "presented" as const,
          decision: "PRESENT",
          analysis: { summary: "forged" },
        },
      ],
    };
    const { rrd, forged } = keepSteering(before, now);
    expect(forged).toBe(true);
    expect(rrd).toEqual({ ...before, my_note: "mine" });
  });

  it("removes no paper: taking pending ones away would make the work look done", () => {
    const { rrd, forged } = keepSteering(before, { ...before, papers_pool: before.papers_pool.slice(0, 1) });
    expect([forged, rrd.papers_pool.map(({ id }) => id)]).toEqual([true, ["p1", "p2"]]);
  });

  it("adds papers only as pending, whatever it says of them", () => {
    const { rrd } = keepSteering(before, {
      ...before,
      papers_pool: [...before.papers_pool, paper("p3", { status: "presented", score: 50, decision: "PRESENT" })],
    });
    expect(rrd.papers_pool[2]).toEqual({ ...paper("p3"), status: "pending" });
  });

  it("that changes nothing is no edit", () => {
    expect(keepSteering(before, structuredClone(before))).toMatchObject({ forged: false, kept: [] });
  });
});
