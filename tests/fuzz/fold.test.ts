import { describe, expect, it } from "vitest";
import type { Rrd } from "../../src/research/generated/rrd.js";
import {
  type Change,
  changesBetween,
  completeChange,
  mergeChanges,
  undoChanges,
} from "../support/projects/rrd-merge.js";
import { acceptRead } from "../support/projects/accept-read.js";
import { derive } from "../../src/research/workflow/derive.js";
import { parseRrd } from "../../src/research/project-files/rrd-file.js";
import fc from "../support/runner/fast-check.js";
import { paper, reading, rrdWith } from "../support/projects/research.js";
import { finished, judging, material, midway, oldest, searching } from "./documents.js";
import { cases, expectSame, mutate, mutations } from "./mutations.js";
import { tallyOf } from "./tally.js";

const ids = ["p1", "p2", "p3", "p4", "p5"];
const base = rrdWith(ids.map((id) => paper(id)));
const order = fc.shuffledSubarray(ids, { minLength: ids.length, maxLength: ids.length });
const insightsOf = (id: string) =>
  Array.from({ length: ids.indexOf(id) % 3 }, (_, index) => ({
    insight: `Insight ${index} of ${id}`,
    tags: [],
    cross_refs: ["p1"],
  }));

function changesFor(rrd: Rrd, id: string): Change[] {
  const judged = acceptRead(
    rrd,
    rrd.papers_pool.find((each) => each.id === id) ?? paper(id),
    reading(id, { insights: insightsOf(id) }),
    material(id),
    judging,
  );
  if ("reasons" in judged) throw new Error(judged.reasons.join("; "));
  return [...judged.changes];
}

/** Papers and insights without the numbers of insights, which say in which order they came. */
const content = (rrd: Rrd) => ({
  papers: rrd.papers_pool,
  insights: (rrd.insights ?? [])
    .map(({ id: _, ...insight }) => insight)
    .toSorted((a, b) => a.insight.localeCompare(b.insight)),
  total: rrd.statistics?.total_insights,
});

describe("folding", () => {
  it("gives the same in any order of the papers, each judged as the research then stands", () => {
    const inOrder = (papers: readonly string[]) =>
      papers.reduce<Rrd>((rrd, id) => {
        const changes = changesFor(rrd, id).map((change) => completeChange(change, rrd));
        return derive(mergeChanges(rrd, changes, true).rrd, []);
      }, base);
    const usual = content(inOrder(ids));
    fc.assert(
      fc.property(order, (papers) => {
        expectSame(content(inOrder(papers)), usual);
      }),
      { numRuns: cases(0.03) },
    );
  });

  it("of papers judged at the same time loses none of what any of them brought, in any order", () => {
    const changes = new Map(ids.map((id) => [id, changesFor(base, id).map((change) => completeChange(change, base))]));
    const inOrder = (papers: readonly string[]) =>
      papers.reduce<Rrd>((rrd, id) => derive(mergeChanges(rrd, changes.get(id) ?? [], true).rrd, []), base);
    const usual = content(inOrder(ids));
    expect(usual.insights.map(({ insight }) => insight)).toEqual(
      ids.flatMap((id) => insightsOf(id).map(({ insight }) => insight)).toSorted(),
    );
    fc.assert(
      fc.property(order, (papers) => {
        expectSame(content(inOrder(papers)), usual);
      }),
      { numRuns: cases(0.03) },
    );
  });

  it("twice is the same as once, whatever stands in the file by then", () => {
    const tally = tallyOf("folded twice", cases(0.3));
    fc.assert(
      fc.property(fc.constantFrom(...ids), fc.boolean(), mutations, (id, putBack, slips) => {
        const changes = changesFor(base, id).map((change) => completeChange(change, base));
        const edited = parseRrd(JSON.stringify(mutate(base, slips)), "rrd.json").ok;
        if (edited === undefined) return;
        tally.count("edited");
        const once = mergeChanges(edited, changes, putBack).rrd;
        expectSame(mergeChanges(once, changes, putBack).rrd, once);
      }),
      { numRuns: cases(0.3) },
    );
    tally.close({ edited: 0.3 });
  });

  it("of the changes between two states leads from one to the other, and undoing them back", () => {
    const tally = tallyOf("folded and undone", cases(0.3));
    fc.assert(
      fc.property(fc.constantFrom(midway(), oldest(), searching(), finished().rrd), mutations, (before, slips) => {
        const after = parseRrd(JSON.stringify(mutate(before, slips)), "rrd.json").ok;
        if (after === undefined || hasRepeatedIds(after)) return;
        tally.count("compared");
        const changes = changesBetween(before, after).map((change) => completeChange(change, before));
        const merged = mergeChanges(before, changes, false).rrd;
        expectSame(byId(merged), byId(after));
        expectSame(byId(undoChanges(merged, changes)), byId(before));
      }),
      { numRuns: cases(0.3) },
    );
    tally.close({ compared: 0.3 });
  });
});

/** Records in the order of their ids: where new ones stand is not part of a change. */
const byId = (rrd: Rrd): unknown => ({
  ...rrd,
  papers_pool: rrd.papers_pool.toSorted((a, b) => a.id.localeCompare(b.id)),
  insights: (rrd.insights ?? []).toSorted((a, b) => (a.id ?? "").localeCompare(b.id ?? "")),
});

/** Insights without an id of their own are not compared by changesBetween. */
const hasRepeatedIds = ({ insights }: Rrd): boolean => {
  const all = (insights ?? []).map(({ id }) => id);
  return all.includes(undefined) || new Set(all).size < all.length;
};
