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
import { differences } from "./stated-totals.js";
import { criteriaOf } from "../project-files/eligibility-criteria.js";
import { eligibilityReport, openCriteria } from "../screening/eligibility/eligibility.js";
import { hasOpenOverride, isReversible } from "./overrides.js";
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
export const inconsistencies = (rrd: Rrd): Inconsistency[] => [
  ...(rrd.statistics == null ? [] : ofStatistics(rrd.statistics, rrd)),
  ...rrd.papers_pool.flatMap((paper, index) => ofPaper(rrd, paper, `/papers_pool/${index}`)),
  ...ofInsights(rrd),
  ...ofCriteria(rrd),
  ...ofPool(rrd),
];

const ofStatistics = (statistics: object, rrd: Rrd): Inconsistency[] =>
  differences(statistics, deriveStatistics(rrd), "/statistics").map(({ pointer, stated, derived }) => {
    const message = `says ${JSON.stringify(stated)}, the records say ${JSON.stringify(derived)}`;
    return { pointer, message, derived };
  });

function ofPaper(rrd: Rrd, paper: Paper, pointer: string): Inconsistency[] {
  const found: Inconsistency[] = [];
  const find = (field: string, message: string, derived?: unknown) =>
    found.push({ pointer: `${pointer}/${field}`, message, ...withoutUndefined({ derived }) });
  const { priority, score, decision: stated, status } = paper;
  if (priority != null && !(priority >= 1 && priority <= 5))
    find("priority", `is ${priority}; priorities go from 1 to 5, 5 is read first`);
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
        find(field, `says ${value}, the points add up to ${actual}`, actual);
    const decision = decisionOf(rrd, totals);
    // A retracted paper, or one of which only the abstract could be read, is decided otherwise.
    const allowed = [decision, decide(rrd, totals, paper).decision];
    if (typeof stated === "string" && !allowed.some((each) => stated.toUpperCase().startsWith(each)))
      find("decision", `says ${stated}, the scores say ${decision}`, decision);
  } else if (paper.score_breakdown != null)
    find("score_breakdown", "lacks some of the points, so nothing can be derived from it");
  const [, known] = Object.entries(statusAfter).find(([name]) => stated?.toUpperCase().startsWith(name)) ?? [];
  if (known !== undefined && known !== status)
    find("status", `is ${status}, the decision ${stated} means ${known}`, known);
  const kept = { "analysis/evidence": paper.analysis?.evidence ?? [], answers: paper.answers ?? [] };
  for (const [field, items] of Object.entries(kept))
    for (const [index, item] of items.entries())
      if (hasPlacesOutside(item))
        find(`${field}/${index}/quoted`, `says ${item.quoted}, which lies outside of the passage`);
  return found;
}

function ofInsights(rrd: Rrd): Inconsistency[] {
  const papers = new Set(rrd.papers_pool.map((paper) => paper.id));
  return (rrd.insights ?? []).flatMap(({ paper_id: of, cross_refs }, index) => {
    const pointer = `/insights/${index}`;
    const unknown = (cross_refs ?? []).filter((id) => !papers.has(id));
    const isStray = of != null && !papers.has(of);
    return [
      ...(isStray ? [{ pointer: `${pointer}/paper_id`, message: `names ${of}, which is not in the pool` }] : []),
      ...(unknown.length === 0
        ? []
        : [{ pointer: `${pointer}/cross_refs`, message: `names ${unknown.join(", ")}, not in the pool` }]),
    ];
  });
}

/** Answers and decisions that have no effect, and papers that were judged before a criterion. */
function ofCriteria(rrd: Rrd): Inconsistency[] {
  const criteria = criteriaOf(rrd);
  const known = new Set(criteria.map(({ id }) => id));
  const said = new Map<string, number>();
  const found = criteria.flatMap(({ kind, text }, index): Inconsistency[] => {
    const words = `${kind} ${text.toLowerCase().trim()}`;
    const first = said.get(words);
    if (first === undefined) said.set(words, index);
    const message = `says the same as /requirements/criteria/${first}`;
    return first === undefined ? [] : [{ pointer: `/requirements/criteria/${index}/text`, message }];
  });
  found.push(...ofAllExcluded(rrd));
  for (const [index, paper] of rrd.papers_pool.entries()) {
    const { answers = [], override, status, excluded_by: by, retracted } = paper;
    const pointer = `/papers_pool/${index}`;
    const stray = [...new Set(answers.map(({ criterion }) => criterion))].filter((id) => !known.has(id));
    if (stray.length > 0)
      found.push({
        pointer: `${pointer}/answers`,
        message: `name ${stray.join(", ")}, not a criterion of this project`,
      });
    if (by != null && !known.has(by))
      found.push({
        pointer: `${pointer}/excluded_by`,
        message: `names ${by}, not a criterion of this project; 'reset --paper ${paper.id}' reads the paper again`,
      });
    const open = openCriteria(criteria, paper).map(({ id }) => id);
    if (override === undefined && (status === "presented" || status === "insights_extracted") && open.length > 0)
      found.push({
        pointer: `${pointer}/status`,
        message: `is ${status} without an answer to ${open.join(", ")}; 'reset --paper ${paper.id}' reads the paper again`,
      });
    if (override?.decision === "include" && retracted === true)
      found.push({ pointer: `${pointer}/override`, message: "has no effect: a retracted paper is never included" });
  }
  for (const [index, one] of (rrd.excluded ?? []).entries())
    if (one.override?.decision === "include" && !isReversible(one))
      found.push({
        pointer: `/excluded/${index}/override`,
        message: `has no effect on what was excluded as ${one.stage ?? "duplicate"}`,
      });
  if (hasOpenOverride(rrd))
    found.push({ pointer: "/papers_pool", message: "holds a person's decision that takes effect with the next run" });
  return found;
}

/** Criteria that let nothing through, as those that contradict each other in other words do. */
function ofAllExcluded(rrd: Rrd): Inconsistency[] {
  const { criteria, screening, fullText } = eligibilityReport(rrd);
  const count = (reasons: typeof screening) => reasons.reduce((sum, reason) => sum + reason.count, 0);
  const excluded = count(screening) + count(fullText);
  const others = rrd.papers_pool.length - count(fullText);
  if (criteria.length === 0 || excluded < manyExcluded || others > 0) return [];
  const message = `exclude all ${excluded} records and papers; they may contradict each other`;
  return [{ pointer: "/requirements/criteria", message }];
}

/** Fewer may all be excluded by chance. */
const manyExcluded = 10;

function ofPool(rrd: Rrd): Inconsistency[] {
  const { papers_pool: pool, requirements, phase } = rrd;
  const found: Inconsistency[] = [];
  const decided = pool.filter(isDecided);
  if (!criteriaDecide(rrd) && decided.length >= 10 && decided.every(({ status }) => status === "presented"))
    found.push({
      pointer: "/papers_pool",
      message: `all ${decided.length} papers are presented: the rubric does not distinguish them`,
    });
  const window = requirements.time_window_days ?? Infinity;
  const start = Date.parse(rrd.timing?.research_started_at ?? "");
  const old = pool.filter(({ date }) => start - Date.parse(date ?? "") > window * 86_400_000).length;
  if (old * 2 > pool.length)
    found.push({
      pointer: "/requirements/time_window_days",
      message: `is ${window}, but ${old} of ${pool.length} papers are older`,
    });
  const halves = decided
    .map((paper) => scoresOf(rrd, paper))
    .filter((scores) => scores !== undefined && scores.strategic === undefined).length;
  if (usesBothRubrics(rrd) && halves > 0)
    found.push({
      pointer: "/papers_pool",
      message: `${halves} papers have no strategic scores although the mission asks for both rubrics`,
    });
  const pending = pool.length - decided.length;
  if ((phase === "COMPLETE" || phase === "IDEATION") && pending > 0)
    found.push({
      pointer: "/phase",
      message: `is ${phase}, but ${pending} papers are not analysed`,
      derived: "ANALYSIS",
    });
  return found;
}
