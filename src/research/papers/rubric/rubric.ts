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

/** The points of one paper, from any format of its record. */
export interface Scores {
  /** The points by the execution rubric, or by the user's rubric. */
  readonly execution: Points;
  /** Absent if only one rubric was used. */
  readonly strategic?: Points;
}

export interface Totals {
  /** 0 to 30, or 0 to `fullScore` for the user's rubric. */
  readonly execution: number;
  /** 0 to 20; absent if only one rubric was used. */
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

/** The status of a paper as people read it, on the terminal and in exports. */
export const statusWords: Readonly<Record<Paper["status"], string>> = {
  pending: "not read yet",
  analyzing: "being read",
  presented: "included",
  insights_extracted: "kept for insights",
  rejected: "rejected",
  waiting: "waiting for a person",
  not_retrieved: "not retrieved",
};

/** A decision as people read it. */
export const decisionWord = (decision: Decision): string => statusWords[statusAfter[decision]];

/** Minimum combined score of a priority paper. */
export const priorityThreshold = 35;
const insightThreshold = 18;
const singleInsightThreshold = 12;

const focusWeights: Readonly<Record<string, Points>> = {
  balanced: {},
  market_creation: { market_creation: 2 },
  defensibility: { first_mover_window: 2, network_effects: 2 },
  speed: { time_to_poc: 2, strategic_clarity: 2 },
};

/** The user's rubric, if the project has one. */
export const ownRubricOf = ({ rubric }: Pick<Rrd, "rubric">): OwnRubric | undefined =>
  typeof rubric === "object" ? rubric : undefined;

/** The ids of the dimensions of a project's rubrics. */
export const dimensionsOf = (rrd: Pick<Rrd, "rubric">): Readonly<Record<keyof Scores, readonly string[]>> => {
  const ownRubric = ownRubricOf(rrd);
  return ownRubric === undefined
    ? { execution: executionDimensions, strategic: strategicDimensions }
    : { execution: ownRubric.dimensions.map(({ id }) => id), strategic: [] };
};

/** The name of a dimension in the user's rubric; undefined for a dimension of the original rubrics. */
export const ownName = (rrd: Pick<Rrd, "rubric">, dimension: string): string | undefined =>
  ownRubricOf(rrd)?.dimensions.find(({ id }) => id === dimension)?.name;

/** Whether both original rubrics are used. The oldest files have no mission and used one rubric. */
export const usesBothRubrics = (rrd: Rrd): boolean =>
  usesScores(rrd) && ownRubricOf(rrd) === undefined && rrd.mission != null && rrd.mission.blue_ocean_scoring !== false;

/** Whether papers are scored at all. */
export const usesScores = ({ rubric }: Pick<Rrd, "rubric">): boolean => rubric !== "none";

/**
 * Whether only the criteria include and exclude papers, and points only determine the order. In files of earlier
 * versions, points decide on papers that the criteria do not exclude.
 */
export const criteriaDecide = (rrd: Rrd): boolean => {
  const { rubric, requirements } = rrd;
  const ownRubric = ownRubricOf(rrd);
  return (
    rubric === "none" ||
    (ownRubric !== undefined && ownRubric.present === undefined) ||
    (rubric !== undefined && (requirements.criteria ?? []).length > 0)
  );
};

/**
 * The points of a paper; undefined if some are missing. Reads the nested format and the flat format of the oldest
 * files, in which the dimensions of both rubrics can be in one object.
 */
export function scoresOf(rrd: Pick<Rrd, "rubric">, paper: Pick<Paper, "score_breakdown">): Scores | undefined {
  const breakdown: object | null | undefined = paper.score_breakdown;
  if (breakdown == null) return undefined;
  const nestedPoints = breakdown as { execution?: unknown; blue_ocean?: unknown; points?: unknown };
  if (ownRubricOf(rrd) !== undefined) {
    const points = pointsOf(nestedPoints.points, dimensionsOf(rrd).execution);
    return points === undefined ? undefined : { execution: points };
  }
  const execution = pointsOf(nestedPoints.execution ?? breakdown, executionDimensions);
  const strategic = pointsOf(nestedPoints.blue_ocean ?? breakdown, strategicDimensions);
  if (execution === undefined) return undefined;
  return strategic === undefined ? { execution } : { execution, strategic };
}

function pointsOf(points: unknown, names: readonly string[]): Points | undefined {
  if (typeof points !== "object" || points === null) return undefined;
  const values = points as Record<string, unknown>;
  return names.every((name) => typeof values[name] === "number") ? (values as Record<string, number>) : undefined;
}

/**
 * The sums of the points, rounded to one decimal. For the original rubrics they are weighted by the mission's focus and
 * scaled to 30 and 20.
 */
export function totalsOf(rrd: Rrd, scores: Scores): Totals {
  const weights = focusWeights[rrd.mission?.strategic_focus ?? "balanced"] ?? {};
  const execution = weightedSum(scores.execution, dimensionsOf(rrd).execution, weights);
  if (scores.strategic === undefined || !usesBothRubrics(rrd)) return { execution, combined: execution };
  const strategic = weightedSum(scores.strategic, strategicDimensions, weights);
  return { execution, strategic, combined: round(execution + strategic) };
}

function weightedSum(points: Points, names: readonly string[], weights: Points): number {
  let [sum, weightSum] = [0, 0];
  for (const name of names) {
    const weight = weights[name] ?? 1;
    sum += (points[name] ?? 0) * weight;
    weightSum += weight;
  }
  return round((sum / weightSum) * names.length);
}

const round = (value: number): number => Math.round(value * 10) / 10;

/** The decision by the totals alone. Thresholds: docs/reviews.md. */
export function decisionOf(rrd: Rrd, totals: Totals): Decision {
  if (!usesBothRubrics(rrd)) {
    const { present, insights } = singleThresholds(rrd);
    if (totals.execution >= present) return "PRESENT";
    return totals.execution >= insights ? "EXTRACT_INSIGHTS" : "REJECT";
  }
  if (totals.combined >= (rrd.mission?.min_combined_score ?? 25) || totals.combined >= priorityThreshold)
    return "PRESENT";
  const hasHighPart = totals.execution >= 18 || (totals.strategic ?? 0) >= (rrd.mission?.min_blue_ocean_score ?? 12);
  return totals.combined >= insightThreshold && hasHighPart ? "EXTRACT_INSIGHTS" : "REJECT";
}

/** If only one rubric is used: the minimum points for which a paper is presented or kept for its insights. */
export function singleThresholds(rrd: Rrd): { readonly present: number; readonly insights: number } {
  const ownRubric = ownRubricOf(rrd);
  if (ownRubric === undefined)
    return { present: rrd.requirements.min_score_to_present ?? 18, insights: singleInsightThreshold };
  const { present = 0, insights = present } = ownRubric;
  return { present, insights };
}

/**
 * The decision on a paper that no criterion excludes or leaves open, and why it differs from the decision by its
 * points. A paper that the user includes is presented regardless of its points. `totals`: absent if papers are not
 * scored.
 */
export function decide(
  rrd: Rrd,
  totals: Totals | undefined,
  paper: Pick<Paper, "retracted" | "read_depth" | "override">,
): { decision: Decision; because?: string } {
  const isAccepted = totals === undefined || criteriaDecide(rrd) || paper.override?.decision === "include";
  const decision = isAccepted ? "PRESENT" : decisionOf(rrd, totals);
  if (paper.retracted === true && decision !== "REJECT")
    return { decision: "REJECT", because: "the paper was retracted" };
  if (
    !isAccepted &&
    decision === "PRESENT" &&
    paper.read_depth === "abstract" &&
    rrd.mission?.present_abstract_only !== true
  ) {
    return { decision: "EXTRACT_INSIGHTS", because: "only the abstract could be read" };
  }
  return { decision };
}

/** Whether a paper needs no more reading: it is decided, or waits for the user's decision. */
export const isDecided = (paper: Paper): boolean => paper.status !== "pending" && paper.status !== "analyzing";

/** Whether the paper was read and decided: it was retrieved, and does not wait for the user. */
export const wasRead = (paper: Paper): boolean =>
  isDecided(paper) && paper.status !== "not_retrieved" && paper.status !== "waiting";

/** The maximum score. */
export const fullScore = (rrd: Rrd): number => (usesBothRubrics(rrd) ? 50 : 5 * dimensionsOf(rrd).execution.length);

/**
 * Whether a paper's scores count: it is decided, not retracted, and more than its title was available. Averages are
 * computed from these papers.
 */
export const isJudged = (paper: Paper): boolean => isDecided(paper) && paper.retracted !== true && couldBeRead(paper);
