import type { OwnRubric, Paper, Rrd } from "../../generated/rrd.js";
import { couldBeRead } from "../read-depth.js";

export const executionDimensions = [
  "novelty",
  "feasibility",
  "time_to_poc",
  "value_market",
  "defensibility",
  "adoption",
] as const;
export const strategicDimensions = [
  "market_creation",
  "first_mover_window",
  "network_effects",
  "strategic_clarity",
] as const;

/** Points of 0 to 5 by dimension. */
type Points = Readonly<Record<string, number>>;

/** The points of one paper, whichever of the historic shapes its record has. */
export interface Scores {
  /** By the execution rubric, or by a rubric of the person's own. */
  readonly execution: Points;
  /** Absent where one rubric was used. */
  readonly strategic?: Points;
}

export interface Totals {
  /** 0 to 30, or 0 to `fullScore` of a rubric of the person's own. */
  readonly execution: number;
  /** 0 to 20; absent where one rubric was used. */
  readonly strategic?: number;
  /** 0 to `fullScore`. */
  readonly combined: number;
}

export type Decision = "PRESENT" | "EXTRACT_INSIGHTS" | "REJECT";

export const statusAfter = {
  PRESENT: "presented",
  EXTRACT_INSIGHTS: "insights_extracted",
  REJECT: "rejected",
} as const satisfies Record<Decision, Paper["status"]>;

/** A decision as people read it. */
export const decisionWords: Readonly<Record<Decision, string>> = {
  PRESENT: "included",
  EXTRACT_INSIGHTS: "kept for insights",
  REJECT: "rejected",
};

/** From here a presented paper is a priority. */
export const priorityThreshold = 35;
const insightThreshold = 18;
const loneInsightThreshold = 12;

const focusWeights: Readonly<Record<string, Points>> = {
  balanced: {},
  market_creation: { market_creation: 2 },
  defensibility: { first_mover_window: 2, network_effects: 2 },
  speed: { time_to_poc: 2, strategic_clarity: 2 },
};

/** The rubric of the person's own, where the project has one. */
export const ownRubricOf = ({ rubric }: Pick<Rrd, "rubric">): OwnRubric | undefined =>
  typeof rubric === "object" ? rubric : undefined;

/** The dimensions that a project's papers get points for, by id. */
export const dimensionsOf = (rrd: Pick<Rrd, "rubric">): Readonly<Record<keyof Scores, readonly string[]>> => {
  const own = ownRubricOf(rrd);
  return own === undefined
    ? { execution: executionDimensions, strategic: strategicDimensions }
    : { execution: own.dimensions.map(({ id }) => id), strategic: [] };
};

/** What a person calls a dimension of their own rubric; undefined for one of the original's. */
export const ownName = (rrd: Pick<Rrd, "rubric">, dimension: string): string | undefined =>
  ownRubricOf(rrd)?.dimensions.find(({ id }) => id === dimension)?.name;

/** Whether this project is judged by both rubrics. The oldest files have no mission and used one. */
export const usesBothRubrics = (rrd: Rrd): boolean =>
  usesScores(rrd) && ownRubricOf(rrd) === undefined && rrd.mission != null && rrd.mission.blue_ocean_scoring !== false;

/** Whether papers are scored at all. */
export const usesScores = ({ rubric }: Pick<Rrd, "rubric">): boolean => rubric !== "none";

/**
 * Whether points, where there are some, only order: the criteria alone include and exclude, or nothing but a reading is
 * asked for. Files from before that could be chosen let points decide on what the criteria let through.
 */
export const criteriaDecide = (rrd: Rrd): boolean => {
  const { rubric, requirements } = rrd;
  const own = ownRubricOf(rrd);
  return (
    rubric === "none" ||
    (own !== undefined && own.present === undefined) ||
    (rubric !== undefined && (requirements.criteria ?? []).length > 0)
  );
};

/**
 * The points of a paper, or undefined where it has none or some are missing. Reads the nested shape and the flat one of
 * the oldest files, in which some runs put the dimensions of both rubrics side by side.
 */
export function scoresOf(rrd: Pick<Rrd, "rubric">, paper: Pick<Paper, "score_breakdown">): Scores | undefined {
  const breakdown: object | null | undefined = paper.score_breakdown;
  if (breakdown == null) return undefined;
  const nested = breakdown as { execution?: unknown; blue_ocean?: unknown; points?: unknown };
  if (ownRubricOf(rrd) !== undefined) {
    const points = pointsOf(nested.points, dimensionsOf(rrd).execution);
    return points === undefined ? undefined : { execution: points };
  }
  const execution = pointsOf(nested.execution ?? breakdown, executionDimensions);
  const strategic = pointsOf(nested.blue_ocean ?? breakdown, strategicDimensions);
  if (execution === undefined) return undefined;
  return strategic === undefined ? { execution } : { execution, strategic };
}

function pointsOf(points: unknown, names: readonly string[]): Points | undefined {
  if (typeof points !== "object" || points === null) return undefined;
  const given = points as Record<string, unknown>;
  return names.every((name) => typeof given[name] === "number") ? (given as Record<string, number>) : undefined;
}

/**
 * Sums of the points, those of the original's rubrics weighted by the mission's focus and scaled back to 30 and 20,
 * rounded to one decimal.
 */
export function totalsOf(rrd: Rrd, scores: Scores): Totals {
  const weights = focusWeights[rrd.mission?.strategic_focus ?? "balanced"] ?? {};
  const execution = weighted(scores.execution, dimensionsOf(rrd).execution, weights);
  if (scores.strategic === undefined || !usesBothRubrics(rrd)) return { execution, combined: execution };
  const strategic = weighted(scores.strategic, strategicDimensions, weights);
  return { execution, strategic, combined: round(execution + strategic) };
}

function weighted(points: Points, names: readonly string[], weights: Points): number {
  let [sum, full] = [0, 0];
  for (const name of names) {
    const weight = weights[name] ?? 1;
    sum += (points[name] ?? 0) * weight;
    full += weight;
  }
  return round((sum / full) * names.length);
}

const round = (value: number): number => Math.round(value * 10) / 10;

/** The decision that follows from the totals alone. Thresholds: docs/reviews.md. */
export function decisionOf(rrd: Rrd, totals: Totals): Decision {
  if (!usesBothRubrics(rrd)) {
    const { present, insights } = loneThresholds(rrd);
    if (totals.execution >= present) return "PRESENT";
    return totals.execution >= insights ? "EXTRACT_INSIGHTS" : "REJECT";
  }
  if (totals.combined >= (rrd.mission?.min_combined_score ?? 25) || totals.combined >= priorityThreshold)
    return "PRESENT";
  const strong = totals.execution >= 18 || (totals.strategic ?? 0) >= (rrd.mission?.min_blue_ocean_score ?? 12);
  return totals.combined >= insightThreshold && strong ? "EXTRACT_INSIGHTS" : "REJECT";
}

/** Where one rubric decides: from how many points a paper is presented, and kept for its insights. */
export function loneThresholds(rrd: Rrd): { readonly present: number; readonly insights: number } {
  const own = ownRubricOf(rrd);
  if (own === undefined)
    return { present: rrd.requirements.min_score_to_present ?? 18, insights: loneInsightThreshold };
  const { present = 0, insights = present } = own;
  return { present, insights };
}

/**
 * The decision on a paper that no criterion excludes or leaves open, with what is known of it taken into account, and
 * why it differs from the scores' where it does. What a person includes is presented whatever its points. `totals`:
 * absent where it is not scored.
 */
export function decide(
  rrd: Rrd,
  totals: Totals | undefined,
  paper: Pick<Paper, "retracted" | "read_depth" | "override">,
): { decision: Decision; because?: string } {
  const isLetThrough = totals === undefined || criteriaDecide(rrd) || paper.override?.decision === "include";
  const decision = isLetThrough ? "PRESENT" : decisionOf(rrd, totals);
  if (paper.retracted === true && decision !== "REJECT")
    return { decision: "REJECT", because: "the paper was retracted" };
  if (
    !isLetThrough &&
    decision === "PRESENT" &&
    paper.read_depth === "abstract" &&
    rrd.mission?.present_abstract_only !== true
  ) {
    return { decision: "EXTRACT_INSIGHTS", because: "only the abstract could be read" };
  }
  return { decision };
}

/** Whether a paper needs no more reading: it has its decision, or waits for a person's. */
export const isDecided = (paper: Paper): boolean => paper.status !== "pending" && paper.status !== "analyzing";

/** Whether a reading of the paper was decided on: it was had, and no person is waited for. */
export const wasRead = (paper: Paper): boolean =>
  isDecided(paper) && paper.status !== "not_retrieved" && paper.status !== "waiting";

/** What a score is out of. */
export const fullScore = (rrd: Rrd): number => (usesBothRubrics(rrd) ? 50 : 5 * dimensionsOf(rrd).execution.length);

/**
 * Whether a paper's scores say something of it: it is decided, it stands, and more than its title could be read.
 * Averages are over these.
 */
export const isJudged = (paper: Paper): boolean => isDecided(paper) && paper.retracted !== true && couldBeRead(paper);
