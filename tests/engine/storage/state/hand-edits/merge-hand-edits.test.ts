import fc from "../../../../support/runner/fast-check.js";
import { describe, expect, it } from "vitest";
import type { Rrd } from "../../../../../src/research/generated/rrd.js";
import {
  type Change,
  changesBetween,
  completeChange,
  mergeChanges,
  undoChanges,
  type JournalledChange,
} from "../../../../support/projects/rrd-merge.js";
import { mergeChanges as merged } from "../../../../../src/engine/storage/state/hand-edits/merge-hand-edits.js";
import { type Task, taskFormat } from "../../../../support/projects/task-format.js";
import { formatRrd } from "../../../../../src/research/project-files/rrd-file.js";
import { paperOf, pendingPaper, sampleRrd } from "../../../../support/folders.js";

const complete = (rrd: Rrd, ...changes: Change[]) => changes.map((change) => completeChange(change, rrd));
const merge = (disk: Rrd, base: Rrd, ...changes: Change[]) => mergeChanges(disk, complete(base, ...changes), true);
const set = (id: string, fields: Record<string, unknown>): Change => ({ in: "papers_pool", id, set: fields });

const value = fc.constantFrom<unknown>("pending", "presented", 1, 2, ["x"], { deep: [1] }, true);
const fields = fc.dictionary(fc.constantFrom("score", "notes", "mine", "other"), value);
const pool = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"), { maxLength: 4 });
const state = fc
  .tuple(pool, fc.array(fields, { minLength: 4, maxLength: 4 }), fields)
  .map(([ids, records, top]): Rrd => ({
    ...sampleRrd(0),
    ...top,
    papers_pool: ids.map((id, n) => ({ ...pendingPaper(n), ...records[n], id })) as Rrd["papers_pool"],
  }));
const sorted = (rrd: Rrd) => ({ ...rrd, papers_pool: rrd.papers_pool.toSorted((a, b) => a.id.localeCompare(b.id)) });

describe("merging", () => {
  it("twice gives the same as once", () => {
    fc.assert(
      fc.property(state, state, state, (base, after, disk) => {
        const changes = complete(base, ...changesBetween(base, after));
        const once = mergeChanges(disk, changes, true).rrd;
        expect(formatRrd(mergeChanges(once, changes, true).rrd)).toBe(formatRrd(once));
      }),
    );
  });

  it("into the state the changes were made from gives the state they lead to, and undoing gives it back", () => {
    fc.assert(
      fc.property(state, state, (base, after) => {
        const changes = complete(base, ...changesBetween(base, after));
        const { rrd, notices } = mergeChanges(base, changes, true);
        expect(sorted(rrd)).toEqual(sorted(after));
        expect(notices).toEqual([]);
        expect(sorted(undoChanges(rrd, changes))).toEqual(sorted(base));
      }),
    );
  });

  it("leaves every field that differs from what was read", () => {
    const base = sampleRrd(1);
    const disk = { ...base, papers_pool: [{ ...pendingPaper(1), notes: "by hand" }] };
    const { rrd, notices } = merge(disk, base, set("sample_1", { notes: "ours", score: 3 }), {
      in: "rrd",
      set: { description: "ours" },
    });
    expect(rrd).toMatchObject({ description: "ours", papers_pool: [{ notes: "by hand", score: 3 }] });
    expect(notices).toEqual(["You changed notes of sample_1 during the run; your version stays."]);
  });

  it("keeps the order of records and fields, and touches no other record", () => {
    const base = sampleRrd(3);
    const { rrd } = merge(base, base, set("sample_2", { status: "rejected", added: 1 }));
    expect(Object.keys(rrd)).toEqual(Object.keys(base));
    expect(Object.keys(rrd.papers_pool[1] ?? {})).toEqual([...Object.keys(pendingPaper(2)), "added"]);
    expect(rrd.papers_pool[0]).toBe(base.papers_pool[0]);
  });

  it("reads analyzing, which nobody decides by, as unread", () => {
    const base = sampleRrd(1);
    const disk: Rrd = { ...base, papers_pool: [{ ...pendingPaper(1), status: "analyzing" }] };
    expect(paperOf(merge(disk, base, set("sample_1", { status: "presented" })).rrd, "sample_1")?.status).toBe(
      "presented",
    );
  });

  it("adds values that are absent, and an undo takes only those", () => {
    const base = { ...sampleRrd(0), visited_urls: ["a"] };
    const changes = complete(base, {
      in: "rrd",
      set: {},
      add: { visited_urls: ["a", "b", "b"], blocked_sources: ["web"] },
    });
    const { rrd } = mergeChanges({ ...base, visited_urls: ["a", "mine"] }, changes, true);
    expect(rrd).toMatchObject({ visited_urls: ["a", "mine", "b"], blocked_sources: ["web"] });
    expect(undoChanges(rrd, changes)).toMatchObject({ visited_urls: ["a", "mine"] });
  });

  it("adds no object again that has got more fields since, and an undo takes that one", () => {
    const base = sampleRrd(0);
    const mine = { id: "x1", title: "Mice", stage: "screened" };
    const changes = complete(base, { in: "rrd", set: {}, add: { excluded: [mine] } });
    const { rrd } = mergeChanges(base, changes, true);
    const theirs = { id: "x2", title: "Mice", stage: "screened", key: "mice2025b" };
    const keyed = { ...rrd, excluded: [{ ...mine, key: "mice2025" }, theirs] } as unknown as Rrd;
    expect(mergeChanges(keyed, changes, true).rrd.excluded).toEqual(keyed.excluded);
    expect(undoChanges(keyed, changes).excluded).toEqual([theirs]);
    const other = { ...rrd, excluded: [{ ...mine, title: "Rats" }] } as unknown as Rrd;
    expect(mergeChanges(other, changes, true).rrd.excluded).toHaveLength(2);
  });

  it("puts a record back that was removed by hand only where its result was accepted", () => {
    const base = sampleRrd(1);
    const disk = sampleRrd(0);
    const changes = complete(base, set("sample_1", { status: "presented" }));
    expect(mergeChanges(disk, changes, true).rrd.papers_pool).toEqual([{ ...pendingPaper(1), status: "presented" }]);
    expect(mergeChanges(disk, changes, false).rrd.papers_pool).toEqual([]);
  });

  it("gives an insight whose number was taken meanwhile the next one, the same each time, and an undo takes that one", () => {
    const base = sampleRrd(1);
    const theirs = { id: "insight_001", insight: "Written by hand" };
    const disk = { ...base, insights: [theirs] };
    const mine = { id: "insight_001", paper_id: "sample_1", insight: "Read" };
    const changes = complete(base, { in: "insights", id: "insight_001", set: mine, was: null });
    const { rrd, notices } = mergeChanges(disk, changes, true);
    expect(rrd.insights).toEqual([theirs, { ...mine, id: "insight_002" }]);
    expect(notices).toEqual([
      "insight_001 is already the id of another record; the insight of sample_1 is insight_002.",
    ]);
    expect(mergeChanges(rrd, changes, true).rrd).toEqual(rrd);
    expect(undoChanges(rrd, changes).insights).toEqual([theirs]);
  });

  it("leaves an insight its number when its words were changed by hand", () => {
    const base = sampleRrd(1);
    const changes = complete(base, {
      in: "insights",
      id: "insight_001",
      set: { id: "insight_001", paper_id: "sample_1", insight: "Read" },
      was: null,
    });
    const edited = { ...base, insights: [{ id: "insight_001", paper_id: "sample_1", insight: "Put better" }] };
    expect(mergeChanges(edited, changes, true).rrd.insights).toEqual(edited.insights);
  });

  it("of a field that names the prototype makes a field, not a prototype", () => {
    const base = sampleRrd(1);
    const change: Change = JSON.parse(
      '{ "in": "papers_pool", "id": "sample_1", "set": { "__proto__": { "polluted": true } } }',
    );
    const { rrd } = merge(base, base, change);
    expect(JSON.stringify(rrd)).toContain('"__proto__":{"polluted":true}');
    expect(paperOf(rrd, "sample_1")).not.toHaveProperty("polluted");
  });
});

describe("a hand edit", () => {
  const base: Rrd = { ...sampleRrd(1), description: "before", mine: "before" };
  const edited = (over: Partial<Rrd>): Rrd => ({ ...base, ...over });

  it("of the file's own fields stays and is named; one that says the same as ours, or nothing, is none", () => {
    const ours: Change = { in: "rrd", set: { description: "ours", mine: "ours", fresh: 1 } };
    const { rrd, notices } = merge(edited({ description: "theirs", mine: "ours" }), base, ours);
    expect(rrd).toMatchObject({ description: "theirs", mine: "ours", fresh: 1 });
    expect(notices).toEqual(["You changed description of rrd.json during the run; your version stays."]);
    expect(merge(edited({ fresh: null }), base, ours)).toMatchObject({ rrd: { fresh: 1 }, notices: [] });
    expect(merge(base, base, ours).notices).toEqual([]);
  });

  it("is no object that has all of ours and more: what follows from the records was added to one of a fold cut short", () => {
    const base = sampleRrd(1);
    const ours = { discovery_metrics: { batches: 1, failures_in_a_row: { web: 0 } } };
    const changes = complete(base, { in: "rrd", set: { statistics: ours } });
    for (const [statistics, said] of [
      [{ discovery_metrics: { ...ours.discovery_metrics, sources_blocked: [] }, total_discovered: 2 }, []],
      [{ discovery_metrics: { batches: 1 }, total_discovered: 2 }, ["statistics"]],
      [[ours], ["statistics"]],
    ] as const) {
      const disk = { ...base, statistics } as unknown as Rrd;
      const { rrd, notices } = mergeChanges(disk, changes, true);
      expect(rrd.statistics).toEqual(statistics);
      expect(notices).toEqual(
        said.map((name) => `You changed ${name} of rrd.json during the run; your version stays.`),
      );
    }
    // One that had more before the change is the old one, and is replaced.
    const more = { ...base, statistics: { ...ours, total_discovered: 2 } } as unknown as Rrd;
    expect(mergeChanges(more, complete(more, { in: "rrd", set: { statistics: ours } }), true).rrd.statistics).toEqual(
      ours,
    );
  });

  it("of a status counts, but pending and analyzing are no decision; in another field the same word is one", () => {
    const having = (over: object): Rrd => ({ ...base, papers_pool: [{ ...pendingPaper(1), notes: "x", ...over }] });
    const accepted: Change = {
      in: "papers_pool",
      id: "sample_1",
      set: { status: "presented", notes: "ours" },
      was: { status: "analyzing", notes: "x" },
    };
    const statusOf = (over: object) =>
      paperOf(mergeChanges(having(over), [completeChange(accepted, base)], true).rrd, "sample_1")?.status;
    expect([{ status: "pending" }, { status: "analyzing" }, { status: "rejected" }].map(statusOf)).toEqual([
      "presented",
      "presented",
      "rejected",
    ]);
    const { rrd, notices } = mergeChanges(having({ notes: "pending" }), [completeChange(accepted, base)], true);
    expect(paperOf(rrd, "sample_1")?.notes).toBe("pending");
    expect(notices).toEqual(["You changed notes of sample_1 during the run; your version stays."]);
  });

  it("keeps a field from being taken away, and something that is no list from being added to", () => {
    const gone: Change = { in: "rrd", set: {}, unset: ["mine", "description"] };
    const { rrd, notices } = merge(edited({ mine: "theirs" }), base, gone);
    expect(rrd["mine"]).toBe("theirs");
    expect(Object.keys(rrd)).not.toContain("description");
    expect(notices).toEqual(["You changed mine of rrd.json during the run; your version stays."]);
    const add: Change = { in: "rrd", set: {}, add: { mine: ["x"] } };
    const changes = complete(base, add);
    expect(mergeChanges(base, changes, true).rrd["mine"]).toBe("before");
    expect(undoChanges(base, changes)["mine"]).toBe("before");
  });

  it("that removed a record is undone by undoing its removal by us, and only where we removed one", () => {
    const removal = complete(base, { in: "papers_pool", id: "sample_1", set: {}, remove: true });
    const without = mergeChanges(base, removal, true).rrd;
    expect(without.papers_pool).toEqual([]);
    expect(undoChanges(without, removal).papers_pool).toEqual([pendingPaper(1)]);
    // Put back by hand meanwhile: theirs stays.
    const theirs = { ...base, papers_pool: [{ ...pendingPaper(1), notes: "theirs" }] };
    expect(undoChanges(theirs, removal)).toEqual(theirs);
    const ofNothing = complete(base, { in: "papers_pool", id: "sample_9", set: {}, remove: true });
    expect(mergeChanges(base, ofNothing, true).rrd).toEqual(base);
    expect(undoChanges(base, ofNothing)).toEqual(base);
    // An undo of a change to a record that is gone brings nothing back.
    expect(undoChanges(without, complete(base, set("sample_1", { score: 3 }))).papers_pool).toEqual([]);
  });

  it("that took an insight's number is told from one that put its words better, by paper and words", () => {
    const mine = { id: "insight_001", paper_id: "sample_1", insight: "Read" };
    const changes = complete(base, { in: "insights", id: "insight_001", set: mine, was: null });
    const idsIn = (...insights: object[]) =>
      (mergeChanges({ ...base, insights } as Rrd, changes, true).rrd.insights ?? []).map(({ id }) => id);
    expect(idsIn({ id: "insight_001", paper_id: "sample_2", insight: "Read" })).toEqual(["insight_001", "insight_002"]);
    expect(
      idsIn(
        { id: "insight_001", paper_id: "sample_2", insight: "x" },
        { id: "my_insight_7" },
        { id: "insight_8x" },
        { id: "insight_005" },
      ),
    ).toEqual(["insight_001", "my_insight_7", "insight_8x", "insight_005", "insight_006"]);
    expect(idsIn({ id: "insight_001", paper_id: "sample_1", insight: "Put better" })).toEqual(["insight_001"]);
    // The same words of our own two insights of one paper are two insights.
    const two = [mine, { id: "insight_002", paper_id: "sample_1", insight: "Another" }];
    const both = two.flatMap((each) => complete(base, { in: "insights", id: each.id, set: each, was: null }));
    const swapped = { ...base, insights: [{ ...two[1], id: "insight_001" }] } as Rrd;
    expect((mergeChanges(swapped, both, true).rrd.insights ?? []).map(({ insight }) => insight).toSorted()).toEqual([
      "Another",
      "Read",
    ]);
  });
});

describe("the changes between two states", () => {
  it("name what differs and nothing else; there are none between equal ones", () => {
    const before: Rrd = { ...sampleRrd(2), description: "a", gone: 1 };
    expect(changesBetween(before, structuredClone(before))).toEqual([]);
    const { gone: _, ...rest } = before;
    const after = {
      ...rest,
      description: "b",
      papers_pool: [{ ...pendingPaper(1), score: 3 }, pendingPaper(3)],
    } as Rrd;
    expect(changesBetween(before, after)).toEqual([
      { in: "rrd", set: { description: "b" }, was: { description: "a", gone: 1 }, unset: ["gone"] },
      { in: "papers_pool", id: "sample_1", set: { score: 3 }, was: expect.anything(), unset: [] },
      { in: "papers_pool", id: "sample_3", set: pendingPaper(3), was: null },
      { in: "papers_pool", id: "sample_2", set: {}, was: pendingPaper(2), remove: true },
    ]);
  });

  it("are completed with what they were made from: of a record all of it, of the file only what changes", () => {
    const base: Rrd = { ...sampleRrd(1), description: "a", other: 1 };
    expect(completeChange({ in: "rrd", set: { description: "b", fresh: 1 }, unset: ["other"] }, base)).toEqual({
      in: "rrd",
      set: { description: "b", fresh: 1 },
      unset: ["other"],
      was: { description: "a", other: 1 },
    });
    expect(completeChange(set("sample_1", { score: 3 }), base).was).toEqual(pendingPaper(1));
    expect(completeChange(set("sample_9", { score: 3 }), base).was).toBeNull();
    expect(completeChange({ ...set("sample_9", { score: 3 }), was: { notes: "x" } }, base).was).toEqual({ notes: "x" });
    expect(completeChange({ ...set("sample_1", { score: 3 }), was: null }, base).was).toBeNull();
    expect(completeChange(set("sample_1", {}), base)).not.toHaveProperty("add");
  });
});
const rrd = sampleRrd(2);
const completed = (change: Change, base: Rrd = rrd) => completeChange(change, base);
const mergeOne = (change: Change, disk: Rrd = rrd, base: Rrd = rrd, putBack = true) =>
  mergeChanges(disk, [completed(change, base)], putBack);
const insight = (id: string, over: object = {}) => ({ id, paper_id: "sample_1", insight: `Of ${id}.`, ...over });

describe("what the loop remembers", () => {
  const observation = { iteration: 1, unit: "sample_1", outcome: "accepted" as const };
  const withLoop: Rrd = { ...rrd, loop: { iteration: 1, observations: [observation] } };
  const next = { ...observation, iteration: 2 };

  it("is merged within its own object, which is made where there is none, and nothing beside it", () => {
    const change: Change = { in: "loop", set: { iteration: 2 }, add: { observations: [next] } };
    expect(mergeOne(change, withLoop, withLoop).rrd).toEqual({
      ...rrd,
      loop: { iteration: 2, observations: [observation, next] },
    });
    expect(mergeOne(change).rrd).toEqual({ ...rrd, loop: { iteration: 2, observations: [next] } });
  });

  it("is kept by the journal as far as it changes, with what was new in it", () => {
    expect(
      completed({ in: "loop", set: { iteration: 2 }, add: { observations: [observation, next] } }, withLoop),
    ).toEqual({ in: "loop", set: { iteration: 2 }, was: { iteration: 1 }, add: { observations: [next] } });
  });

  it("is taken back by an undo", () => {
    const change = completed({ in: "loop", set: { iteration: 2 }, add: { observations: [next] } }, withLoop);
    expect(undoChanges(mergeChanges(withLoop, [change], true).rrd, [change])).toEqual(withLoop);
    const first = completed({ in: "loop", set: { iteration: 2 } });
    expect(undoChanges(mergeChanges(rrd, [first], true).rrd, [first])).toEqual({ ...rrd, loop: {} });
  });
});

describe("a record that was removed by hand", () => {
  const without: Rrd = { ...rrd, papers_pool: [pendingPaper(2)] };
  const change: Change = { in: "papers_pool", id: "sample_1", set: { status: "presented" } };

  it("is back with its result where that was accepted, and the person is told how to drop it", () => {
    const merged = mergeOne(change, without);
    expect(merged.rrd.papers_pool).toEqual([pendingPaper(2), { ...pendingPaper(1), status: "presented" }]);
    expect(merged.notices).toEqual([
      "sample_1 was removed from rrd.json by hand although it is done; it was restored. To remove it, reset it first.",
    ]);
  });

  it("stays out where it was not, and that is told", () => {
    expect(mergeOne(change, without, rrd, false)).toEqual({
      rrd: without,
      notices: ["sample_1 was removed from rrd.json by hand and stays removed."],
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
    expect(mergeOne({ in: "papers_pool", id: "sample_1", set: { score: 9, notes: "ours" } }, disk).notices).toEqual([
      "You changed score, notes of sample_1 during the run; your version stays.",
    ]);
    expect(mergeOne({ in: "rrd", set: { project: "ours", description: "ours" } }, disk).notices).toEqual([
      "You changed project, description of rrd.json during the run; your version stays.",
    ]);
  });

  it("of one list leaves a file without the other as it is", () => {
    const { insights: _, ...bare } = rrd;
    const merged = mergeOne({ in: "papers_pool", id: "sample_1", set: { score: 9 } }, bare as Rrd, bare as Rrd);
    expect(Object.keys(merged.rrd)).toEqual(Object.keys(bare));
    expect(mergeOne({ in: "rrd", set: {} }).rrd.papers_pool).toBe(rrd.papers_pool);
    for (const name of ["papers_pool", "insights"])
      expect(
        mergeChanges(bare as Rrd, [{ in: name, id: "nobody", set: {}, was: null, remove: true }], true).rrd,
      ).toEqual(bare);
  });

  it("that makes a record gives it its id, adds to its lists, and made again changes nothing", () => {
    const change = completed({
      in: "insights",
      id: "insight_001",
      set: { insight: "It works." },
      was: null,
      add: { tags: ["a", "a"] },
      unset: ["draft"],
    });
    const { rrd: once } = mergeChanges(rrd, [change], true);
    expect(once.insights).toEqual([{ id: "insight_001", insight: "It works.", tags: ["a"] }]);
    expect(mergeChanges(once, [change], true)).toEqual({ rrd: once, notices: [] });
  });

  it("of a collection that the format does not have is a bug of ours", () => {
    const change = { in: "papers", id: "sample_1", set: {}, was: null };
    expect(() => mergeChanges(rrd, [change], true)).toThrow("rrd.json has no collection 'papers'");
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
    const changes = changesBetween(before, after).map((change) => completed(change, before));
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
    expect(notices).toEqual([
      "insight_007 is already the id of another record; the insight of sample_1 is insight_008.",
    ]);
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

  it("is made from the ids that there are, where a record has none", () => {
    const finding = { number: "F1", criterion: "C1", text: "" };
    const task: Task = { title: "", criteria: [], findings: [{ text: "without a number" }, finding] };
    const change = { in: "findings", id: "F1", set: { ...finding, criterion: "C2" }, was: null };
    const { state } = merged(taskFormat, task, [change], true);
    expect(state.findings?.map(({ number }) => number)).toEqual([undefined, "F1", "F2"]);
  });

  it("counts on from numbers alone, whatever else insights are called", () => {
    const odd: Rrd = {
      ...taken,
      insights: [...(taken.insights ?? []), insight("insight_x"), insight("my_insight_99"), insight("insight_12b")],
    };
    expect(mergeChanges(odd, [change("insight_007")], true).rrd.insights?.at(-1)?.id).toBe("insight_008");
  });
});
