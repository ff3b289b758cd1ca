import type { Paper, Rrd } from "../../generated/rrd.js";
import { decisionOf, scoresOf, statusAfter, totalsOf, usesBothRubrics } from "../decisions/scores-and-decision.js";
import { deriveStatistics } from "./statistics.js";

/** Something a file says of itself that its own records contradict. A warning, never an error. */
interface Inconsistency {
  /** JSON pointer into rrd.json. */
  readonly pointer: string;
  readonly message: string;
  /** What the records say instead. */
  readonly derived?: unknown;
}

/** Every contradiction between a file's statements and its records; runs of the original left many. */
export function inconsistencies(rrd: Rrd): Inconsistency[] {
  return [
    ...ofStatistics(rrd),
    ...rrd.papers_pool.flatMap((paper, index) => ofPaper(rrd, paper, `/papers_pool/${index}`)),
    ...ofInsights(rrd),
    ...ofPool(rrd),
  ];
}

function ofStatistics(rrd: Rrd): Inconsistency[] {
  if (rrd.statistics == null) return [];
  const derived = deriveStatistics(rrd);
  return differences(rrd.statistics, derived, "/statistics").map(([pointer, stated, actual]) => ({
    pointer,
    message: `says ${JSON.stringify(stated)}, the records say ${JSON.stringify(actual)}`,
    derived: actual,
  }));
}

/** Leaves that both sides have and that differ; averages are compared to a tenth. */
function differences(stated: object, derived: object, pointer: string): [string, unknown, unknown][] {
  return Object.entries(stated).flatMap(([key, value]): [string, unknown, unknown][] => {
    const actual = (derived as Record<string, unknown>)[key];
    const at = `${pointer}/${key}`;
    if (actual === undefined || value == null) return [];
    if (typeof value === "number" && typeof actual === "number")
      return Math.abs(value - actual) < 0.11 ? [] : [[at, value, actual]];
    if (Array.isArray(value) || Array.isArray(actual))
      return JSON.stringify(value) === JSON.stringify(actual) ? [] : [[at, value, actual]];
    if (typeof value === "object" && typeof actual === "object" && actual !== null)
      return differences(value, actual, at);
    return value === actual ? [] : [[at, value, actual]];
  });
}

function ofPaper(rrd: Rrd, paper: Paper, pointer: string): Inconsistency[] {
  const found: Inconsistency[] = [];
  const { priority } = paper;
  if (priority != null && !(priority >= 1 && priority <= 5))
    found.push({
      pointer: `${pointer}/priority`,
      message: `is ${priority}; priorities go from 1 to 5, 5 is read first`,
    });
  const scores = scoresOf(paper);
  if (scores !== undefined) {
    const totals = totalsOf(rrd, scores);
    const stated = {
      score: paper.score,
      ...(paper.score_breakdown as { execution_total?: number; blue_ocean_total?: number; combined_total?: number }),
    };
    const check = (field: string, value: unknown, actual: number | undefined) => {
      if (typeof value === "number" && actual !== undefined && Math.abs(value - actual) > 0.05) {
        found.push({
          pointer: `${pointer}/${field}`,
          message: `says ${value}, the points add up to ${actual}`,
          derived: actual,
        });
      }
    };
    check("score", stated.score, totals.combined);
    check("score_breakdown/execution_total", stated.execution_total, totals.execution);
    check("score_breakdown/blue_ocean_total", stated.blue_ocean_total, totals.strategic);
    check("score_breakdown/combined_total", stated.combined_total, totals.combined);
    const decision = decisionOf(rrd, totals);
    if (typeof paper.decision === "string" && !paper.decision.toUpperCase().startsWith(decision)) {
      found.push({
        pointer: `${pointer}/decision`,
        message: `says ${paper.decision}, the scores say ${decision}`,
        derived: decision,
      });
    }
  }
  if (scores === undefined && paper.score_breakdown != null) {
    found.push({
      pointer: `${pointer}/score_breakdown`,
      message: "lacks some of the points, so nothing can be derived from it",
    });
  }
  const known =
    paper.decision == null
      ? undefined
      : Object.entries(statusAfter).find(([name]) => paper.decision?.toUpperCase().startsWith(name));
  if (known !== undefined && known[1] !== paper.status) {
    found.push({
      pointer: `${pointer}/status`,
      message: `is ${paper.status}, the decision ${paper.decision} means ${known[1]}`,
      derived: known[1],
    });
  }
  return found;
}

function ofInsights(rrd: Rrd): Inconsistency[] {
  const papers = new Set(rrd.papers_pool.map((paper) => paper.id));
  return (rrd.insights ?? []).flatMap((insight, index) => {
    const pointer = `/insights/${index}`;
    const unknown = (insight.cross_refs ?? []).filter((id) => !papers.has(id));
    const of = insight.paper_id;
    return [
      ...(of != null && !papers.has(of)
        ? [{ pointer: `${pointer}/paper_id`, message: `names ${of}, which is not in the pool` }]
        : []),
      ...(unknown.length > 0
        ? [{ pointer: `${pointer}/cross_refs`, message: `names ${unknown.join(", ")}, not in the pool` }]
        : []),
    ];
  });
}

function ofPool(rrd: Rrd): Inconsistency[] {
  const found: Inconsistency[] = [];
  const decided = rrd.papers_pool.filter((paper) => paper.status !== "pending" && paper.status !== "analyzing");
  const presented = decided.filter((paper) => paper.status === "presented").length;
  if (decided.length >= 10 && presented === decided.length) {
    found.push({
      pointer: "/papers_pool",
      message: `all ${presented} papers are presented: the rubric does not distinguish them`,
    });
  }
  const window = rrd.requirements.time_window_days;
  const start = Date.parse(rrd.timing?.research_started_at ?? "");
  if (window != null && !Number.isNaN(start)) {
    const old = rrd.papers_pool.filter((paper) => start - Date.parse(paper.date ?? "") > window * 86_400_000).length;
    if (old * 2 > rrd.papers_pool.length) {
      found.push({
        pointer: "/requirements/time_window_days",
        message: `is ${window}, but ${old} of ${rrd.papers_pool.length} papers are older`,
      });
    }
  }
  if (usesBothRubrics(rrd)) {
    const one = decided.filter(
      (paper) => scoresOf(paper)?.strategic === undefined && scoresOf(paper) !== undefined,
    ).length;
    if (one > 0)
      found.push({
        pointer: "/papers_pool",
        message: `${one} papers have no strategic scores although the mission asks for both rubrics`,
      });
  }
  const phaseDone = rrd.phase === "COMPLETE" || rrd.phase === "IDEATION";
  const pending = rrd.papers_pool.length - decided.length;
  if (phaseDone && pending > 0)
    found.push({
      pointer: "/phase",
      message: `is ${rrd.phase}, but ${pending} papers are not analysed`,
      derived: "ANALYSIS",
    });
  return found;
}
