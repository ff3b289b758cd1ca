import fc from "../../../support/fast-check.js";
import { describe, expect, it } from "vitest";
import type { Rrd } from "../../../../src/research/generated/rrd.js";
import {
  type Change,
  changesBetween,
  completeChange,
  mergeChanges,
  undoChanges,
} from "../../../../src/engine/storage/records/record-merge.js";
import { formatRrd } from "../../../../src/research/folder/rrd-file.js";
import { paperOf, pendingPaper, sampleRrd } from "../../../support/folders.js";

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
    expect(notices).toEqual(["insight_001 was taken meanwhile; the insight of sample_1 is insight_002."]);
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
