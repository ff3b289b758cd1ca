import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "../support/fast-check.js";
import { afterAll, describe, expect, it } from "vitest";
import { problemsOf } from "../../src/store/validate.js";
import { judge } from "../../src/workflows/research/accept.js";
import type { Batch } from "../../src/workflows/research/screening.js";
import { standingOf } from "../../src/workflows/research/standing.js";
import type { ResearchUnit } from "../../src/workflows/research/state.js";
import { folded, goodResults, judging, ledger, material, midway } from "./documents.js";
import { cases, type Json, mutate, mutations, pointsInto, tear, torn } from "./mutations.js";

const workspace = mkdtempSync(join(tmpdir(), "rr-fuzz-"));
afterAll(() => rmSync(workspace, { recursive: true, force: true }));

const rrd = midway();
const state = { rrd, ledger, standing: standingOf(rrd, ledger) };
const candidate = (id: string) => ({
  id,
  title: `A candidate ${id}`,
  url: `file:///samples/${id}.md`,
  pdf_url: null,
  authors: [],
  date: null,
  source: "samples",
  abstract: null,
});
const batch: Batch = {
  candidates: [candidate("c1"), candidate("c2")],
  sources: [{ name: "samples", status: "ok" }],
  duplicates: [{ candidate: candidate("c3"), of: "p1" }],
};

type Kind = keyof typeof goodResults;
const kinds = Object.keys(goodResults) as Kind[];
const unitOf = (kind: Kind): ResearchUnit => ({ kind, id: goodResults[kind].unit, phase: "ANALYSIS", title: kind });
const leave = (text: string) => writeFileSync(join(workspace, "result.json"), text);
const judgeIt = (kind: Kind) => judge(state, unitOf(kind), workspace, { ...material("p3"), batch }, [], judging);

/** What was accepted can be folded, and the file stays valid; what was refused says why, and each reason that has a pointer points somewhere. */
async function expectVerdict(kind: Kind, document: Json | undefined): Promise<boolean> {
  const judged = await judgeIt(kind);
  if ("reasons" in judged) {
    expect(judged.reasons.length).toBeGreaterThan(0);
    for (const reason of judged.reasons) {
      expect(reason.trim()).not.toBe("");
      const pointer = /^(\/\S*) (?:must|is missing|".*" is)/.exec(reason)?.[1];
      if (document !== undefined && pointer !== undefined) expect(pointsInto(document, pointer === "/" ? "" : pointer), reason).toBe(true);
    }
    return false;
  }
  expect(problemsOf("rrd", folded(rrd, judged.changes, ledger))).toEqual([]);
  for (const { name, text } of judged.files ?? [])
    if (name === "product-ideas.json") expect(problemsOf("product-ideas", JSON.parse(text))).toEqual([]);
  return true;
}

describe("any result.json", () => {
  it.each(kinds)("of a unit of kind %s is folded into a valid rrd.json, or refused with reasons", async (kind) => {
    leave(JSON.stringify(goodResults[kind].result));
    expect(await judgeIt(kind)).not.toHaveProperty("reasons");

    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(mutations, async (slips) => {
        const document = mutate(goodResults[kind].result, slips);
        leave(JSON.stringify(document));
        if (await expectVerdict(kind, document)) accepted += 1;
      }),
      { numRuns: cases(0.25) },
    );
    // Neither side of the property is empty; of ideas, the strictest, one slip in fifty is accepted.
    expect(accepted).toBeGreaterThan(0);
    expect(accepted).toBeLessThan(cases(0.25));
  });

  it("that is torn or holds any bytes is accepted or refused in one sentence", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...kinds), fc.array(torn, { minLength: 1, maxLength: 3 }), async (kind, tears) => {
        leave(tears.reduce(tear, JSON.stringify(goodResults[kind].result)));
        await expectVerdict(kind, undefined);
      }),
      { numRuns: cases(0.25) },
    );
  });
});
