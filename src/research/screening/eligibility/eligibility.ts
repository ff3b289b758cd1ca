import { createHash } from "node:crypto";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import type { Answer, Criterion, Exclusion, Insight, Override, Paper, Reading, Rrd } from "../../generated/rrd.js";
import { criteriaOf } from "../../project-files/eligibility-criteria.js";
import { countEach } from "../../../engine/lib/group.js";
import { oneLine } from "../../../engine/lib/sanitise.js";

/** The result of the answers to the criteria. */
export interface Eligibility {
  /** The first criterion that excludes. */
  readonly excludedBy?: Criterion;
  /** Criteria without a clear answer; empty if a criterion excludes. */
  readonly open: readonly Criterion[];
}

/**
 * The result of answers: "yes" to an exclude criterion or "no" to an include criterion excludes. Criteria with unclear
 * or missing answers are open.
 */
export function eligibilityOf(
  criteria: readonly Criterion[],
  answers: readonly Pick<Answer, "criterion" | "answer">[],
): Eligibility {
  const answerOf = new Map(answers.map(({ criterion, answer }) => [criterion, answer]));
  const excludedBy = criteria.find(({ id, kind }) => answerOf.get(id) === (kind === "exclude" ? "yes" : "no"));
  if (excludedBy !== undefined) return { excludedBy, open: [] };
  return { open: criteria.filter(({ id }) => (answerOf.get(id) ?? "unclear") === "unclear") };
}

/** A hash of a criterion's kind and text. */
export const criterionHash = ({ kind, text }: Criterion): string =>
  createHash("sha256")
    .update(JSON.stringify([kind, text]))
    .digest("hex")
    .slice(0, 12);

const openStatuses: ReadonlySet<unknown> = new Set(["pending", "analyzing"]);

/**
 * The criteria whose kind or text was changed after a record was judged by them. The answers of a full text replace
 * those of screening; a paper that is still to be read has no decision to judge again.
 */
export function changedCriteria(criteria: readonly Criterion[], record: Paper | Exclusion): Criterion[] {
  const { answers = [], override } = record;
  if (override !== undefined || ("status" in record && openStatuses.has(record.status))) return [];
  const lastAnswers = new Map(answers.map((answer) => [answer.criterion, answer]));
  return criteria.filter((criterion) => {
    const { asked } = lastAnswers.get(criterion.id) ?? {};
    return asked !== undefined && asked !== criterionHash(criterion);
  });
}

/**
 * Whether a record was judged by other criteria than those of the project: the text of one was changed, the one that
 * excluded it was removed, or one was added that a paper with a decision has no answer to. False if a person decided.
 */
export function isJudgedByOthers(criteria: readonly Criterion[], record: Paper | Exclusion): boolean {
  const { answers, override } = record;
  if (override !== undefined) return false;
  const excludedBy = "status" in record ? record.excluded_by : record.criterion;
  const isKept = "status" in record && (record.status === "presented" || record.status === "insights_extracted");
  return (
    changedCriteria(criteria, record).length > 0 ||
    (excludedBy != null && !criteria.some(({ id }) => id === excludedBy)) ||
    (isKept && openCriteria(criteria, { answers }).length > 0)
  );
}

/**
 * A sentence for each criterion that was changed after records had answered it, unless a person decided on them.
 * `name`: the project, as a command names it.
 */
export function changedCriteriaSentences(
  rrd: Pick<Rrd, "papers_pool" | "excluded" | "requirements">,
  name = "<project>",
): string[] {
  const criteria = criteriaOf(rrd);
  const records = [...rrd.papers_pool, ...(rrd.excluded ?? [])];
  const counts = countEach(records.flatMap((record) => changedCriteria(criteria, record).map(({ id }) => id)));
  return [...counts].map(
    ([id, count]) =>
      `The text of ${id} was changed after ${count === 1 ? "1 record was" : `${count} records were`} judged by an earlier one: 'research-ralph reset ${name} --criteria' and a run judge all of them again.`,
  );
}

/** The answers of one stage. */
export const answersAt = (stage: Answer["stage"], answers: readonly Answer[] | undefined): Answer[] =>
  (answers ?? []).filter((answer) => answer.stage === stage);

/** The criteria that the reading of a paper must answer; empty if the user has decided on the paper. */
export const criteriaToAnswer = (rrd: Rrd, { override }: Pick<Paper, "override">): readonly Criterion[] =>
  override === undefined ? criteriaOf(rrd) : [];

/** A criterion as text: "c2 (exclude: animal studies)". */
export const criterionInFull = ({ id, kind, text }: Criterion): string => `${id} (${kind}: ${text})`;

/** A criterion as the reason of an exclusion: "c2 applies (animal studies)". */
export const exclusionBy = ({ id, kind, text }: Criterion): string =>
  `${id} ${kind === "include" ? "is not met" : "applies"} (${text.trim().replace(/\.$/, "")})`;

/** Maximum length of a criterion's text in lists of records, in characters. */
const maxTextChars = 300;

/** Like criterionInFull, but a long text is cut, for lists in which every record names its criterion. */
export const criterionText = (criterion: Criterion): string => criterionInFull(shortened(criterion));

/** Like exclusionBy, with a long text cut. */
export const shortExclusionBy = (criterion: Criterion): string => exclusionBy(shortened(criterion));

function shortened({ text, ...criterion }: Criterion): Criterion {
  const letters = [...text];
  const shortText =
    letters.length <= maxTextChars
      ? text
      : `${letters
          .slice(0, maxTextChars - 1)
          .join("")
          .trimEnd()}…`;
  return { ...criterion, text: shortText };
}

/** The user's reason with the criterion of the decision, unless the reason contains the text of the criterion. */
export const withCriterion = (why: string, criterion: Criterion): string =>
  why.includes(criterion.text.trim().replace(/\.$/, ""))
    ? oneLine(why)
    : oneLine(`${why} (${criterion.id}: ${criterion.text})`);

/** A paper that waits for the user's decision, with its open criteria. */
export interface WaitingPaper {
  readonly paper: Paper;
  readonly open: readonly Criterion[];
  /** The decisions of two readers who disagree on it. Then it has not been read yet. */
  readonly conflict?: readonly Reading[];
}

/** The number of exclusions by one reason. `criterion` is absent for other reasons and for removed criteria. */
export interface ExclusionCount {
  /** The id of a criterion, a typed reason after `person: `, `person` for more such reasons, `retracted` or `other`. */
  readonly reason: string;
  readonly criterion?: Criterion;
  readonly count: number;
}

/** The exclusions and waiting papers of a project, derived from its records. */
export interface EligibilityReport {
  readonly criteria: readonly Criterion[];
  /** Papers that wait for the user's decision, in the order of the pool. */
  readonly waiting: readonly WaitingPaper[];
  /** Exclusions by screening: first the criteria in their order, then other reasons. */
  readonly screening: readonly ExclusionCount[];
  /** Exclusions after a reading of only the abstract. */
  readonly abstract: readonly ExclusionCount[];
  readonly fullText: readonly ExclusionCount[];
}

/**
 * Waiting papers and reasons of exclusion, for the report, `status` and the flow diagram. All lists are empty if a
 * project has no criteria and the user has made no decision. Pure.
 */
export function eligibilityReport(rrd: Rrd): EligibilityReport {
  const criteria = criteriaOf(rrd);
  const hasCriteria = criteria.length > 0;
  const screened = (rrd.excluded ?? []).filter(({ stage }) => (stage ?? "screened") === "screened");
  const excludedAt = (stage: ReturnType<typeof stageOfRejection>) =>
    rrd.papers_pool.flatMap((paper) => (stageOfRejection(paper) === stage ? (countedReason(paper) ?? []) : []));
  const isCounted = (reason: string) => reason !== "retracted" || hasCriteria;
  return {
    criteria,
    waiting: rrd.papers_pool.filter(isWaiting).map((paper) => {
      // An unread paper waits because its readers disagree.
      const isRead = paper.analysis != null;
      const conflict = isRead ? undefined : paper.readings;
      return { paper, open: isRead ? openCriteria(criteria, paper) : [], ...withoutUndefined({ conflict }) };
    }),
    screening: countReasons(criteria, [
      ...screened.flatMap(({ criterion, override }) =>
        override !== undefined
          ? [typedReason(override)]
          : hasCriteria || criterion !== undefined
            ? [criterion ?? "other"]
            : [],
      ),
      ...excludedAt("screening"),
    ]),
    abstract: countReasons(criteria, excludedAt("abstract").filter(isCounted)),
    fullText: countReasons(criteria, excludedAt("full text").filter(isCounted)),
  };
}

/** Whether a paper waits for the user's decision. A decision written by hand counts at once. */
export const isWaiting = ({ status, override }: Paper): boolean => status === "waiting" && override === undefined;

/** The criteria that a paper's reading left open. */
export const openCriteria = (
  criteria: readonly Criterion[],
  { answers }: Pick<Paper, "answers">,
): readonly Criterion[] => eligibilityOf(criteria, answersAt("full_text", answers)).open;

/**
 * The reason why a paper of the pool is not eligible: `person`, `retracted`, or the id of a criterion. Undefined if it
 * is eligible or not judged yet.
 */
export function exclusionOf({ override, excluded_by: criterion, retracted, status }: Paper): string | undefined {
  if (override?.decision === "exclude") return override.criterion ?? "person";
  if (retracted === true && status === "rejected") return "retracted";
  return override === undefined && status === "rejected" ? (criterion ?? undefined) : undefined;
}

const typedPrefix = "person: ";
const maxTypedChars = 100;
const maxTypedReasons = 8;

/** What a person's exclusion counts as: the criterion, or the typed reason, so that equal reasons count together. */
export function typedReason({ criterion, why }: Pick<Override, "criterion" | "why">): string {
  if (criterion !== undefined) return criterion;
  const letters = [...oneLine(why).trim().replace(/\.$/, "")];
  const text = letters.length > maxTypedChars ? `${letters.slice(0, maxTypedChars - 1).join("")}…` : letters.join("");
  return `${typedPrefix}${text}`;
}

/** The words that a person typed as a reason; undefined for other reasons. */
export const typedText = (reason: string): string | undefined =>
  reason.startsWith(typedPrefix) ? reason.slice(typedPrefix.length) : undefined;

/** Like `exclusionOf`, with the reason that a person typed in place of `person`. */
export const countedReason = (paper: Paper): string | undefined =>
  paper.override?.decision === "exclude" ? typedReason(paper.override) : exclusionOf(paper);

/** Counts by reason, with only the most frequent typed reasons; the others count together as `person`. */
export function withFewTyped(counts: ReadonlyMap<string, number>): Map<string, number> {
  const typed = [...counts].filter(([reason]) => typedText(reason) !== undefined).toSorted(([, a], [, b]) => b - a);
  const rare = new Set(typed.slice(maxTypedReasons).map(([reason]) => reason));
  const kept = [...counts].filter(([reason]) => !rare.has(reason));
  const others = [...counts].reduce((sum, [reason, count]) => sum + (rare.has(reason) ? count : 0), 0);
  return new Map(others === 0 ? kept : [...kept, ["person", others]]);
}

/**
 * The stage at which a record was rejected. If the user excludes an unread paper, that is screening, even if it could
 * not be retrieved. Other rejected papers were read, at least their abstracts.
 */
export function stageOfRejection({
  override,
  analysis,
  read_depth: depth,
}: Pick<Paper, "override" | "analysis" | "read_depth">): "screening" | "abstract" | "full text" {
  if (override?.decision === "exclude" && analysis == null && depth == null) return "screening";
  return depth === "abstract" ? "abstract" : "full text";
}

/** The text that an answer to a criterion is based on. */
export const basisOf = (
  { stage }: Pick<Answer, "stage">,
  { read_depth: depth }: Pick<Paper, "read_depth">,
): "title and abstract" | "abstract" | "full text" =>
  stage === "screening" ? "title and abstract" : depth === "abstract" ? "abstract" : "full text";

/** Whether a paper must not be used: it waits for the user, they could not get it, or it is excluded. */
export const isIneligible = (paper: Paper): boolean =>
  isWaiting(paper) ||
  paper.override?.decision === "not_retrieved" ||
  (exclusionOf(paper) ?? "retracted") !== "retracted";

/**
 * The insights of eligible papers. Insights of other papers stay in the file, so that a later decision to include the
 * paper needs no second reading.
 */
export function countingInsights({ papers_pool: pool, insights }: Pick<Rrd, "papers_pool" | "insights">): Insight[] {
  const ineligible = new Set(pool.filter(isIneligible).map(({ id }) => id));
  if (ineligible.size === 0) return [...(insights ?? [])];
  return (insights ?? []).filter(({ paper_id: paperId }) => !ineligible.has(paperId ?? ""));
}

function countReasons(criteria: readonly Criterion[], reasons: readonly string[]): ExclusionCount[] {
  const counts = withFewTyped(countEach(reasons));
  const criteriaById = new Map(criteria.map((criterion) => [criterion.id, criterion]));
  const orderedReasons = [
    ...criteriaById.keys(),
    ...[...counts.keys()].filter((reason) => !criteriaById.has(reason)).toSorted(),
  ];
  return orderedReasons.flatMap((reason) => {
    const [count, criterion] = [counts.get(reason), criteriaById.get(reason)];
    if (count === undefined) return [];
    return [{ reason, count, ...withoutUndefined({ criterion }) }];
  });
}
