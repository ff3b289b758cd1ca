import type { AnalysisResult } from "../../generated/result-analysis.js";
import type {
  Answer,
  CheckedNumber,
  Criterion,
  Evidence,
  FlatScores,
  Insight,
  NestedScores,
  Paper,
  Rrd,
} from "../../generated/rrd.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { checkReading } from "../../../text/evidence/check-evidence.js";
import { quotedWords } from "../../../text/evidence/quoted.js";
import { clip } from "../../../engine/lib/tokens.js";
import { type Acceptance, changeOf, type JudgingContext, type Rejection } from "../judged-result.js";
import {
  decide,
  decisionWord,
  fullScore,
  statusAfter,
  totalsOf,
  usesBothRubrics,
  usesScores,
  type Decision,
  type Scores,
  ownRubricOf,
  type Totals,
} from "../../papers/rubric/rubric.js";
import type { Change } from "../../project-files/research.js";
import { insightId, lastNumber } from "../../project-files/rrd-file.js";
import { papersToReadAgain } from "../../derived/open-update.js";
import { answersAt, criteriaToAnswer, criterionText, eligibilityOf } from "../../screening/eligibility/eligibility.js";
import { handleOf } from "../narrative/handles.js";
import { formOf } from "../../project-files/form.js";
import { type CheckedForm, formFields } from "../form/check-values.js";
import { type Counts, paperEntry } from "./progress-entry.js";
import { foundFields, type PaperMaterial } from "./settled-paper.js";

/**
 * Computes totals, decision and status of a reading. Its quotes and numbers, its `answers` to the eligibility criteria
 * and the values of its form were already checked against the paper's text.
 */
export function acceptPaper(
  rrd: Rrd,
  paper: Paper,
  result: AnalysisResult,
  material: PaperMaterial,
  judging: JudgingContext,
  checkedReading: ReturnType<typeof checkReading>,
  answers: readonly Answer[],
  form: CheckedForm,
): Acceptance | Rejection {
  const isScored = usesScores(rrd);
  const scores = isScored ? scoresIn(rrd, result) : undefined;
  const { evidence: allEvidence, numbers, missing, ...counts } = checkedReading;
  const evidence = removeDuplicates(allEvidence);
  const reasons = [
    ...(result.unit === paper.id ? [] : [`unit is "${result.unit}"; this unit is "${paper.id}"`]),
    ...(typeof scores === "string" ? [scores] : []),
    ...(counts.verified < counts.notInText
      ? [
          `only ${counts.verified} of ${counts.verified + counts.notInText} quotes were found in the text; copy the paper's own words`,
          ...missing.slice(0, 10).map(({ quote, why }) => `${why}: "${clip(quote, 30)}"`),
        ]
      : []),
    ...unanswered(criteriaToAnswer(rrd, paper), result),
    ...form.reasons,
  ];
  if (reasons.length > 0 || typeof scores === "string") return { reasons };

  const totals = scores === undefined ? undefined : totalsOf(rrd, scores);
  const read_depth = material.text?.depth ?? "abstract";
  const retracted = paper.retracted === true || material.text?.retracted === true;
  const { override } = paper;
  const scoreDecision = decide(rrd, totals, { retracted, read_depth, ...withoutUndefined({ override }) });
  const screening = screeningOf(rrd, paper, answers, retracted);
  const { decision, because } = screening ?? scoreDecision;
  const origin = material.text?.origin;
  // Insights of an excluded paper are stored too: they count again if the user includes the paper.
  const insights = insightsOf(rrd, paper, result);
  const { warnings: checkWarnings = [], ...finding } = foundFields(paper, material);
  const warnings = [
    ...checkWarnings,
    ...warningsOf(material, retracted, counts, numbers),
    ...(judging.redacted === true ? [secretWarning] : []),
  ];
  const points = scores === undefined || totals === undefined ? null : pointsFor(rrd, scores, totals);
  const { held_scores: earlierHeldScores, excluded_by: earlierCriterion } = paper;
  const set = {
    ...finding,
    status: decision === null ? ("waiting" as const) : statusAfter[decision],
    ...(screening === undefined || points === null
      ? {
          score: totals?.combined ?? null,
          score_breakdown: points,
          ...(earlierHeldScores == null ? {} : { held_scores: null }),
        }
      : { score: null, score_breakdown: null, held_scores: points }),
    ...(screening?.by === undefined && earlierCriterion == null ? {} : { excluded_by: screening?.by ?? null }),
    ...(answers.length === 0 ? {} : { answers: [...answersAt("screening", paper.answers), ...answers] }),
    ...formFields(formOf(rrd), form, judging),
    ...formForSecondAgent(rrd, decision, judging),
    analysis: {
      summary: result.summary,
      methodology: result.methodology,
      results: result.results,
      limitations: result.limitations,
      implementations_found: result.implementations_found,
      commercialized: result.commercialized,
      ...(result.commercialized_by ? { commercialized_by: result.commercialized_by } : {}),
      ...(isScored && ownRubricOf(rrd) === undefined && result.market ? { market: result.market } : {}),
      ...(numbers.length > 0 ? { numbers: [...numbers] } : {}),
      evidence,
    },
    decision,
    notes:
      because === undefined
        ? result.notes
        : screening === undefined
          ? `${result.notes} (Not ${decisionWord(decisionByScore(rrd, totals))}: ${because}.)`
          : `${because} ${result.notes}`,
    read_depth,
    ...(material.text === undefined ? {} : { text_sha256: material.text.sha256 }),
    ...(origin === undefined ? {} : { text_from: `${origin.way}, ${origin.url}` }),
    ...withoutUndefined({ text_tried: material.tried }),
    ...(retracted ? { retracted } : {}),
    ...(warnings.length > 0 ? { warnings } : {}),
    iteration: judging.iteration,
  } satisfies Partial<Paper>;
  return {
    changes: [
      changeOf(paper, set),
      ...(judging.check === "all" ? claimsToCheck(rrd, paper, evidence) : []),
      ...removeEarlierInsights(rrd, paper),
      ...insights.map((insight) => ({ in: "insights" as const, id: insight.id ?? "", set: { ...insight }, was: null })),
      ...(result.visited_urls?.length
        ? [{ in: "rrd" as const, set: {}, was: {}, add: { visited_urls: result.visited_urls } }]
        : []),
    ],
    progress: paperEntry(
      rrd,
      { ...paper, ...set },
      { ...result, analysis: set.analysis },
      scores === undefined || totals === undefined ? undefined : { ...scores, totals },
      insights,
      counts,
      judging,
    ),
    summary:
      screening !== undefined
        ? `${screening.summary}, ${evidenceSummary(counts)}`
        : `${decisionText(rrd, decision, totals)}, ${evidenceSummary(counts)}`,
    ledger: {
      evidence: {
        verified: counts.verified,
        ...(counts.near > 0 ? { near: counts.near } : {}),
        not_in_text: counts.notInText,
        could_not_check: counts.couldNotCheck,
      },
    },
  };
}

/** Asks the second agent of a run, if there is one, to fill in the form, except for rejected papers. */
const formForSecondAgent = (rrd: Rrd, decision: string | null, { second }: JudgingContext): Pick<Paper, "fill_form"> =>
  second === true && decision !== "REJECT" && formOf(rrd).length > 0 ? { fill_form: ["second"] } : {};

/** The points of a result by the project's rubrics, or a text that says what is missing. */
export function scoresIn(rrd: Rrd, { scores, points = {} }: AnalysisResult): Scores | string {
  const ownRubric = ownRubricOf(rrd);
  if (ownRubric !== undefined) {
    const missing = ownRubric.dimensions.filter(({ id }) => !Object.hasOwn(points, id)).map(({ id }) => id);
    if (missing.length > 0) return `/points lacks ${missing.join(", ")}; give each dimension of the rubric 0 to 5`;
    return { execution: Object.fromEntries(ownRubric.dimensions.map(({ id }) => [id, points[id] ?? 0])) };
  }
  if (scores === undefined) return "/scores is missing; this project is judged by a rubric";
  const execution = { ...scores.execution };
  const { blue_ocean: strategic } = scores;
  if (!usesBothRubrics(rrd)) return { execution };
  return strategic === undefined
    ? "/scores/blue_ocean is missing; this project is judged by both rubrics"
    : { execution, strategic: { ...strategic } };
}

/** The change that adds the verified claims of a reading to the claims that must be checked. */
function claimsToCheck({ meaning }: Rrd, { id }: Paper, evidence: readonly Evidence[]): Change[] {
  const handles = evidence.flatMap(({ status }, index) =>
    status === "verified" || status === "near" ? [handleOf(id, index + 1)] : [],
  );
  const claims = [...new Set([...(meaning?.claims ?? []), ...handles])];
  return handles.length === 0 ? [] : [{ in: "rrd", set: { meaning: { ...meaning, claims } }, was: { meaning } }];
}

/** The points of a paper as stored in its record: nested if both rubrics were used, or those of the user's rubric. */
function pointsFor(rrd: Rrd, { execution, strategic }: Scores, totals: Totals): NonNullable<Paper["score_breakdown"]> {
  if (ownRubricOf(rrd) !== undefined) return { points: execution };
  if (strategic === undefined) return { ...execution } as FlatScores;
  return {
    execution,
    blue_ocean: strategic,
    execution_total: totals.execution,
    blue_ocean_total: totals.strategic ?? null,
    combined_total: totals.combined,
  } as NestedScores;
}

/** Removes the insights of an earlier reading if an update has the paper read again. */
const removeEarlierInsights = (rrd: Rrd, paper: Paper): Change[] =>
  papersToReadAgain(rrd).some(({ id }) => id === paper.id)
    ? (rrd.insights ?? []).flatMap(({ id, paper_id }) =>
        paper_id === paper.id && id != null ? [{ in: "insights", id, set: {}, remove: true }] : [],
      )
    : [];

/**
 * The reason for refusing a result if it answers no criterion. If only some answers are missing, they count as unclear.
 */
function unanswered(criteria: readonly Criterion[], { criteria: answered = {} }: AnalysisResult): string[] {
  if (criteria.length === 0 || criteria.some(({ id }) => Object.hasOwn(answered, id))) return [];
  return [`/criteria is missing; answer each eligibility criterion: ${criteria.map(({ id }) => id).join(", ")}`];
}

/** The outcome of the eligibility criteria for a paper, if they exclude it or leave it open. */
interface Screening {
  /** Null: the user decides. */
  readonly decision: "REJECT" | null;
  readonly because: string;
  readonly summary: string;
  /** The id of the criterion that excludes the paper. */
  readonly by?: string;
}

function screeningOf(rrd: Rrd, paper: Paper, answers: readonly Answer[], retracted: boolean): Screening | undefined {
  const criteria = criteriaToAnswer(rrd, paper);
  // A retracted paper is rejected in any case.
  if (criteria.length === 0 || retracted) return undefined;
  const { excludedBy, open } = eligibilityOf(criteria, answers);
  if (excludedBy !== undefined)
    return {
      decision: "REJECT",
      because: `Excluded by ${criterionText(excludedBy)}.`,
      summary: `${decisionWord("REJECT")}, excluded by ${excludedBy.id}`,
      by: excludedBy.id,
    };
  if (open.length === 0) return undefined;
  const ids = open.map(({ id }) => id).join(", ");
  return {
    decision: null,
    because: `${ids} ${open.length === 1 ? "is" : "are"} unclear.`,
    summary: `waits for you: ${ids} unclear`,
  };
}

/** Removes repeated pairs of a claim and a quote. */
const removeDuplicates = (evidence: readonly Evidence[]): Evidence[] => [
  ...new Map(evidence.map((each) => [`${each.claim}\n${quotedWords(each)}\n${each.status}`, each])).values(),
];

const decisionByScore = (rrd: Rrd, totals: Totals | undefined): Decision => decide(rrd, totals, {}).decision;

function evidenceSummary({ verified, near, notInText, couldNotCheck }: Counts): string {
  if (couldNotCheck > 0 && verified + near + notInText === 0)
    return `${couldNotCheck} ${couldNotCheck === 1 ? "quote" : "quotes"} could not be checked`;
  return `${verified} of ${verified + near + notInText} quotes found${near > 0 ? `, ${near} near` : ""}`;
}

const secretWarning =
  "The result contained what looks like a secret of yours; it was removed. If the paper told the agent to do so, the agent may also have sent it elsewhere.";

/** The failed attempts to get the full text, so that the user can help. */
function failedAttempts({ text }: PaperMaterial): string {
  const tried = (text?.origin?.tried ?? []).map(({ way, reason }) => `${way}: ${reason.replace(/\.$/, "")}`);
  return tried.length === 0 ? "" : ` ${clip(tried.join("; "), 120)}.`;
}

/** Maximum number of numbers in a warning; the record has all of them. */
const maxListedNumbers = 8;

function warningsOf(
  material: PaperMaterial,
  retracted: boolean,
  { notInText, near }: Counts,
  numbers: readonly CheckedNumber[],
): string[] {
  const unquotedNumbers = numbers.filter(({ status }) => status === "in-text" || status === "not-in-text");
  const instructionCount = material.instructions?.length ?? 0;
  return [
    ...(retracted ? ["Retracted."] : []),
    ...(material.text?.warnings ?? []),
    ...(instructionCount > 0
      ? [
          `The text contains ${instructionCount === 1 ? "a sentence that gives" : `${instructionCount} sentences that give`} orders to AI readers: "${clip(material.instructions?.[0] ?? "", 30)}"`,
        ]
      : []),
    ...(material.text?.depth === "abstract"
      ? [`Only a page about the paper was read; its full text was not available.${failedAttempts(material)}`]
      : []),
    ...(material.unavailable === undefined ? [] : [`Only the abstract was read: ${material.unavailable}`]),
    ...(notInText > 0
      ? [
          `${notInText} ${notInText === 1 ? "quote was" : "quotes were"} not found in the text and left out of the report.`,
        ]
      : []),
    ...(near > 0
      ? [`${near} ${near === 1 ? "quote differs" : "quotes differ"} from the text in the unit or rounding of a number.`]
      : []),
    ...unquotedWarnings(unquotedNumbers),
  ];
}

/** Warnings about numbers of the results that are in no quote: one for those in the paper, one for the others. */
const unquotedWarnings = (numbers: readonly CheckedNumber[]): string[] =>
  (["in-text", "not-in-text"] as const).flatMap((wantedStatus) => {
    const matching = numbers.filter(({ status }) => status === wantedStatus).map(({ number }) => number);
    if (matching.length === 0) return [];
    const more = matching.length > maxListedNumbers ? ` and ${matching.length - maxListedNumbers} more` : "";
    const problem = wantedStatus === "in-text" ? "are in the paper, but not in its quotes" : "are not in the paper";
    return [`Numbers of the results that ${problem}: ${matching.slice(0, maxListedNumbers).join(", ")}${more}.`];
  });

function insightsOf(rrd: Rrd, paper: Paper, result: AnalysisResult): Insight[] {
  if (result.insights.length === 0) return [];
  const isInPool = (id: string) => rrd.papers_pool.some((other) => other.id === id);
  const lastIdNumber = lastNumber((rrd.insights ?? []).map(({ id }) => id ?? ""));
  return result.insights.map((insight, index) => ({
    id: insightId(lastIdNumber + index + 1),
    paper_id: paper.id,
    insight: insight.insight,
    tags: insight.tags ?? [],
    cross_refs: (insight.cross_refs ?? []).filter((id) => id !== paper.id && isInPool(id)),
  }));
}

/** "included 45/50"; without points "included". */
const decisionText = (rrd: Rrd, decision: Decision | null, totals: Totals | undefined): string => {
  if (decision === null) return "read";
  return totals === undefined
    ? decisionWord(decision)
    : `${decisionWord(decision)} ${totals.combined}/${fullScore(rrd)}`;
};
