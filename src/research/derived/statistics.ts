import { blockedNames } from "../project-files/rrd-file.js";
import { type Agreement, agreementOf } from "../screening/eligibility/agreement.js";
import type { Flow, Paper, Rrd, Statistics } from "../generated/rrd.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import {
  isDecided,
  isJudged,
  ownRubricOf,
  scoresOf,
  totalsOf,
  usesBothRubrics,
  usesScores,
} from "../papers/rubric/rubric.js";
import { countingInsights, isIneligible, isWaiting, typedText } from "../screening/eligibility/eligibility.js";
import { type FlowRow, flowCounts, stageOf, total } from "./flow-counts.js";
import { separatedTest } from "./separated.js";
import { criteriaOf } from "../project-files/eligibility-criteria.js";
import { seedRecall } from "../papers/seeds/find-seeds.js";
import { seedsOf } from "../papers/seeds/seed.js";
import { statedDifferences } from "./stated-totals.js";
import { countEach } from "../../engine/lib/group.js";

/**
 * Computes the statistics from the records: counts, and averages over the papers that could be judged (null without
 * such papers). The report of discovery about its sources is kept. If another program wrote the file, its values that
 * differ are kept in `stated`.
 */
export function deriveStatistics(rrd: Rrd): NonNullable<Statistics> {
  const derived = countsOf(rrd);
  const stated = statedDifferences(rrd, derived);
  return stated === undefined ? derived : { ...derived, stated };
}

function countsOf(rrd: Rrd): NonNullable<Statistics> {
  const papers = rrd.papers_pool;
  const counts = countEach(papers.map(({ status }) => status));
  const countWithStatus = (status: Paper["status"]) => counts.get(status) ?? 0;
  // These fields are computed again, because the papers that they describe may have changed.
  const { retraction_check: _, total_waiting: __, screening_agreement: ___, ...rest } = rrd.statistics ?? {};
  const { total_not_retrieved: ____, ...earlier } = rest;
  const [waiting, notRetrieved] = [countWithStatus("waiting"), countWithStatus("not_retrieved")];
  const agreement = agreementOf(rrd);
  return {
    ...earlier,
    total_discovered: papers.length,
    total_analyzed: papers.filter(isDecided).length - notRetrieved,
    total_presented: countWithStatus("presented"),
    total_rejected: countWithStatus("rejected"),
    total_insights_extracted: countWithStatus("insights_extracted"),
    ...(criteriaOf(rrd).length === 0 && waiting === 0 ? {} : { total_waiting: waiting }),
    ...(notRetrieved === 0 ? {} : { total_not_retrieved: notRetrieved }),
    ...(agreement === undefined ? {} : { screening_agreement: recordOf(agreement) }),
    total_insights: countingInsights(rrd).length,
    total_retracted: papers.filter(({ retracted }) => retracted === true).length,
    ...retractionCheck(papers),
    discovery_metrics: {
      ...earlier.discovery_metrics,
      sources_blocked: blockedNames(rrd),
      ...flowField(rrd),
      ...seedsField(rrd),
    },
    // Additional fields of the user stay. Averages of an unused rubric are removed.
    analysis_metrics: { ...omitFields(earlier.analysis_metrics, derivedMetrics), ...analysisMetrics(rrd) },
  };
}

const recordOf = ({ readers, kappa_interval: interval, ...agreement }: Agreement) => ({
  ...agreement,
  readers: [...readers],
  kappa_interval: interval === null ? null : [...interval],
});

/** The last retraction check of the papers and its results. */
function retractionCheck(papers: readonly Paper[]): Pick<NonNullable<Statistics>, "retraction_check"> {
  const checks = papers.map(({ updates_check: check }) => check).filter((check) => check != null);
  if (checks.length === 0) return {};
  const checked = checks.filter(({ checked_by }) => checked_by.length > 0).length;
  const [lastCheck = null] = checks.map((check) => check.at).toSorted((a, b) => b.localeCompare(a));
  const isDemoted = ({ updates_check: check, status }: Paper) =>
    check?.demoted_from !== undefined && status === "rejected";
  const demotedIds = papers.filter(isDemoted).map(({ id }) => id);
  return { retraction_check: { at: lastCheck, checked, not_checked: checks.length - checked, demoted: demotedIds } };
}

/**
 * The recall of the seeds, computed again because the user may have changed them; empty if recall was never checked.
 */
function seedsField(rrd: Rrd): object {
  const earlier = rrd.statistics?.discovery_metrics?.seeds;
  return earlier === undefined ? {} : withoutUndefined({ seeds: seedRecall(seedsOf(rrd), [], earlier.references) });
}

/** Adds up counts by the reasons that the file uses: every reason that a user typed becomes `person`. */
function countsByRecordedReason(counts: readonly (readonly [reason: string, count: number])[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [reason, count] of counts) {
    const name = typedText(reason) === undefined ? reason : "person";
    sums.set(name, (sums.get(name) ?? 0) + count);
  }
  return sums;
}

/** The stages that the criteria decide, from the same counts as the report's diagram. */
function eligibilityFlow(rrd: Rrd): Pick<Flow, "screening" | "full_text"> {
  const { searched, other } = flowCounts(rrd);
  const sumOfRows = (count: (row: FlowRow) => number) => count(searched) + count(other);
  const rejected = [searched, other].flatMap(({ rejected: by }) => [...by]);
  const reasonCounts = countsByRecordedReason(rejected.filter(([reason]) => reason !== "points"));
  const notRetrievedCount = sumOfRows(({ notRetrieved }) => notRetrieved);
  const { screened, conflicts } = searched;
  const assessed = sumOfRows((row) => row.assessed);
  const waiting = sumOfRows((row) => row.waiting);
  return {
    screening: {
      screened,
      excluded: Object.fromEntries(countsByRecordedReason([...searched.excluded])),
      ...(conflicts === 0 ? {} : { waiting: conflicts }),
      passed: searched.sought,
    },
    full_text: {
      added: other.sought,
      sought: sumOfRows(({ sought }) => sought),
      not_read: sumOfRows(({ notRead }) => notRead),
      ...(notRetrievedCount === 0 ? {} : { not_retrieved: notRetrievedCount }),
      excluded: Object.fromEntries(reasonCounts),
      waiting,
      included: assessed - total(reasonCounts) - waiting,
    },
  };
}

/** The flow of the records; empty if the code did not search and there are no criteria. */
function flowField(rrd: Rrd): object {
  const earlier = rrd.statistics?.discovery_metrics?.flow;
  const eligibility = criteriaOf(rrd).length === 0 ? {} : eligibilityFlow(rrd);
  if (earlier === undefined && criteriaOf(rrd).length === 0) return {};
  const { screening: _, full_text: __, waiting: ___, ineligible: ____, ...flow } = earlier ?? {};
  const isSeparated = separatedTest(rrd);
  const exclusions = (rrd.excluded ?? []).filter((exclusion) => !isSeparated(exclusion));
  const excluded = Object.fromEntries(countEach(exclusions.map(stageOf)));
  const { screened } = flowCounts(rrd).searched;
  const waiting = rrd.papers_pool.filter(isWaiting).length;
  const ineligible = rrd.papers_pool.filter(isIneligible).length - waiting;
  const included = rrd.papers_pool.length - waiting - ineligible;
  const excludedCounts = withoutUndefined({ waiting: waiting || undefined, ineligible: ineligible || undefined });
  return { flow: { ...flow, screened, excluded, included, ...excludedCounts, ...eligibility } };
}

const derivedMetrics =
  "avg_score score_distribution avg_combined_score avg_execution_score avg_blue_ocean_score combined_score_distribution blue_ocean_distribution".split(
    " ",
  );

const omitFields = (fields: object | null | undefined, names: readonly string[]): object =>
  Object.fromEntries(Object.entries(fields ?? {}).filter(([name]) => !names.includes(name)));

function analysisMetrics(rrd: Rrd): Record<string, unknown> {
  const [execution, combined, strategic]: [number[], number[], number[]] = [[], [], []];
  for (const paper of rrd.papers_pool) {
    const scores = isJudged(paper) ? scoresOf(rrd, paper) : undefined;
    if (scores === undefined) continue;
    const totals = totalsOf(rrd, scores);
    execution.push(totals.execution);
    combined.push(totals.combined);
    if (totals.strategic !== undefined) strategic.push(totals.strategic);
  }
  if (!usesScores(rrd)) return {};
  if (ownRubricOf(rrd) !== undefined) return { avg_score: mean(combined) };
  if (!usesBothRubrics(rrd))
    return { avg_score: mean(execution), score_distribution: distribution(execution, executionBands) };
  return {
    avg_combined_score: mean(combined),
    avg_execution_score: mean(execution),
    avg_blue_ocean_score: mean(strategic),
    combined_score_distribution: distribution(combined, combinedBands),
    blue_ocean_distribution: distribution(strategic, strategicBands),
  };
}

/** The upper bound of each band. The names of the bands are those of the original program. */
const executionBands = { "0-11": 11, "12-17": 17, "18-23": 23, "24-30": 30 };
const combinedBands = { "0-17": 17, "18-24": 24, "25-34": 34, "35-50": 50 };
const strategicBands = { "0-7": 7, "8-11": 11, "12-15": 15, "16-20": 20 };

function distribution(values: readonly number[], bands: Readonly<Record<string, number>>): Record<string, number> {
  const bounds = Object.entries(bands);
  const counts = Object.fromEntries(bounds.map(([name]) => [name, 0]));
  for (const value of values) {
    const band = bounds.find(([, upper]) => Math.floor(value) <= upper)?.[0];
    if (band !== undefined) counts[band] = (counts[band] ?? 0) + 1;
  }
  return counts;
}

const mean = (values: readonly number[]): number | null =>
  values.length === 0 ? null : Math.round((values.reduce((sum, value) => sum + value, 0) / values.length) * 10) / 10;

/** The median of some numbers; 0 for an empty list. */
export function median(values: readonly number[]): number {
  // A typed array is sorted natively, without calling a comparison function 200,000 times.
  const sorted = new Float64Array(values).sort();
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}
