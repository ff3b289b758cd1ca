import { redactFor } from "../../../../src/engine/lib/redact.js";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Rrd } from "../../../../src/research/generated/rrd.js";
import { judge } from "../../../../src/research/workflow/accept.js";
import { dayOf } from "../../../../src/research/units/judged-result.js";
import { statusOf } from "../../../../src/research/workflow/next-unit.js";
import type { Unit } from "../../../../src/engine/loop/types.js";
import {
  ideas,
  narrative,
  paper,
  paperText,
  reading,
  rrdWith,
  temporaryFolder,
} from "../../../support/projects/research.js";
import type { PaperRecord } from "../../../../src/research/papers/paper-record.js";
import type { ReadingMaterial } from "../../../../src/research/units/reading/prepare.js";
import type { ReportMaterial } from "../../../../src/research/units/report/prepare.js";
import type { ScreeningMaterial } from "../../../../src/research/units/screening/prepare.js";
import type { Material } from "../../../../src/research/units/unit-kind.js";

const at = new Date("2026-03-04T05:06:07.890Z");
const judging = { iteration: 9, agent: "scripted", at };
const insights = [{ id: "insight_001", paper_id: "p1", insight: "Fourteen minutes." }];
const pool = rrdWith([paper("p1")], { insights });
const nothing = { candidates: [], sources: [], duplicates: [] };

/** What any kind of unit may have been prepared with. */
type Given = Partial<ScreeningMaterial> & ReadingMaterial & ReportMaterial;
type Rest = { readonly rrd?: Rrd; readonly material?: Given; readonly redact?: (text: string) => string };

/**
 * Judges what lies in a workspace after an agent that worked on this unit; nothing lies there where `left` is
 * undefined.
 */
async function judged(kind: Unit["kind"], id: string, left: unknown, { rrd = pool, material = {}, redact }: Rest = {}) {
  const workspace = temporaryFolder();
  if (left !== undefined) writeFileSync(join(workspace, "result.json"), JSON.stringify(left));
  const state = { rrd, ledger: [], status: statusOf(rrd, []), agentNotes: new Map() };
  return judge(
    state,
    { kind, id, phase: "ANALYSIS", title: id },
    workspace,
    { material: { batch: nothing, ...material } as Material },
    { ...judging, redact: redact ?? redactFor({}) },
  );
}
function accepted(answer: Awaited<ReturnType<typeof judged>>) {
  if ("reasons" in answer) throw new Error(answer.reasons.join("; "));
  return answer;
}
const reasonsOf = (answer: Awaited<ReturnType<typeof judged>>) => ("reasons" in answer ? answer.reasons : undefined);

describe("a result is judged by its schema first", () => {
  test("with the place of each problem, and a hint where there is one; the whole file is called /", async () => {
    const { execution } = reading("p1").scores;
    const seven = reading("p1", { scores: { ...reading("p1").scores, execution: { ...execution, novelty: 7 } } });
    expect(reasonsOf(await judged("paper", "p1", seven))).toEqual([
      expect.stringMatching(/^\/scores\/execution\/novelty must be [\w ,]+$/),
    ]);
    expect(reasonsOf(await judged("paper", "p1", []))).toEqual([expect.stringMatching(/^\/ must be /)]);
    const { results, ...misspelt } = reading("p1");
    expect(reasonsOf(await judged("paper", "p1", { ...misspelt, result: results }))).toEqual([
      expect.stringMatching(/^\/ "results" is missing \(.+\)$/),
      expect.stringMatching(/^\/ "result" is not a known field \(.+\)$/),
    ]);
  });

  test("in which what shows nothing says nothing", async () => {
    const blanks = {
      summary: "  ",
      methodology: "\n\t",
      results: "\u00a0",
      limitations: "\u200b\u2060\ufeff",
      notes: "\u3164 \u2800",
    };
    expect(reasonsOf(await judged("paper", "p1", reading("p1", blanks)))).toEqual(
      Object.keys(blanks).map((name) => `/${name} must not be empty`),
    );
    const evidence = [{ claim: "\u200b", quote: "It needs 14 minutes on one machine." }];
    expect(reasonsOf(await judged("paper", "p1", reading("p1", { evidence })))).toEqual([
      "/evidence/0/claim must not be empty",
    ]);
    expect(
      accepted(await judged("paper", "p1", reading("p1", { summary: " \u200bIt works. ", commercialized_by: " " })))
        .changes[0]?.set,
    ).toMatchObject({ analysis: { summary: " \u200bIt works. " } });
    expect(reasonsOf(await judged("report", "report", narrative({ question: " " })))).toEqual([
      "/question must not be empty",
    ]);
  });

  test("and of very many problems the first twenty are told", async () => {
    const evidence = Array.from({ length: 30 }, () => ({ claim: 1, quote: "A quote that is long enough to be one." }));
    const reasons = reasonsOf(await judged("paper", "p1", reading("p1", { evidence } as object)));
    expect(reasons).toHaveLength(20);
    expect(reasons?.[0]).toMatch(/^\/evidence\/0\/claim /);
    expect(reasons?.[19]).toMatch(/^\/evidence\/19\/claim /);
  });

  test("of its own kind: no kind of result passes for another", async () => {
    const results = {
      discovery: { unit: "discovery-1", papers: [], sources: [] },
      paper: reading("p1"),
      report: narrative({}, null),
      ideas: ideas(),
    };
    const kinds = Object.keys(results) as (keyof typeof results)[];
    for (const kind of kinds)
      for (const other of kinds) {
        const answer = await judged(kind, results[kind].unit, results[other], { material: { text: paperText("p1") } });
        expect([kind, other, "reasons" in answer]).toEqual([kind, other, kind !== other]);
      }
  });
});

describe("then by the rules of its unit", () => {
  test("a paper that somebody took out of the pool meanwhile is refused", async () => {
    expect(reasonsOf(await judged("paper", "p2", reading("p2")))).toEqual(["the paper p2 is no longer in the pool"]);
  });

  test("a reading is checked against the text that the agent was given", async () => {
    const quotes = async (material: ReadingMaterial) =>
      accepted(await judged("paper", "p1", reading("p1"), { material })).summary;
    expect(await quotes({ text: paperText("p1") })).toContain("2 of 2 quotes found");
    expect(await quotes({ unavailable: "no open copy" })).toContain("2 quotes could not be checked");
  });

  test("a discovery batch may keep what it was offered, and nothing where nothing was", async () => {
    const kept = { unit: "discovery-1", kept: [{ id: "c1" }], papers: [], sources: [] };
    const candidate: PaperRecord = {
      identifiers: {},
      id: "c1",
      title: "A candidate",
      url: "https://example.org/c1",
      pdf_url: null,
      authors: [],
      date: null,
      source: "arXiv",
      abstract: null,
    };
    const rrd = rrdWith([]);
    expect(reasonsOf(await judged("discovery", "discovery-1", kept, { rrd }))).toEqual([
      'kept names "c1", which is not a candidate of this unit',
    ]);
    const batch = { candidates: [candidate], sources: [], duplicates: [] };
    expect(await judged("discovery", "discovery-1", kept, { rrd, material: { batch } })).toMatchObject({
      ledger: { new_papers: 1 },
    });
    expect(reasonsOf(await judged("discovery", "discovery-2", kept, { rrd, material: { batch } }))).toEqual([
      'unit is "discovery-1"; this unit is "discovery-2"',
    ]);
    const none = await judged("discovery", "discovery-1", { unit: "discovery-1", papers: [], sources: [] }, { rrd });
    expect(none).toMatchObject({
      ledger: { new_papers: 0 },
      changes: [{ set: { statistics: { discovery_metrics: { sources_tried: [] } } } }],
    });
    expect(accepted(none).changes).toEqual([expect.objectContaining({ add: {} })]);
  });

  test("a report is written with what the check of its papers found", async () => {
    const checks = new Map([
      ["p1", { updates: [], checked_by: [], unchecked: [{ service: "Crossref", reason: "away" }] }],
    ]);
    expect(accepted(await judged("report", "report", narrative({}, null))).changes).toEqual([]);
    const checked = await judged("report", "report", narrative({}, null), { material: { checks } as unknown as Given });
    expect(accepted(checked).changes).toHaveLength(1);
  });
});

describe("a secret of the user's", () => {
  const redact = (text: string, except = "") =>
    except.includes("hunter-2") ? text : text.replaceAll("hunter-2", "[gone]");

  test("is taken out of a result before anything else, and that is told", async () => {
    const answer = await judged("paper", "p1", reading("p1", { notes: "It is hunter-2." }), { redact });
    expect(answer).toMatchObject({
      redacted: true,
      changes: [{ set: { notes: expect.stringContaining("It is [gone].") } }, {}],
    });
    expect(JSON.stringify(answer)).toContain("looks like a secret of yours");
    const clean = await judged("paper", "p1", reading("p1"), { redact });
    expect(clean).toMatchObject({ redacted: false });
    expect(JSON.stringify(clean)).not.toContain("looks like a secret");
  });

  test("is one only where it does not stand in the paper itself", async () => {
    const text = paperText(
      "p1",
      "The password hunter-2 is common. The method reached 87.5 % accuracy on 1,200 samples. It needs 14 minutes on one machine.",
    );
    const said = reading("p1", { notes: "Of hunter-2." });
    expect(await judged("paper", "p1", said, { redact, material: { text } })).toMatchObject({ redacted: false });
  });

  test("is taken out of a refusal too, which the next attempt reads", async () => {
    const workspace = temporaryFolder();
    writeFileSync(join(workspace, "result.json"), "hunter-2");
    const state = { rrd: pool, ledger: [], status: statusOf(pool, []), agentNotes: new Map() };
    const answer = await judge(
      state,
      { kind: "paper", id: "p1", phase: "ANALYSIS", title: "p1" },
      workspace,
      { material: {} },
      { ...judging, redact },
    );
    expect(answer).toMatchObject({ redacted: false, reasons: [expect.not.stringContaining("hunter-2")] });
  });

  test("of a usual form is taken out also where none of the user's is known", async () => {
    expect(await judged("paper", "p1", reading("p1", { notes: `It is sk-ant-${"a".repeat(24)}.` }))).toMatchObject({
      redacted: true,
    });
  });

  test("is not looked for where there is no result", async () => {
    expect(await judged("paper", "p1", undefined, { redact })).toEqual({
      redacted: false,
      dropped: [],
      reasons: ["there is no result: the final message held no JSON object, and result.json was not written"],
    });
  });
});

test("the day of an acceptance is that of UTC", () => {
  expect(dayOf(new Date("2026-03-04T23:59:59.999Z"))).toBe("2026-03-04");
  expect(dayOf(new Date("2026-03-05T00:30:00+01:00"))).toBe("2026-03-04");
});
