import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "../support/runner/fast-check.js";
import { afterAll, describe, expect, it } from "vitest";
import { problemsOf } from "../../src/engine/storage/schema-check.js";
import { redactFor } from "../../src/engine/lib/redact.js";
import { judge } from "../../src/research/workflow/accept.js";
import { statusOf } from "../../src/research/workflow/next-unit.js";
import type { Unit } from "../../src/engine/loop/types.js";
import type { ReadingMaterial } from "../../src/research/units/reading/prepare.js";
import type { ScreeningMaterial } from "../../src/research/units/screening/prepare.js";
import { batch, folded, goodResults, judging, ledger, material, midway } from "./documents.js";
import { cases, type Json, mutate, mutations, pointsInto, tear, torn } from "./mutations.js";
import { tallyOf } from "./tally.js";

const workspace = mkdtempSync(join(tmpdir(), "rr-fuzz-"));
afterAll(() => rmSync(workspace, { recursive: true, force: true }));

const rrd = midway();
const state = { rrd, ledger, status: statusOf(rrd, ledger), agentNotes: new Map() };

type Kind = keyof typeof goodResults;
const kinds = Object.keys(goodResults) as Kind[];
const unitOf = (kind: Kind): Unit => ({ kind, id: goodResults[kind].unit, phase: "ANALYSIS", title: kind });
const leave = (text: string) => writeFileSync(join(workspace, "result.json"), text);
const given: ReadingMaterial & ScreeningMaterial = { ...material("p3"), batch };
const judgeIt = (kind: Kind) =>
  judge(state, unitOf(kind), workspace, { material: given }, { ...judging, redact: redactFor({}) });

/**
 * What was accepted can be folded, and the file stays valid; what was refused says why, and each reason that has a
 * pointer points somewhere.
 */
async function expectVerdict(kind: Kind, document: Json | undefined): Promise<boolean> {
  const judged = await judgeIt(kind);
  if ("reasons" in judged) {
    expect(judged.reasons.length).toBeGreaterThan(0);
    for (const reason of judged.reasons) {
      expect(reason.trim()).not.toBe("");
      const pointer = /^(\/\S*) (?:must|is missing|".*" is)/.exec(reason)?.[1];
      if (document !== undefined && pointer !== undefined)
        expect(pointsInto(document, pointer === "/" ? "" : pointer), reason).toBe(true);
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

    const tally = tallyOf(`result.json of ${kind}`, cases(0.25));
    await fc.assert(
      fc.asyncProperty(mutations, async (slips) => {
        const document = mutate(goodResults[kind].result, slips);
        leave(JSON.stringify(document));
        tally.count((await expectVerdict(kind, document)) ? "accepted" : "refused");
      }),
      { numRuns: cases(0.25) },
    );
    // Of ideas, the strictest, one slip in fifty is accepted.
    tally.close({ accepted: 0.005, refused: 0.3 });
  });

  it("that is torn or holds any bytes is accepted or refused, in one sentence where it is no JSON", async () => {
    const tally = tallyOf("torn result.json", cases(0.25));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...kinds),
        fc.array(torn, { minLength: 1, maxLength: 3 }),
        async (kind, tears) => {
          const text = tears.reduce(tear, JSON.stringify(goodResults[kind].result));
          leave(text);
          const isJson = holdsJson(text);
          const accepted = await expectVerdict(kind, undefined);
          if (!isJson)
            expect(await judgeIt(kind)).toMatchObject({
              reasons: [expect.stringMatching(/^result\.json is (not valid JSON at line \d+, column \d+: .|empty$)/)],
            });
          tally.count(accepted ? "accepted" : isJson ? "refused" : "no JSON");
        },
      ),
      { numRuns: cases(0.25) },
    );
    tally.close({ accepted: 0.02, "no JSON": 0.5 });
  });
});

function holdsJson(text: string): boolean {
  try {
    JSON.parse(text.replace(/^\uFEFF/, ""));
    return true;
  } catch {
    return false;
  }
}
