import fc from "../support/runner/fast-check.js";
import { expect, test } from "vitest";
import { makeRanks } from "../../src/fleet/priorities.js";

test("jobs have the ranks 1, 2, 3; a rank that falls free goes to the job that waits longest", () => {
  const ranks = makeRanks();
  expect(["a", "b", "c", "d"].map((job) => ranks.add(job))).toEqual([1, 2, 3, 4]);
  ranks.started("a");
  ranks.started("b");
  expect(ranks.ended("b")).toEqual({ job: "c", rank: 2 });
  expect(ranks.add("e")).toBe(3);
  expect(ranks.ended("a")).toEqual({ job: "c", rank: 1 });
  ranks.started("c");
  expect(ranks.ended("c")).toEqual({ job: "d", rank: 1 });
  expect(ranks.ended("nobody")).toBeUndefined();
});

/** Two projects on so many places: who is served how often, when the lowest rank goes first. */
function served(lanes: readonly number[], places: number, rounds: number): number[] {
  const projects = lanes.map((count) => ({ ranks: makeRanks(), count, next: 0 }));
  const waiting: { id: string; project: number; rank: number; at: number }[] = [];
  const active: { id: string; project: number }[] = [];
  const done = lanes.map(() => 0);
  let clock = 0;
  const add = (project: number): void => {
    const own = projects[project];
    if (own === undefined) return;
    const id = `${project}-${own.next++}`;
    waiting.push({ id, project, rank: own.ranks.add(id), at: clock++ });
  };
  projects.forEach(({ count }, index) => {
    for (let lane = 0; lane < count; lane++) add(index);
  });
  for (let round = 0; round < rounds; round++) {
    waiting.sort((a, b) => a.rank - b.rank || a.at - b.at);
    for (const job of waiting.splice(0, places - active.length)) {
      active.push(job);
      projects[job.project]?.ranks.started(job.id);
    }
    for (const { id, project } of active.splice(0)) {
      done[project] = (done[project] ?? 0) + 1;
      const promoted = projects[project]?.ranks.ended(id);
      const job = waiting.find(({ id: each }) => each === promoted?.job);
      if (job !== undefined && promoted !== undefined) job.rank = promoted.rank;
      add(project);
    }
  }
  return done;
}

test("four lanes beside forty or four hundred have half of eight places, and so have two large projects", () => {
  const [few = 0, many = 0] = served([4, 40], 8, 100);
  expect(few).toBeGreaterThanOrEqual(350);
  expect(many).toBeGreaterThanOrEqual(350);
  const [less = 0, more = 0] = served([40, 400], 8, 100);
  expect(Math.abs(less - more)).toBeLessThanOrEqual(80);
});

test("whatever ends, the jobs of a project have different ranks, the lowest that there can be", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat(20)), { maxLength: 200 }), (steps) => {
      const ranks = makeRanks();
      const live: string[] = [];
      const held = new Map<string, number>();
      let [next, most] = [0, 0];
      for (const [adds, at] of steps) {
        if (adds || live.length === 0) {
          const id = String(next++);
          live.push(id);
          held.set(id, ranks.add(id));
          most = Math.max(most, live.length);
        } else {
          const [id = ""] = live.splice(at % live.length, 1);
          const promoted = ranks.ended(id);
          held.delete(id);
          if (promoted !== undefined) {
            expect(held.get(promoted.job)).toBeGreaterThan(promoted.rank);
            held.set(promoted.job, promoted.rank);
          }
        }
        expect(new Set(held.values()).size).toBe(held.size);
        expect(Math.max(0, ...held.values())).toBeLessThanOrEqual(most);
      }
    }),
  );
});
