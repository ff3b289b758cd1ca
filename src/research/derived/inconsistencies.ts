import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Paper, Rrd } from "../generated/rrd.js";
import {
  criteriaDecide,
  isDecided,
  decide,
  decisionOf,
  scoresOf,
  statusAfter,
  totalsOf,
  usesBothRubrics,
} from "../papers/rubric/rubric.js";
import { hasPlacesOutside } from "../../text/evidence/quoted.js";
import { findDifferences } from "./stated-totals.js";
import { criteriaOf } from "../project-files/eligibility-criteria.js";
import { changedCriteria, eligibilityReport, openCriteria } from "../screening/eligibility/eligibility.js";
import { hasOpenOverride, isReversible } from "./overrides.js";
import { deriveStatistics } from "./statistics.js";

/** A statement in the file that contradicts its records. It is reported as a warning, never as an error. */
interface Inconsistency {
  /** JSON pointer into rrd.json. */
  readonly pointer: string;
  readonly message: string;
  /** The value that follows from the records. */
  readonly derived?: unknown;
}

/** All contradictions between the file's statements and its records. Projects of the original tool often have some. */
export const inconsistencies = (rrd: Rrd): Inconsistency[] => [
  ...(rrd.statistics == null ? [] : statisticsProblems(rrd.statistics, rrd)),
  ...rrd.papers_pool.flatMap((paper, index) => paperProblems(rrd, paper, `/papers_pool/${index}`)),
  ...insightProblems(rrd),
  ...criteriaProblems(rrd),
  ...poolProblems(rrd),
];

const statisticsProblems = (statistics: object, rrd: Rrd): Inconsistency[] =>
  findDifferences(statistics, deriveStatistics(rrd), "/statistics").map(({ pointer, stated, derived }) => {
    const message = `says ${JSON.stringify(stated)}, the records say ${JSON.stringify(derived)}`;
    return { pointer, message, derived };
  });

function paperProblems(rrd: Rrd, paper: Paper, pointer: string): Inconsistency[] {
  const problems: Inconsistency[] = [];
  const addProblem = (field: string, message: string, derived?: unknown) =>
    problems.push({ pointer: `${pointer}/${field}`, message, ...withoutUndefined({ derived }) });
  const { priority, score, decision: statedDecision, status } = paper;
  if (priority != null && !(priority >= 1 && priority <= 5))
    addProblem("priority", `is ${priority}; priorities go from 1 to 5, 5 is read first`);
  const scores = scoresOf(rrd, paper);
  if (scores !== undefined) {
    const totals = totalsOf(rrd, scores);
    const { execution_total, blue_ocean_total, combined_total } = paper.score_breakdown as Record<string, unknown>;
    const sums = [
      ["score", score, totals.combined],
      ["score_breakdown/execution_total", execution_total, totals.execution],
      ["score_breakdown/blue_ocean_total", blue_ocean_total, totals.strategic],
      ["score_breakdown/combined_total", combined_total, totals.combined],
    ] as const;
    for (const [field, value, actual] of sums)
      if (typeof value === "number" && actual !== undefined && Math.abs(value - actual) > 0.05)
        addProblem(field, `says ${value}, the points add up to ${actual}`, actual);
    const decision = decisionOf(rrd, totals);
    // The decision can differ from the score for a retracted paper, or if only the abstract could be read.
    const allowed = [decision, decide(rrd, totals, paper).decision];
    if (
      typeof statedDecision === "string" &&
      !allowed.some((allowedDecision) => statedDecision.toUpperCase().startsWith(allowedDecision))
    )
      addProblem("decision", `says ${statedDecision}, the points say ${decision}`, decision);
  } else if (paper.score_breakdown != null)
    addProblem("score_breakdown", "lacks some of the points, so nothing can be derived from it");
  const [, expectedStatus] =
    Object.entries(statusAfter).find(([name]) => statedDecision?.toUpperCase().startsWith(name)) ?? [];
  if (expectedStatus !== undefined && expectedStatus !== status)
    addProblem("status", `is ${status}, the decision ${statedDecision} means ${expectedStatus}`, expectedStatus);
  const quotedItems = { "analysis/evidence": paper.analysis?.evidence ?? [], answers: paper.answers ?? [] };
  for (const [field, items] of Object.entries(quotedItems))
    for (const [index, item] of items.entries())
      if (hasPlacesOutside(item))
        addProblem(`${field}/${index}/quoted`, `says ${item.quoted}, which lies outside of the passage`);
  return problems;
}

function insightProblems(rrd: Rrd): Inconsistency[] {
  const papers = new Set(rrd.papers_pool.map((paper) => paper.id));
  return (rrd.insights ?? []).flatMap(({ paper_id: paperId, cross_refs }, index) => {
    const pointer = `/insights/${index}`;
    const unknownIds = (cross_refs ?? []).filter((id) => !papers.has(id));
    const isUnknownPaper = paperId != null && !papers.has(paperId);
    return [
      ...(isUnknownPaper
        ? [{ pointer: `${pointer}/paper_id`, message: `names ${paperId}, which is not in the pool` }]
        : []),
      ...(unknownIds.length === 0
        ? []
        : [{ pointer: `${pointer}/cross_refs`, message: `names ${unknownIds.join(", ")}, not in the pool` }]),
    ];
  });
}

/** Answers and decisions without effect, and papers that were judged before a criterion was added. */
function criteriaProblems(rrd: Rrd): Inconsistency[] {
  const criteria = criteriaOf(rrd);
  const criterionIds = new Set(criteria.map(({ id }) => id));
  const firstIndexes = new Map<string, number>();
  const problems = criteria.flatMap(({ kind, text }, index): Inconsistency[] => {
    const normalisedText = `${kind} ${text.toLowerCase().trim()}`;
    const first = firstIndexes.get(normalisedText);
    if (first === undefined) firstIndexes.set(normalisedText, index);
    const message = `says the same as /requirements/criteria/${first}`;
    return first === undefined ? [] : [{ pointer: `/requirements/criteria/${index}/text`, message }];
  });
  problems.push(...exclusionProblems(rrd));
  for (const [index, paper] of rrd.papers_pool.entries()) {
    const { answers = [], override, status, excluded_by: excludedBy, retracted } = paper;
    const pointer = `/papers_pool/${index}`;
    const unknownCriteria = [...new Set(answers.map(({ criterion }) => criterion))].filter(
      (id) => !criterionIds.has(id),
    );
    if (unknownCriteria.length > 0)
      problems.push({
        pointer: `${pointer}/answers`,
        message: `name ${unknownCriteria.join(", ")}, not a criterion of this project`,
      });
    if (excludedBy != null && !criterionIds.has(excludedBy))
      problems.push({
        pointer: `${pointer}/excluded_by`,
        message: `names ${excludedBy}, not a criterion of this project; 'reset --criteria' and a run judge it again`,
      });
    const changed = changedCriteria(criteria, paper).map(({ id }) => id);
    if (changed.length > 0)
      problems.push({
        pointer: `${pointer}/answers`,
        message: `were given to an earlier text of ${changed.join(", ")}; 'reset --criteria' and a run judge it again`,
      });
    const unanswered = openCriteria(criteria, paper).map(({ id }) => id);
    if (override === undefined && (status === "presented" || status === "insights_extracted") && unanswered.length > 0)
      problems.push({
        pointer: `${pointer}/status`,
        message: `is ${status} without an answer to ${unanswered.join(", ")}; 'reset --criteria' and a run judge it again`,
      });
    if (override?.decision === "include" && retracted === true)
      problems.push({ pointer: `${pointer}/override`, message: "has no effect: a retracted paper is never included" });
  }
  for (const [index, exclusion] of (rrd.excluded ?? []).entries())
    if (exclusion.override?.decision === "include" && !isReversible(exclusion))
      problems.push({
        pointer: `/excluded/${index}/override`,
        message: `has no effect on what was excluded as ${exclusion.stage ?? "duplicate"}`,
      });
  if (hasOpenOverride(rrd))
    problems.push({
      pointer: "/papers_pool",
      message: "holds a person's decision that takes effect with the next run",
    });
  return problems;
}

/** Criteria that exclude everything, for example because they contradict each other in different words. */
function exclusionProblems(rrd: Rrd): Inconsistency[] {
  const { criteria, screening, abstract, fullText } = eligibilityReport(rrd);
  const count = (reasons: typeof screening) => reasons.reduce((sum, reason) => sum + reason.count, 0);
  const excludedPapers = count(abstract) + count(fullText);
  const excluded = count(screening) + excludedPapers;
  const notExcluded = rrd.papers_pool.length - excludedPapers;
  if (criteria.length === 0 || excluded < minExcluded || notExcluded > 0) return [];
  const message = `exclude all ${excluded} records and papers; they may contradict each other`;
  return [{ pointer: "/requirements/criteria", message }];
}

/** Minimum number of exclusions for a warning: fewer may be chance. */
const minExcluded = 10;

function poolProblems(rrd: Rrd): Inconsistency[] {
  const { papers_pool: pool, requirements, phase } = rrd;
  const problems: Inconsistency[] = [];
  const decided = pool.filter(isDecided);
  if (!criteriaDecide(rrd) && decided.length >= 10 && decided.every(({ status }) => status === "presented"))
    problems.push({
      pointer: "/papers_pool",
      message: `all ${decided.length} papers are included: the rubric does not distinguish them`,
    });
  const window = requirements.time_window_days ?? Infinity;
  const start = Date.parse(rrd.timing?.research_started_at ?? "");
  const oldPaperCount = pool.filter(({ date }) => start - Date.parse(date ?? "") > window * 86_400_000).length;
  if (oldPaperCount * 2 > pool.length)
    problems.push({
      pointer: "/requirements/time_window_days",
      message: `is ${window}, but ${oldPaperCount} of ${pool.length} papers are older`,
    });
  const withoutStrategic = decided
    .map((paper) => scoresOf(rrd, paper))
    .filter((scores) => scores !== undefined && scores.strategic === undefined).length;
  if (usesBothRubrics(rrd) && withoutStrategic > 0)
    problems.push({
      pointer: "/papers_pool",
      message: `${withoutStrategic} papers have no strategic points although the mission asks for both rubrics`,
    });
  const pending = pool.length - decided.length;
  if ((phase === "COMPLETE" || phase === "IDEATION") && pending > 0)
    problems.push({
      pointer: "/phase",
      message: `is ${phase}, but ${pending} papers are not analysed`,
      derived: "ANALYSIS",
    });
  return problems;
}
