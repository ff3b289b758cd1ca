import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import type { Rrd, Paper } from "../../../src/research/generated/rrd.js";
import { acceptDiscovery } from "../../../src/research/units/screening/judge-batch.js";
import { searchKey } from "../../../src/research/derived/status.js";
import { statusOf } from "../../../src/research/workflow/next-unit.js";
import { deriveStatistics } from "../../../src/research/derived/statistics.js";
import { derive } from "../../../src/research/workflow/derive.js";
import { deriveTiming } from "../../../src/research/workflow/timing.js";
import { paper, rrdWith, decided, scoresOfAll } from "../../support/projects/research.js";
import { inconsistencies } from "../../../src/research/derived/inconsistencies.js";

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 10, minute)).toISOString();
const line = (
  iteration: number,
  unit: string,
  phase: LedgerLine["phase"],
  more: Partial<LedgerLine> = {},
): LedgerLine => ({
  iteration,
  at: at(iteration * 10),
  unit,
  phase,
  outcome: "accepted",
  duration_seconds: 60,
  ...more,
});
const reset = (iteration: number, to: number): LedgerLine => ({
  iteration,
  at: at(iteration * 10),
  unit: "*",
  phase: "COMPLETE",
  outcome: "reset",
  to,
});
const run = (first: number): LedgerLine[] => [
  line(first, "discovery-1", "DISCOVERY"),
  line(first + 1, "p1", "ANALYSIS"),
  line(first + 2, "report", "ANALYSIS"),
  line(first + 3, "ideas", "IDEATION"),
];
const done = rrdWith([paper("p1", { status: "presented" })], { phase: "COMPLETE" });

describe("fields of a person's own", () => {
  test("in derived objects stay, and what was derived for the other rubric goes", () => {
    const mine = { my_own_field: { kept: [1] } };
    const statistics = {
      ...mine,
      discovery_metrics: mine,
      analysis_metrics: { ...mine, avg_score: 3, avg_combined_score: 99 },
      ideation_metrics: mine,
    };
    const timing = { ...mine, discovery: mine, analysis: mine, ideation: mine, complete: mine };
    const after = derive({ ...done, statistics, timing, loop: mine }, run(1));
    const everything = [
      after.statistics,
      after.statistics?.discovery_metrics,
      after.statistics?.analysis_metrics,
      after.statistics?.ideation_metrics,
    ];
    for (const object of [
      ...everything,
      after.timing,
      after.timing?.discovery,
      after.timing?.analysis,
      after.timing?.ideation,
      after.timing?.complete,
      after.loop,
    ]) {
      expect(object).toMatchObject(mine);
    }
    expect(after.statistics?.analysis_metrics).toMatchObject({ avg_combined_score: null });
    expect(after.statistics?.analysis_metrics).not.toHaveProperty("avg_score");
  });
});

describe("timing after a reset", () => {
  const starts = ({ timing }: Rrd) =>
    [timing?.discovery, timing?.analysis, timing?.ideation].map((span) => span?.started_at);
  const first = derive(done, run(1));

  test("of everything begins anew, with the phases in order", () => {
    const ledger = [...run(1), reset(5, 0), ...run(6)];
    const after = derive({ ...done, timing: null }, ledger);
    expect(starts(after)).toEqual([at(59), at(69), at(89)]);
    expect(after.timing?.research_started_at).toBe(at(59));
    expect(after.timing?.discovery).toMatchObject({ ended_at: at(60), duration_seconds: 60 });
    expect(after.timing?.analysis).toMatchObject({
      ended_at: at(80),
      duration_seconds: 660,
      avg_seconds_per_paper: 60,
    });
  });

  test("to an iteration keeps what came before it and forgets the phases that were undone", () => {
    expect(starts(first)).toEqual([at(9), at(19), at(39)]);
    const undone = derive({ ...first, phase: "ANALYSIS", papers_pool: [paper("p1")] }, [...run(1), reset(5, 1)]);
    expect(starts(undone)).toEqual([at(9), null, null]);
    expect(undone.timing).toMatchObject({
      research_started_at: at(9),
      analysis: { ended_at: null, duration_seconds: null, avg_seconds_per_paper: null },
    });
    const again = derive({ ...undone, papers_pool: done.papers_pool }, [...run(1), reset(5, 1), ...run(6).slice(1)]);
    expect(starts(again)).toEqual([at(9), at(69), at(89)]);
  });

  test("keeps what a run of the original recorded before the ledger began", () => {
    const timing = {
      research_started_at: "2025-01-01T00:00:00Z",
      analysis: { started_at: "2025-01-02T00:00:00Z", avg_seconds_per_paper: 7 },
    };
    const after = deriveTiming({ ...done, phase: "ANALYSIS", timing }, [...run(1), reset(5, 0)]);
    expect(after).toMatchObject({
      research_started_at: "2025-01-01T00:00:00Z",
      analysis: { started_at: "2025-01-02T00:00:00Z" },
    });
  });
});

describe("an exhausted search", () => {
  const exhausted = (over: Partial<Rrd["requirements"]> = {}, searched_for?: string): Rrd => {
    const rrd = rrdWith([], { phase: "DISCOVERY" });
    const searched = searched_for ?? searchKey(rrd);
    const statistics = {
      discovery_metrics: {
        batches: 2,
        batches_without_new: 2,
        sources_tried: ["arXiv", "web"],
        searched_for: searched,
      },
    };
    return { ...rrd, requirements: { ...rrd.requirements, ...over }, statistics };
  };

  test("is over as long as nothing else is searched for", () => {
    expect(statusOf(exhausted(), []).isDiscoveryOver).toBe(true);
    const { statistics: { discovery_metrics: { searched_for: _, ...metrics } = {} } = {}, ...rest } =
      exhausted() as Rrd & { statistics: { discovery_metrics: Record<string, unknown> } };
    expect(statusOf({ ...rest, statistics: { discovery_metrics: metrics } } as Rrd, []).isDiscoveryOver).toBe(true);
  });

  test.each<[string, Partial<Rrd["requirements"]>]>([
    ["keywords", { keywords: ["something else"] }],
    ["sources", { sources: ["arXiv"] }],
    ["target", { target_papers: 9 }],
  ])("goes on once a person has changed the %s", (_, over) => {
    expect(statusOf(exhausted(over), []).isDiscoveryOver).toBe(false);
  });

  test.each<[string, Partial<Rrd["requirements"]>, number]>([
    ["of the same search", {}, 3],
    ["of another search", { keywords: ["something else"] }, 1],
  ])(
    "an empty batch %s is counted with those before it accordingly, and notes what was searched for",
    (_, over, batches) => {
      const rrd = exhausted(over);
      const judging = { iteration: 3, agent: "a", at: new Date(0) };
      const accepted = acceptDiscovery(
        rrd,
        "discovery-3",
        { unit: "discovery-3", papers: [], sources: [] },
        { candidates: [], sources: [], duplicates: [] },
        judging,
      );
      const set = "changes" in accepted ? accepted.changes[0]?.set : undefined;
      expect(set?.["statistics"]).toMatchObject({
        discovery_metrics: { batches_without_new: batches, searched_for: searchKey(rrd) },
      });
    },
  );
});

test("another window or field is another search, while one that an earlier version noted without them still counts as made", () => {
  const over = (requirements: Partial<Rrd["requirements"]>, searched_for: string): boolean => {
    const rrd = { ...rrdWith([]), phase: "DISCOVERY" as const };
    const statistics = { discovery_metrics: { searched_for, exhausted: "every round is done" } };
    return statusOf({ ...rrd, requirements: { ...given, ...requirements }, statistics }, []).isDiscoveryOver;
  };
  const given = {
    keywords: ["k"],
    sources: ["arXiv"],
    target_papers: 3,
    focus_area: "robotics",
    time_window_days: 30,
    historical_lookback_days: 900,
  };
  const now = searchKey({ ...rrdWith([]), requirements: given });
  expect(over({}, now)).toBe(true);
  for (const other of [{ focus_area: "biology" }, { time_window_days: 31 }, { historical_lookback_days: 901 }])
    expect(over(other, now)).toBe(false);
  const before = createHash("sha256")
    .update(JSON.stringify([3, ["arXiv"], ["k"]]))
    .digest("hex")
    .slice(0, 16);
  expect(over({}, before)).toBe(true);
});

const strong = { execution: { ...scoresOfAll(3).execution }, blue_ocean: { ...scoresOfAll(1).strategic } };
const insightful: Paper = {
  ...decided("c", "insights_extracted", 2, "EXTRACT_INSIGHTS"),
  score: 22,
  score_breakdown: strong,
};

describe("what follows from the records", () => {
  const pool = [decided("a", "presented", 4, "PRESENT"), decided("b", "rejected", 1, "REJECT"), insightful, paper("d")];

  test("counts and averages are derived, whatever the file said", () => {
    const rrd = {
      ...rrdWith(pool),
      statistics: { total_presented: 99, discovery_metrics: { sources_tried: ["arXiv"] } },
    };
    expect(deriveStatistics(rrd)).toMatchObject({
      total_discovered: 4,
      total_analyzed: 3,
      total_presented: 1,
      total_rejected: 1,
      total_insights_extracted: 1,
      discovery_metrics: { sources_tried: ["arXiv"], sources_blocked: [] },
      analysis_metrics: {
        avg_combined_score: 24,
        combined_score_distribution: { "0-17": 1, "18-24": 1, "25-34": 0, "35-50": 1 },
      },
    });
  });

  test("a retracted paper and one of which nothing could be read are in no average, while one read from its abstract is", () => {
    const averages = (more: readonly Paper[]) => deriveStatistics(rrdWith([...pool, ...more])).analysis_metrics;
    const zero = decided("z", "rejected", 0, "REJECT");
    const title: Paper = { ...zero, read_depth: "abstract", abstract: null };
    expect(averages([{ ...zero, retracted: true }, title])).toEqual(averages([]));
    expect(averages([{ ...title, abstract: "It is about hands." }])).toMatchObject({ avg_combined_score: 18 });
    expect(averages([{ ...title, text_sha256: "0".repeat(64) }])).toMatchObject({ avg_combined_score: 18 });
  });

  test("a check for retractions that was undone is no longer told of", () => {
    const retraction_check = { at: "2026-11-22T10:00:00.000Z", checked: 0, not_checked: 8, demoted: [] };
    expect(deriveStatistics({ ...rrdWith(pool), statistics: { retraction_check } })).not.toHaveProperty(
      "retraction_check",
    );
  });

  test("deriving twice changes nothing more", () => {
    const ledger: LedgerLine[] = [
      {
        iteration: 1,
        at: "2026-01-01T00:10:00.000Z",
        unit: "a",
        phase: "ANALYSIS",
        outcome: "accepted",
        duration_seconds: 600,
      },
    ];
    const once = derive(rrdWith(pool), ledger);
    expect(derive(once, ledger)).toEqual(once);
    expect(once.timing?.analysis).toMatchObject({
      started_at: "2026-01-01T00:00:00.000Z",
      papers_analyzed: 3,
      avg_seconds_per_paper: 600,
    });
  });

  test("a phase that the records contradict is put right", () => {
    expect(derive({ ...rrdWith(pool), phase: "COMPLETE" }, []).phase).toBe("ANALYSIS");
    expect(derive({ ...rrdWith(pool.slice(0, 3)), phase: "COMPLETE" }, []).phase).toBe("COMPLETE");
  });

  test("papers are read by priority, then in the order they were found; refused ones are set aside", () => {
    const refusals = [1, 2, 3].map((iteration) => ({ iteration, at: "", reasons: ["x"] }));
    const rrd = rrdWith([
      paper("low", { priority: 1 }),
      paper("first"),
      paper("second"),
      paper("high", { priority: 5 }),
      paper("bad", { priority: 5, refusals }),
    ]);
    const status = statusOf(rrd, []);
    expect(status.readablePapers.map(({ id }) => id)).toEqual(["high", "first", "second", "low"]);
    expect(status.refusedPapers.map(({ id }) => id)).toEqual(["bad"]);
  });

  test("contradictions of a file are named with a pointer and the derived value", () => {
    const wrong = { ...decided("a", "presented", 4, "REJECT"), score: 12 };
    const found = inconsistencies({
      ...rrdWith([wrong]),
      statistics: { total_presented: 5 },
      insights: [{ insight: "i", paper_id: "zz" }],
    });
    expect(found).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ pointer: "/statistics/total_presented", derived: 1 }),
        expect.objectContaining({ pointer: "/papers_pool/0/score", derived: 40 }),
        expect.objectContaining({ pointer: "/papers_pool/0/decision", derived: "PRESENT" }),
        expect.objectContaining({ pointer: "/insights/0/paper_id" }),
      ]),
    );
  });

  test("quoted words that lie outside of their passage are named by their place", () => {
    const quote = (quoted: string) => ({ claim: "c", status: "verified" as const, passage: "It held.", quoted });
    const evidence = [quote("0-8"), quote("3-12"), quote("0-4, 2-6")];
    const { papers_pool: papers } = rrdWith([paper("p1", { analysis: { summary: "s", evidence } })]);
    expect(inconsistencies(derive(rrdWith(papers), [])).map(({ pointer }) => pointer)).toEqual([
      "/papers_pool/0/analysis/evidence/1/quoted",
      "/papers_pool/0/analysis/evidence/2/quoted",
    ]);
  });

  test("a priority that is none is named by its place; 1 to 5 and none at all are right", () => {
    const papers = [9, 0, 1, 5, null].map((priority, index) => paper(`p${index}`, { priority }));
    expect(inconsistencies(derive(rrdWith(papers), [])).map(({ pointer }) => pointer)).toEqual([
      "/papers_pool/0/priority",
      "/papers_pool/1/priority",
    ]);
  });

  test("a retracted paper is rejected whatever its scores say, and one read by its abstract alone gives insights", () => {
    const { execution, strategic: blue_ocean } = scoresOfAll(4);
    const scored = { score_breakdown: { execution, blue_ocean } };
    const retracted = { ...scored, retracted: true, status: "rejected", decision: "REJECT" } as const;
    const brief = {
      ...scored,
      read_depth: "abstract",
      status: "insights_extracted",
      decision: "EXTRACT_INSIGHTS",
    } as const;
    const neither = { ...scored, status: "rejected", decision: "REJECT" } as const;
    const papers = [paper("p1", retracted), paper("p2", brief), paper("p3", neither)];
    expect(inconsistencies(derive(rrdWith(papers), [])).map(({ pointer }) => pointer)).toEqual([
      "/papers_pool/2/decision",
    ]);
  });

  test("a consistent file has none", () => {
    expect(inconsistencies(derive(rrdWith(pool), []))).toEqual([]);
  });
});
