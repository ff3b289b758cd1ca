import { describe, expect, it } from "vitest";
import type { LedgerLine } from "../../src/engine/generated/ledger.js";
import type { Rrd } from "../../src/research/generated/rrd.js";
import { changesBetween, completeChange, mergeChanges } from "../support/projects/rrd-merge.js";
import { parseLedger } from "../../src/engine/storage/state/ledger.js";
import { formatRrd, parseRrd } from "../../src/research/project-files/rrd-file.js";
import { problemsOf } from "../../src/engine/storage/schema-check.js";
import { acceptDiscovery } from "../../src/research/units/screening/judge-batch.js";
import { acceptIdeas } from "../../src/research/units/ideas/judge-ideas.js";
import { acceptRead } from "../support/projects/accept-read.js";
import { acceptReport } from "../../src/research/units/report/judge-report.js";
import type { Acceptance, Rejection } from "../../src/research/units/judged-result.js";
import { inconsistencies } from "../../src/research/derived/inconsistencies.js";
import { nextUnit } from "../../src/research/workflow/next-unit.js";
import { progressOf, paperOf } from "../../src/research/derived/status.js";
import { statusOf } from "../../src/research/workflow/next-unit.js";
import { derive } from "../../src/research/workflow/derive.js";
import { reportData } from "../../src/research/units/report/brief.js";
import { ideasData } from "../../src/research/units/ideas/brief.js";
import { paperData } from "../../src/research/units/reading/brief.js";
import { markdownOf } from "../../src/research/report/documents/markdown.js";
import { reportModel } from "../../src/research/report/model.js";
import fc from "../support/runner/fast-check.js";
import { narrative, reading } from "../support/projects/research.js";
import {
  batch,
  finished,
  folded,
  goodResults,
  judging,
  ledger,
  material,
  midway,
  oldest,
  searching,
} from "./documents.js";
import { cases, expectSame, mutate, mutations, pointsInto, tear, torn } from "./mutations.js";
import { tallyOf } from "./tally.js";

interface Written {
  readonly rrd: Rrd;
  readonly ledger: readonly LedgerLine[];
}
const documents: readonly Written[] = [
  { rrd: midway(), ledger },
  { rrd: oldest(), ledger: [] },
  { rrd: searching(), ledger: [] },
  finished(),
];
const document = fc.constantFrom(...documents);

type Judged = Acceptance | Rejection | undefined;
/** Judges a good result of each kind of unit against any state. */
const judgements: Readonly<Record<string, (rrd: Rrd, lines: readonly LedgerLine[]) => Judged>> = {
  paper: (rrd) => {
    const pending = rrd.papers_pool.find(({ status }) => status === "pending");
    return pending && acceptRead(rrd, pending, reading(pending.id), material(pending.id), judging);
  },
  discovery: (rrd) => acceptDiscovery(rrd, goodResults.discovery.unit, goodResults.discovery.result, batch, judging),
  ideas: (rrd) => acceptIdeas(rrd, goodResults.ideas.result as Parameters<typeof acceptIdeas>[1], judging),
  report: (rrd) => acceptReport(rrd, narrative({}, firstHandle(rrd)), judging),
};
const kinds = Object.keys(judgements);

/** The handle of a quote that a report may rest on. */
function firstHandle(rrd: Rrd): string | null {
  for (const { id, analysis, retracted } of rrd.papers_pool) {
    const at = (analysis?.evidence ?? []).findIndex(({ status }) => status !== "not-in-text");
    if (retracted !== true && at !== -1) return `${id}#${at + 1}`;
  }
  return null;
}

/**
 * Everything the program asks of a state before and after an iteration; whether a result of this kind was folded in.
 */
function use(rrd: Rrd, lines: readonly LedgerLine[], kind: string): boolean {
  const state = { rrd, ledger: lines, status: statusOf(rrd, lines), agentNotes: new Map() };
  nextUnit(state, [], [], "/my-research");
  progressOf(rrd);
  reportData(state, 0);
  ideasData(state, 0);
  inconsistencies(rrd);
  for (const paper of rrd.papers_pool) paperData(rrd, paper, "full", []);
  const derived = derive(rrd, lines);
  expect(problemsOf("rrd", derived)).toEqual([]);
  expectSame(derive(derived, lines), derived);

  const judged = judgements[kind]?.(rrd, lines);
  if (judged === undefined || "reasons" in judged) return false;
  const after = folded(rrd, judged.changes, lines);
  expect(problemsOf("rrd", after)).toEqual([]);
  for (const { id, status } of rrd.papers_pool) {
    const still = paperOf(after, id);
    if (status === "pending" && judged.changes.some((change) => change.id === id))
      expect(still?.status).not.toBe("pending");
    else expect(still?.status).toBe(status);
  }
  return true;
}

/** Records without their keys, which they get with the first save. */
const withoutKeys = (records: unknown): unknown =>
  Array.isArray(records)
    ? records.map((record: unknown) => {
        if (typeof record !== "object" || record === null) return record;
        const { key: _, source_key: __, ...rest } = record as Record<string, unknown>;
        return rest;
      })
    : records;

describe("any rrd.json", () => {
  it("is taken and then usable to the end, or refused with a pointer to each problem", () => {
    const tally = tallyOf("rrd.json", cases());
    fc.assert(
      fc.property(document, mutations, fc.constantFrom(...kinds), ({ rrd, ledger: lines }, slips, kind) => {
        const mutated = mutate(rrd, slips);
        const parsed = parseRrd(JSON.stringify(mutated), "rrd.json");
        if (parsed.ok !== undefined) {
          tally.count("taken");
          if (use(parsed.ok, lines, kind)) tally.count(`${kind} folded in`);
          return;
        }
        tally.count("refused");
        expect(parsed.problems.length).toBeGreaterThan(0);
        for (const { pointer, message } of parsed.problems) {
          expect(message).not.toBe("");
          expect(pointsInto(mutated, pointer), `${pointer} ${message}`).toBe(true);
        }
      }),
      { numRuns: cases() },
    );
    tally.close({ taken: 0.3, refused: 0.1, ...Object.fromEntries(kinds.map((kind) => [`${kind} folded in`, 0.02])) });
  });

  it("that is torn or holds any bytes is taken, or refused with line and column, or pointers where it is JSON still", () => {
    const texts = documents.map(({ rrd }) => formatRrd(rrd));
    const tally = tallyOf("torn rrd.json", cases());
    fc.assert(
      fc.property(fc.constantFrom(...texts), fc.array(torn, { minLength: 1, maxLength: 3 }), (text, tears) => {
        const left = tears.reduce(tear, text);
        const parsed = parseRrd(left, "rrd.json");
        if (parsed.ok !== undefined) return tally.count("taken");
        const value = jsonOf(left);
        if (value === undefined) {
          tally.count("no JSON");
          expect(parsed.problems).toEqual([
            expect.objectContaining({ pointer: "", message: expect.stringMatching(/^rrd\.json:\d+:\d+: ./) }),
          ]);
          return;
        }
        tally.count("refused");
        for (const { pointer, message } of parsed.problems)
          expect(pointsInto(value.json, pointer), `${pointer} ${message}`).toBe(true);
      }),
      { numRuns: cases() },
    );
    tally.close({ taken: 0.02, refused: 0.005, "no JSON": 0.5 });
  });

  it("comes back from a save as it was loaded, unknown fields included", () => {
    const tally = tallyOf("saved rrd.json", cases());
    fc.assert(
      fc.property(document, mutations, ({ rrd, ledger: lines }, slips) => {
        const text = JSON.stringify(mutate(rrd, slips));
        const { ok, changes } = parseRrd(text, "rrd.json");
        if (ok === undefined) return;
        tally.count(changes.length === 0 ? "as it was" : "of another shape");
        if (changes.length === 0) expect(formatRrd(ok)).toBe(`${JSON.stringify(JSON.parse(text), null, 2)}\n`);
        else expectSame(parseRrd(formatRrd(ok), "rrd.json"), { ok, changes: [] });
        const derived = derive(ok, lines) as Record<string, unknown>;
        const ours = new Set(["statistics", "phase", "timing", "loop"]);
        for (const [name, value] of Object.entries(ok))
          if (!ours.has(name)) expectSame(withoutKeys(derived[name]), withoutKeys(value));
      }),
      { numRuns: cases() },
    );
    // Few slips are one of the shapes that are read: a number as a text, a word for a status, a missing id.
    tally.close({ "as it was": 0.1, "of another shape": 0.005 });
  });

  it("keeps what a person wrote into it, however odd, when changes are folded in that touch other fields", () => {
    const tally = tallyOf("hand edits kept", cases(0.3));
    fc.assert(
      fc.property(fc.constantFrom(midway(), searching()), mutations, (rrd, slips) => {
        const edited = parseRrd(JSON.stringify(mutate(rrd, slips)), "rrd.json").ok;
        if (edited === undefined) return;
        // A field that no person touched, on the top level and in each record.
        const marked: Rrd = {
          ...rrd,
          marked: 1,
          papers_pool: rrd.papers_pool.map((paper) => ({ ...paper, marked: 1 })),
        };
        const { rrd: merged } = mergeChanges(edited, completed(rrd, marked), false);
        tally.count("edited");
        for (const paper of edited.papers_pool) expect(paperOf(merged, paper.id)).toMatchObject(paper);
        expect({ ...merged, papers_pool: [] }).toMatchObject({ ...edited, papers_pool: [] });
      }),
      { numRuns: cases(0.3) },
    );
    tally.close({ edited: 0.3 });
  });
});

const completed = (before: Rrd, after: Rrd) =>
  changesBetween(before, after).map((change) => completeChange(change, before));

function jsonOf(text: string): { readonly json: unknown } | undefined {
  try {
    return { json: JSON.parse(text.replace(/^\uFEFF/, "")) as unknown };
  } catch {
    return undefined;
  }
}

describe("any ledger", () => {
  it("is read as far as its lines are, and the state follows from what was read", () => {
    const { rrd, ledger: whole } = finished();
    const tally = tallyOf("ledger.jsonl", cases(0.3));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(), fc.option(mutations)), { maxLength: 8 }),
        fc.option(torn),
        (slips, tears) => {
          const lines = slips.map(([which, each]) => {
            const line = whole[which % whole.length];
            return JSON.stringify(each === null ? line : mutate(line, each));
          });
          const text = lines.map((line) => `${line}\n`).join("");
          const read = parseLedger(tears === null ? text : tear(text, tears), "ledger.jsonl");
          if (tears === null) {
            // Each line is read or named; none of those that are right is lost to the others.
            expect(read.lines.length + read.notices.length).toBe(lines.length);
            const right = slips.filter(([, each]) => each === null).map(([which]) => whole[which % whole.length]);
            for (const line of right) expect(read.lines).toContainEqual(line);
          }
          tally.count(read.notices.length > 0 ? "some unread" : "all read");
          const derived = derive(rrd, read.lines);
          expect(problemsOf("rrd", derived)).toEqual([]);
          nextUnit(
            { rrd, ledger: read.lines, status: statusOf(rrd, read.lines), agentNotes: new Map() },
            [],
            [],
            "/my-research",
          );
          expect(acceptReport(rrd, narrative({}, firstHandle(rrd)), judging)).not.toHaveProperty("reasons");
          const input = { rrd, ledger: read.lines, queries: [], answers: [], now: judging.at };
          expect(markdownOf(reportModel(input))).toContain("## Method and limits");
        },
      ),
      { numRuns: cases(0.3) },
    );
    tally.close({ "some unread": 0.2, "all read": 0.1 });
  });
});
