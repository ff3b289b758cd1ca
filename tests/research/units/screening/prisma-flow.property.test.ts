import { describe, expect, test } from "vitest";
import type { DiscoveryResult } from "../../../../src/research/generated/result-discovery.js";
import type { Criterion, Paper, Rrd } from "../../../../src/research/generated/rrd.js";
import { acceptDiscovery } from "../../../../src/research/units/screening/judge-batch.js";
import { checkedAnswers } from "../../../../src/research/units/screening/screen-by-criteria.js";
import { nextBatch } from "../../../../src/research/units/screening/screening-batch.js";
import { withOverrides } from "../../../../src/research/derived/overrides.js";
import { deriveStatistics } from "../../../../src/research/derived/statistics.js";
import fc from "../../../support/runner/fast-check.js";
import { folded } from "../../../support/projects/folded.js";
import {
  expectWhole,
  libraryOf,
  wanting,
  page,
  document,
  now,
  sum,
} from "../../../support/projects/searched-library.js";

describe("the PRISMA flow", () => {
  const urls = [
    "https://example.org/a",
    "https://example.org/b",
    "https://doi.org/10.5555/a",
    "https://doi.org/10.5555/b",
  ];
  const titles = [
    "Introduction",
    "Editorial",
    "Old page",
    "???",
    "On the matter of alpha hands",
    "On the matter of beta eyes",
  ];
  const dates = ["1990-05-01", "2026-01-01", undefined];
  const pages = (source: string) =>
    fc.array(
      fc
        .tuple(fc.constantFrom(...urls), fc.constantFrom(...titles), fc.constantFrom(...dates), fc.boolean())
        .map(([url, title, date, retracted]) => ({
          ...page(url, title, date, source),
          ...(retracted && date === "2026-01-01" ? { retracted } : {}),
        })),
      { maxLength: 8 },
    );
  const documents = fc
    .array(fc.constantFrom(...titles), { maxLength: 5 })
    .map((its) => its.map((title, index) => document(`doc_${index}`, title)));
  const judgements = fc.infiniteStream(fc.constantFrom("kept", "dropped", "passed over"));

  /** An answer that code believes: its quote is the record's own title. */
  const answers = fc.infiniteStream(fc.constantFrom("yes" as const, "no" as const, "unclear" as const));
  const criteria: Criterion[] = [
    { id: "c1", kind: "include", text: "about hands" },
    { id: "c2", kind: "exclude", text: "an editorial" },
  ];

  test.each([
    ["without criteria", []],
    ["with criteria", criteria],
  ])("%s: no negative count, and every record in one place, after every batch of a search", async (_, asked) => {
    const searched = { One: pages("One"), Two: pages("Two"), target: fc.integer({ min: 1, max: 6 }) };
    await fc.assert(
      fc.asyncProperty(
        fc.record({ ...searched, documents, judgements, answers, fates: fc.infiniteStream(fc.constantFrom(...fates)) }),
        async (drawn) => {
          const given = libraryOf(drawn.documents, { One: drawn.One, Two: drawn.Two });
          const plain = wanting(["folder:papers", "One", "Two"], drawn.target);
          let rrd: Rrd = {
            ...plain,
            requirements: { ...plain.requirements, ...(asked.length === 0 ? {} : { criteria: asked }) },
          };
          for (let unit = 1; unit <= 4; unit += 1) {
            const batch = await nextBatch(rrd, given);
            const said = batch.candidates.map(({ id, title }) => ({
              id,
              as: drawn.judgements.next().value as string,
              criteria: Object.fromEntries(
                asked.map((each) => [each.id, { answer: drawn.answers.next().value ?? "unclear", quote: title }]),
              ),
            }));
            const result: DiscoveryResult = {
              unit: `discovery-${unit}`,
              papers: [],
              sources: [],
              kept: said.filter(({ as }) => as === "kept").map(({ id, criteria: given }) => ({ id, criteria: given })),
              dropped: said
                .filter(({ as }) => as === "dropped")
                .map(({ id, criteria: given }) => ({ id, reason: "It does not fit.", criteria: given })),
            };
            const judging = { iteration: unit, agent: "scripted", at: new Date(now()) };
            const checked = await checkedAnswers(rrd, result, batch);
            const answer = acceptDiscovery(rrd, result.unit, result, batch, judging, checked);
            if ("reasons" in answer) throw new Error(answer.reasons.join("; "));
            rrd = decidedBy(drawn.fates, folded(rrd, answer.changes));
            const flow = rrd.statistics?.discovery_metrics?.flow ?? {};
            expectWhole(flow);
            if (asked.length === 0) expect(flow.screening).toBeUndefined();
            else {
              const { screened, excluded, passed = 0 } = flow.screening ?? {};
              expect(screened).toBe(passed + sum(excluded));
              // What a person excludes before anybody has read it stays in the pool, and left by title and abstract.
              const left = rrd.papers_pool.filter(({ override }) => override?.decision === "exclude").length;
              expect(sum(excluded)).toBe((flow.excluded?.["screened"] ?? 0) + left);
              const pool = (flow.included ?? 0) + (flow.waiting ?? 0) + (flow.ineligible ?? 0) - left;
              expect(passed).toBe(pool);
              const { sought = 0, not_read = 0, waiting = 0, included = 0, excluded: later } = flow.full_text ?? {};
              expect([sought, waiting]).toEqual([pool, flow.waiting ?? 0]);
              expect(sought).toBe(not_read + sum(later) + waiting + included);
            }
          }
        },
      ),
      { numRuns: 25 },
    );
  });
});

const fates = ["open", "waits", "read", "excluded by a person", "included by a person"] as const;

/** The state with what became of the papers since: some wait, of some a person has decided. */
function decidedBy(drawn: Iterator<(typeof fates)[number]>, rrd: Rrd): Rrd {
  const papers_pool = rrd.papers_pool.map((paper): Paper => {
    const fate = drawn.next().value as (typeof fates)[number];
    const override = (decision: "include" | "exclude") => ({ decision, why: "So it is." });
    if (paper.status !== "pending" || fate === "open") return paper;
    if (fate === "waits") return { ...paper, status: "waiting" };
    if (fate === "read") return { ...paper, status: "rejected" };
    return { ...paper, override: override(fate === "excluded by a person" ? "exclude" : "include") };
  });
  const next = withOverrides({ ...rrd, papers_pool });
  return { ...next, statistics: deriveStatistics(next) };
}
