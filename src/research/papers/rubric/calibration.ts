import type { Rrd } from "../../generated/rrd.js";
import { criteriaDecide, dimensionsOf, isJudged, ownName, scoresOf, usesScores } from "./rubric.js";

/** Something about a project as a whole that a reader should know before trusting one score. */
export interface Warning {
  readonly kind:
    | "many-presented"
    | "flat-dimension"
    | "none-presented"
    | "older"
    | "waiting"
    | "not-retrieved"
    | "refused";
  /** One or two sentences. */
  readonly says: string;
}

/** From so many judged papers on a share means something. */
const minJudged = 5;
const maxPresentedShare = 0.8;

/** Warnings on how the papers were judged: nearly all presented, or a dimension that never varies. */
export function calibrationOf(rrd: Rrd): Warning[] {
  const judged = rrd.papers_pool.filter(isJudged);
  if (judged.length < minJudged || !usesScores(rrd)) return [];
  const presented = judged.filter(({ status }) => status === "presented").length;
  const warnings: Warning[] = [];
  if (!criteriaDecide(rrd) && presented / judged.length > maxPresentedShare)
    warnings.push({
      kind: "many-presented",
      says: `${presented} of ${judged.length} judged papers are included: the scores hardly tell them apart. Raise the threshold, or look at the scores before you rely on their order.`,
    });
  if (presented === 0)
    warnings.push({
      kind: "none-presented",
      says: `The score presents none of ${judged.length} papers, so what is said here rests on papers that it rejects or keeps for insights.`,
    });
  const all = judged.flatMap((paper) => scoresOf(rrd, paper) ?? []);
  if (all.length < minJudged) return warnings;
  const { execution, strategic: second } = dimensionsOf(rrd);
  const flat = [
    ...execution.map((name) => ({ name, values: all.map((scores) => scores.execution[name]) })),
    ...second.map((name) => ({
      name,
      values: all.flatMap(({ strategic }) => (strategic === undefined ? [] : strategic[name])),
    })),
  ].filter(({ values }) => values.length >= minJudged && values.every((value) => value === values[0]));
  const [only, ...others] = flat.map(({ name, values }) => ({
    name: ownName(rrd, name) ?? name.replaceAll("_", " "),
    points: values[0],
  }));
  if (only !== undefined)
    warnings.push({
      kind: "flat-dimension",
      says:
        others.length === 0
          ? `The dimension "${only.name}" is ${only.points} of 5 for every judged paper, so it says nothing about any of them.`
          : `${others.length + 1} dimensions have the same points for every judged paper, so they say nothing about any of them: ${[only, ...others].map(({ name, points }) => `${name} ${points}`).join(", ")}.`,
    });
  return warnings;
}
