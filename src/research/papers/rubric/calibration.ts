import type { Rrd } from "../../generated/rrd.js";
import { criteriaDecide, dimensionsOf, isJudged, ownName, scoresOf, usesScores } from "./rubric.js";

/** A warning about the scores of a whole project. */
export interface Warning {
  readonly kind:
    | "many-presented"
    | "flat-dimension"
    | "none-presented"
    | "older"
    | "changed-criteria"
    | "waiting"
    | "not-retrieved"
    | "refused";
  /** One or two sentences. */
  readonly says: string;
}

/** Minimum number of judged papers for a warning about a share. */
const minJudged = 5;
const maxPresentedShare = 0.8;

/** Warnings about the judgement of papers: nearly all or none are presented, or a dimension is constant. */
export function calibrationOf(rrd: Rrd): Warning[] {
  const judged = rrd.papers_pool.filter(isJudged);
  if (judged.length < minJudged || !usesScores(rrd)) return [];
  const presented = judged.filter(({ status }) => status === "presented").length;
  const warnings: Warning[] = [];
  if (!criteriaDecide(rrd) && presented / judged.length > maxPresentedShare)
    warnings.push({
      kind: "many-presented",
      says: `${presented} of ${judged.length} judged papers are included: the points hardly tell them apart. Raise the threshold, or look at the points before you rely on their order.`,
    });
  if (presented === 0)
    warnings.push({
      kind: "none-presented",
      says: `By their points none of ${judged.length} papers is included, so what is said here rests on papers that are rejected or kept for insights.`,
    });
  const allScores = judged.flatMap((paper) => scoresOf(rrd, paper) ?? []);
  if (allScores.length < minJudged) return warnings;
  const { execution, strategic: strategicNames } = dimensionsOf(rrd);
  const constantDimensions = [
    ...execution.map((name) => ({ name, values: allScores.map((scores) => scores.execution[name]) })),
    ...strategicNames.map((name) => ({
      name,
      values: allScores.flatMap(({ strategic }) => (strategic === undefined ? [] : strategic[name])),
    })),
  ].filter(({ values }) => values.length >= minJudged && values.every((value) => value === values[0]));
  const [firstDimension, ...otherDimensions] = constantDimensions.map(({ name, values }) => ({
    name: ownName(rrd, name) ?? name.replaceAll("_", " "),
    points: values[0],
  }));
  if (firstDimension !== undefined)
    warnings.push({
      kind: "flat-dimension",
      says:
        otherDimensions.length === 0
          ? `The dimension "${firstDimension.name}" is ${firstDimension.points} of 5 for every judged paper, so it says nothing about any of them.`
          : `${otherDimensions.length + 1} dimensions have the same points for every judged paper, so they say nothing about any of them: ${[firstDimension, ...otherDimensions].map(({ name, points }) => `${name} ${points}`).join(", ")}.`,
    });
  return warnings;
}
