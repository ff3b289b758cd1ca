import { describe, expect, it } from "vitest";
import type { Rrd } from "../../../../src/research/generated/rrd.js";
import {
  type Change,
  changesBetween,
  completeChange,
  type JournalledChange,
  mergeChanges,
  undoChanges,
} from "../../../../src/engine/storage/records/record-merge.js";
import { pendingPaper, sampleRrd } from "../../../support/folders.js";

const rrd = sampleRrd(2);
const complete = (change: Change, base: Rrd = rrd) => completeChange(change, base);
const merge = (change: Change, disk: Rrd = rrd, base: Rrd = rrd, putBack = true) =>
  mergeChanges(disk, [complete(change, base)], putBack);
const insight = (id: string, over: object = {}) => ({ id, paper_id: "sample_1", insight: `Of ${id}.`, ...over });

describe("what the loop remembers", () => {
  const observation = { iteration: 1, unit: "sample_1", outcome: "accepted" as const };
  const withLoop: Rrd = { ...rrd, loop: { iteration: 1, observations: [observation] } };
  const next = { ...observation, iteration: 2 };

  it("is merged within its own object, which is made where there is none, and nothing beside it", () => {
    const change: Change = { in: "loop", set: { iteration: 2 }, add: { observations: [next] } };
    expect(merge(change, withLoop, withLoop).rrd).toEqual({
      ...rrd,
      loop: { iteration: 2, observations: [observation, next] },
    });
    expect(merge(change).rrd).toEqual({ ...rrd, loop: { iteration: 2, observations: [next] } });
  });

  it("is kept by the journal as far as it changes, with what was new in it", () => {
    expect(
      complete({ in: "loop", set: { iteration: 2 }, add: { observations: [observation, next] } }, withLoop),
    ).toEqual({
      in: "loop",
      set: { iteration: 2 },
      was: { iteration: 1 },
      add: { observations: [next] },
    });
  });

  it("is taken back by an undo", () => {
    const change = complete({ in: "loop", set: { iteration: 2 }, add: { observations: [next] } }, withLoop);
    expect(undoChanges(mergeChanges(withLoop, [change], true).rrd, [change])).toEqual(withLoop);
    const first = complete({ in: "loop", set: { iteration: 2 } });
    expect(undoChanges(mergeChanges(rrd, [first], true).rrd, [first])).toEqual({ ...rrd, loop: {} });
  });
});

describe("a record that was removed by hand", () => {
  const without: Rrd = { ...rrd, papers_pool: [pendingPaper(2)] };
  const change: Change = { in: "papers_pool", id: "sample_1", set: { status: "presented" } };

  it("is back with its result where that was accepted, and the person is told how to drop it", () => {
    const merged = merge(change, without);
    expect(merged.rrd.papers_pool).toEqual([pendingPaper(2), { ...pendingPaper(1), status: "presented" }]);
    expect(merged.notices).toEqual([
      "sample_1 was removed from rrd.json by hand although it is done; it is back. To drop it, reset it first.",
    ]);
  });

  it("stays out where it was not, and that is told", () => {
    expect(merge(change, without, rrd, false)).toEqual({
      rrd: without,
      notices: ["sample_1 was removed from rrd.json by hand and stays out."],
    });
  });
});

describe("a change", () => {
  it("of several fields that a person changed names them all", () => {
    const disk: Rrd = {
      ...rrd,
      papers_pool: [{ ...pendingPaper(1), notes: "mine", score: 3 }],
      description: "mine",
      project: "mine",
    };
    expect(merge({ in: "papers_pool", id: "sample_1", set: { score: 9, notes: "ours" } }, disk).notices).toEqual([
      "You changed score, notes of sample_1 during the run; your version stays.",
    ]);
    expect(merge({ in: "rrd", set: { project: "ours", description: "ours" } }, disk).notices).toEqual([
      "You changed project, description of rrd.json during the run; your version stays.",
    ]);
  });

  it("of one list leaves a file without the other as it is", () => {
    const { insights: _, ...bare } = rrd;
    const merged = merge({ in: "papers_pool", id: "sample_1", set: { score: 9 } }, bare as Rrd, bare as Rrd);
    expect(Object.keys(merged.rrd)).toEqual(Object.keys(bare));
    expect(merge({ in: "rrd", set: {} }).rrd.papers_pool).toBe(rrd.papers_pool);
    expect(
      mergeChanges(bare as Rrd, [{ in: "papers_pool", id: "nobody", set: {}, was: null, remove: true }], true).rrd,
    ).toEqual(bare);
  });

  it("that makes a record gives it its id", () => {
    expect(merge({ in: "insights", id: "insight_001", set: { insight: "It works." }, was: null }).rrd.insights).toEqual(
      [{ id: "insight_001", insight: "It works." }],
    );
  });

  it("that takes a record away takes all of that id, and leaves those without one", () => {
    const twice: Rrd = {
      ...rrd,
      insights: [{ insight: "a" }, insight("x"), insight("y"), insight("x", { insight: "again" }), { insight: "b" }],
    };
    const change: JournalledChange = { in: "insights", id: "x", set: {}, was: insight("x"), remove: true };
    expect(mergeChanges(twice, [change], true).rrd.insights).toEqual([
      { insight: "a" },
      insight("y"),
      { insight: "b" },
    ]);
  });

  it("of the first of two records of one id leaves the second", () => {
    const twice: Rrd = { ...rrd, insights: [insight("x"), insight("x", { insight: "again" })] };
    const change: JournalledChange = { in: "insights", id: "x", set: { tags: ["t"] }, was: insight("x") };
    expect(mergeChanges(twice, [change], true).rrd.insights).toEqual([
      insight("x", { tags: ["t"] }),
      insight("x", { insight: "again" }),
    ]);
  });

  it("between two states is none of records without an id, and of those with one id of the first", () => {
    const before: Rrd = { ...rrd, insights: [{ insight: "a" }, insight("x"), insight("x", { insight: "again" })] };
    const after: Rrd = {
      ...rrd,
      insights: [{ insight: "b" }, insight("x", { tags: [] }), insight("x", { insight: "another" })],
    };
    expect(changesBetween(before, after)).toEqual([{ in: "insights", id: "x", set: { tags: [] }, was: {}, unset: [] }]);
  });

  it("between two states tells of a field that is new that it was not there", () => {
    const [change] = changesBetween(rrd, { ...rrd, description: "new" });
    expect(Object.keys(change?.was ?? { description: 1 })).toEqual([]);
  });

  it("that gives fields and takes others away is undone to the state before", () => {
    const before: Rrd = { ...rrd, mine: 1, papers_pool: [{ ...pendingPaper(1), old: 2 }] };
    const after: Rrd = { ...rrd, description: "new", papers_pool: [{ ...pendingPaper(1), young: 3 }] };
    const changes = changesBetween(before, after).map((change) => complete(change, before));
    const merged = mergeChanges(before, changes, true).rrd;
    expect(merged).toEqual(after);
    expect(merged).not.toHaveProperty("mine");
    const undone = undoChanges(merged, changes);
    expect(undone).toEqual(before);
    expect(undone).not.toHaveProperty("description");
  });

  it("from a journal that says nothing of what was takes the fields away", () => {
    const change = { in: "rrd", set: { description: "new" } } as JournalledChange;
    expect(undoChanges({ ...rrd, description: "new" }, [change])).toEqual(rrd);
  });
});

describe("the number of an insight", () => {
  const change = (id: string, over: object = {}): JournalledChange =>
    ({ in: "insights", id, set: insight(id, { insight: "New." }), was: null, ...over }) as JournalledChange;
  const taken: Rrd = { ...rrd, insights: [insight("insight_007", { paper_id: "sample_2" })] };

  it("is the next free one where another paper's has it, and that is told", () => {
    const { rrd: after, notices } = mergeChanges(taken, [change("insight_007")], true);
    expect(after.insights?.map(({ id }) => id)).toEqual(["insight_007", "insight_008"]);
    expect(notices).toEqual(["insight_007 was taken meanwhile; the insight of sample_1 is insight_008."]);
    expect(undoChanges(after, [change("insight_007")])).toEqual(taken);
  });

  it("stays where nobody has it, and of an insight that was there before", () => {
    expect(mergeChanges(taken, [change("insight_001")], true).rrd.insights?.map(({ id }) => id)).toEqual([
      "insight_007",
      "insight_001",
    ]);
    const again = change("insight_007", { was: insight("insight_007"), set: { tags: ["t"] } });
    expect(mergeChanges(taken, [again], true)).toMatchObject({
      rrd: { insights: [{ id: "insight_007", tags: ["t"] }] },
      notices: [],
    });
  });

  it("is none that a new paper would get: its id is its own", () => {
    const paper = {
      in: "papers_pool",
      id: "sample_1",
      set: { ...pendingPaper(1), paper_id: "x" },
      was: null,
    } as JournalledChange;
    expect(mergeChanges(rrd, [paper], true).rrd.papers_pool.map(({ id }) => id)).toEqual(["sample_1", "sample_2"]);
  });

  it("counts on from numbers alone, whatever else insights are called", () => {
    const odd: Rrd = {
      ...taken,
      insights: [...(taken.insights ?? []), insight("insight_x"), insight("my_insight_99"), insight("insight_12b")],
    };
    expect(mergeChanges(odd, [change("insight_007")], true).rrd.insights?.at(-1)?.id).toBe("insight_008");
  });
});
