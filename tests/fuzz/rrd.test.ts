import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Rrd } from "../../src/generated/rrd.js";
import { parseLedger } from "../../src/store/ledger.js";
import { formatRrd, parseRrd } from "../../src/store/rrd-file.js";
import { problemsOf } from "../../src/store/validate.js";
import { acceptPaper } from "../../src/workflows/research/accept-paper.js";
import { acceptReport } from "../../src/workflows/research/accept-report.js";
import { inconsistencies } from "../../src/workflows/research/inconsistencies.js";
import { nextUnit } from "../../src/workflows/research/next.js";
import { progressOf, standingOf } from "../../src/workflows/research/standing.js";
import { derive } from "../../src/workflows/research/statistics.js";
import { paperOf } from "../../src/workflows/research/state.js";
import { ideasData, paperData, reportData } from "../../src/workflows/research/unit-data.js";
import { reading } from "../support/research.js";
import { folded, goodResults, judging, ledger, material, midway, oldest } from "./documents.js";
import { cases, mutate, mutations, pointsInto, tear, torn } from "./mutations.js";

const documents = [midway(), midway(), oldest()];
const document = fc.constantFrom(...documents);

/** Everything the program asks of a state before and after an iteration. */
function use(rrd: Rrd): void {
  const state = { rrd, ledger, standing: standingOf(rrd, ledger) };
  nextUnit(state, []);
  progressOf(rrd);
  reportData(state);
  ideasData(state);
  inconsistencies(rrd);
  for (const paper of rrd.papers_pool) paperData(rrd, paper, "full", []);
  const derived = derive(rrd, ledger);
  expect(problemsOf("rrd", derived)).toEqual([]);
  expect(derive(derived, ledger)).toEqual(derived);

  const pending = rrd.papers_pool.find(({ status }) => status === "pending");
  if (pending !== undefined) {
    const judged = acceptPaper(rrd, pending, reading(pending.id), material(pending.id), judging);
    if (!("reasons" in judged)) {
      const after = folded(rrd, judged.changes, ledger);
      expect(problemsOf("rrd", after)).toEqual([]);
      expect(paperOf(after, pending.id)?.status).not.toBe("pending");
    }
  }
  acceptReport(
    rrd,
    { ...goodResults.report.result, categories: [], companies: [], key_findings: [], recommendations: [] },
    { ledger, patterns: [] },
    judging,
  );
}

describe("any rrd.json", () => {
  it("is taken and then usable to the end, or refused with a pointer to each problem", () => {
    let taken = 0;
    fc.assert(
      fc.property(document, mutations, (base, slips) => {
        const mutated = mutate(base, slips);
        const parsed = parseRrd(JSON.stringify(mutated), "rrd.json");
        if (parsed.ok !== undefined) {
          taken += 1;
          use(parsed.ok);
          return;
        }
        expect(parsed.problems.length).toBeGreaterThan(0);
        for (const { pointer, message } of parsed.problems) {
          expect(message).not.toBe("");
          expect(pointsInto(mutated, pointer), `${pointer} ${message}`).toBe(true);
        }
      }),
      { numRuns: cases() },
    );
    // Neither side of the property is empty.
    expect(taken).toBeGreaterThan(0);
    expect(taken).toBeLessThan(cases());
  });

  it("that is torn or holds any bytes is taken or refused with line and column", () => {
    const texts = documents.map(formatRrd);
    fc.assert(
      fc.property(fc.constantFrom(...texts), fc.array(torn, { minLength: 1, maxLength: 3 }), (text, tears) => {
        const parsed = parseRrd(tears.reduce(tear, text), "rrd.json");
        if (parsed.ok !== undefined) return;
        const [first] = parsed.problems;
        expect(first?.pointer !== "" || /^rrd\.json:\d+:\d+: ./.test(first.message) || /missing|must be/.test(first.message)).toBe(true);
      }),
      { numRuns: cases() },
    );
  });

  it("comes back from a save as it was loaded, unknown fields included", () => {
    fc.assert(
      fc.property(document, mutations, (base, slips) => {
        const text = JSON.stringify(mutate(base, slips));
        const { ok, changes } = parseRrd(text, "rrd.json");
        if (ok === undefined) return;
        if (changes.length === 0) expect(formatRrd(ok)).toBe(`${JSON.stringify(JSON.parse(text), null, 2)}\n`);
        else expect(parseRrd(formatRrd(ok), "rrd.json")).toEqual({ ok, changes: [] });
        const derived = derive(ok, ledger) as Record<string, unknown>;
        const ours = new Set(["statistics", "phase", "timing", "loop"]);
        for (const [name, value] of Object.entries(ok)) if (!ours.has(name)) expect(derived[name]).toEqual(value);
      }),
      { numRuns: cases() },
    );
  });
});

describe("any ledger", () => {
  it("is read as far as its lines are, and the state follows from what was read", () => {
    const rrd = midway();
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(), mutations), { maxLength: 6 }), fc.option(torn), (slips, tears) => {
        const lines = slips.map(([which, each]) => JSON.stringify(mutate(ledger[which % ledger.length], each)));
        const text = lines.map((line) => `${line}\n`).join("");
        const read = parseLedger(tears === null ? text : tear(text, tears), "ledger.jsonl");
        const derived = derive(rrd, read.lines);
        expect(problemsOf("rrd", derived)).toEqual([]);
        nextUnit({ rrd, ledger: read.lines, standing: standingOf(rrd, read.lines) }, []);
        acceptReport(rrd, goodResults.report.result, { ledger: read.lines, patterns: [] }, judging);
      }),
      { numRuns: cases(0.3) },
    );
  });
});
