import { describe, expect, test } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { deriveStatistics } from "../../../src/research/derived/statistics.js";
import { derive } from "../../../src/research/workflow/derive.js";
import { periodOf, periodText, timePerPaper, timeSpent } from "../../../src/research/workflow/timing.js";
import { decided, paper, rrdWith } from "../../support/projects/research.js";

/** A day of January, or of November ten months later. */
const january = (day: number, hour = 10) => new Date(Date.UTC(2026, 0, day, hour)).toISOString();
const november = (hour: number) => new Date(Date.UTC(2026, 10, 22, hour)).toISOString();
const line = (iteration: number, at: string, unit: string, more: Partial<LedgerLine> = {}): LedgerLine => ({
  iteration,
  at,
  unit,
  phase: unit === "ideas" ? "IDEATION" : "ANALYSIS",
  outcome: "accepted",
  duration_seconds: 60,
  agent: "claude",
  ...more,
});
const reset = (iteration: number, at: string, unit: string): LedgerLine => ({
  iteration,
  at,
  unit,
  phase: "COMPLETE",
  outcome: "reset",
});
const pool = [decided("a", "presented", 4, "PRESENT"), decided("b", "rejected", 1, "REJECT")];

describe("a report that is written again", () => {
  const timing = {
    research_started_at: january(19),
    discovery: { started_at: january(19), ended_at: january(19, 11), duration_seconds: 3600 },
    analysis: {
      started_at: january(19, 11),
      ended_at: january(20, 9),
      duration_seconds: 30_615,
      papers_analyzed: 2,
      avg_seconds_per_paper: 1015,
    },
    ideation: { started_at: january(20, 9), ended_at: january(20, 10), duration_seconds: 3600 },
    complete: { ended_at: january(20, 10) },
  };
  const original: Rrd = { ...rrdWith(pool), phase: "COMPLETE", timing };
  const ledger = [
    reset(1, november(9), "report"),
    line(2, november(10), "report", { agent: "baseline" }),
    line(3, november(11), "ideas", { agent: "baseline" }),
  ];

  test("keeps the times of another program's work, at every step and however often they are derived", () => {
    let rrd = original;
    for (const [length, phase] of [
      [1, "ANALYSIS"],
      [2, "IDEATION"],
      [3, "COMPLETE"],
      [3, "COMPLETE"],
    ] as const)
      rrd = derive({ ...rrd, phase }, ledger.slice(0, length));
    expect(rrd.timing).toEqual(timing);
    expect(timeSpent(rrd, ledger)).toBe((3600 + 30_615 + 3600 + 120) * 1000);
  });

  test("is no less the first time after a check, whose time is neither that of the work nor of a paper", () => {
    const rrd = { ...rrdWith(pool), phase: "COMPLETE" as const };
    const work = [line(1, january(1), "a"), line(2, january(1, 11), "b"), line(3, january(1, 12), "report")];
    const checks = [line(4, january(2), "check"), line(5, january(2, 11), "mend"), line(6, january(2, 12), "check")];
    const { timing } = derive(rrd, work);
    expect(derive(rrd, [...work, ...checks]).timing).toEqual(timing);
    expect(derive(rrd, [...work, ...checks, line(7, january(3), "report")]).timing).toEqual(timing);
    const ofPapers = work.slice(0, 2).map((each) => ({ ...each, duration_seconds: 10 }));
    expect(timePerPaper(rrd, [...ofPapers, ...work.slice(2), ...checks])).toBe(10_000);
  });

  test("keeps the period and the agents of the work, and says when it was written again", () => {
    const period = periodOf(
      derive({ ...original, phase: "ANALYSIS" }, ledger.slice(0, 1)),
      ledger.slice(0, 1),
      new Date(november(10)),
    );
    expect(period).toMatchObject({ from: "2026-01-19", until: "2026-01-20" });
    expect(period.hasEarlierWork).toBe(true);
    expect(periodText(period)).toBe("2026-01-19 to 2026-01-20");
  });

  test("of which no time was recorded claims none, but what the report before stated", () => {
    const bare = { ...original, timing: null };
    const once = ledger.slice(0, 2);
    const after = derive({ ...bare, phase: "COMPLETE" }, once);
    expect(after.timing).toMatchObject({ research_started_at: null, analysis: { started_at: null, ended_at: null } });
    expect(after.timing?.complete?.ended_at).toBe(null);
    expect(timeSpent(after, once)).toBe(undefined);
    expect(periodText(periodOf(bare, once, new Date(november(10))))).toBe("not recorded");
    const stated = { research_period: "January 14-15, 2026", agent: "Research-Ralph (Some Model)" };
    const period = periodOf({ ...bare, statistics: { stated } }, once, new Date(november(10)));
    expect(periodText(period)).toBe("January 14-15, 2026 (as an earlier report states)");
    expect(period.stated?.agent).toBe("Research-Ralph (Some Model)");
  });

  test("keeps the times of our own work too, while a paper read since moves them", () => {
    const own = [
      line(1, january(1, 10), "discovery-1", { phase: "DISCOVERY" }),
      line(2, january(1, 11), "a"),
      line(3, january(1, 12), "b"),
      line(4, january(1, 13), "report"),
    ];
    const before = derive({ ...rrdWith(pool), phase: "COMPLETE" }, own);
    const again = [...own, reset(5, november(9), "report"), line(6, november(10), "report")];
    expect(derive(before, again).timing).toEqual(before.timing);

    const more = [...own, line(5, november(9), "c"), line(6, november(10), "report")];
    const after = derive(before, more);
    expect(after.timing?.analysis).toMatchObject({
      started_at: before.timing?.analysis?.started_at,
      ended_at: november(10),
    });
    // Two hours in January, one in November, each with the minute of its first line.
    expect(after.timing?.analysis?.duration_seconds).toBe(2 * 3600 + 60 + 3600 + 60);
    expect(periodOf(before, own, new Date(november(10)))).toMatchObject({ until: "2026-01-01" });
    expect(periodOf(before, more.slice(0, 5), new Date(november(10)))).toMatchObject({ until: "2026-11-22" });
  });

  test("adds what is read later to the duration that another program recorded, and no months between", () => {
    const later = [line(1, november(9), "c"), line(2, november(10), "report")];
    const wanted = { started_at: january(19, 11), ended_at: november(10), duration_seconds: 30_615 + 3600 + 60 };
    const once = derive({ ...original, papers_pool: [...pool, paper("c", { status: "rejected" })] }, later);
    expect(once.timing?.analysis).toMatchObject(wanted);
    const twice = derive(once, later);
    expect(twice.timing).toEqual(once.timing);
    expect(timeSpent(twice, later)).toBe((3600 + 30_615 + 3600 + 120) * 1000);
  });
});

describe("averages", () => {
  test("of no paper are none, and never 0", () => {
    expect(deriveStatistics(rrdWith([])).analysis_metrics).toMatchObject({
      avg_combined_score: null,
      avg_execution_score: null,
    });
  });

  test("that an old file states otherwise are kept beside ours; of our own files they are only older", () => {
    const statistics = {
      total_insights_extracted: 78,
      total_presented: 1,
      analysis_metrics: { avg_combined_score: 40, combined_score_distribution: { "0-17": 9 } },
    };
    const { format: _, loop: __, ...bare } = rrdWith(pool);
    const old: Rrd = { ...bare, statistics };
    const stated = { total_insights_extracted: 78, avg_combined_score: 40, combined_score_distribution: { "0-17": 9 } };
    const derived = deriveStatistics(old);
    expect(derived).toMatchObject({ stated, total_insights_extracted: 0 });
    expect(derived.stated).toEqual(stated);
    const ours: Rrd = { ...old, format: 1, statistics: derived };
    expect(deriveStatistics(ours).stated).toEqual(stated);
    expect(deriveStatistics({ ...old, format: 1 })).not.toHaveProperty("stated");
  });
});
