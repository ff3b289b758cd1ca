import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import type { Answer, Criterion, Insight, Paper, Reading, Rrd } from "../../generated/rrd.js";
import { criteriaOf } from "../../project-files/eligibility-criteria.js";
import { countEach } from "../../../engine/lib/group.js";

/** What the answers to the criteria come to. */
export interface Eligibility {
  /** The first criterion that excludes. */
  readonly excludedBy?: Criterion;
  /** Criteria without a clear answer; empty where one excludes. */
  readonly open: readonly Criterion[];
}

/**
 * What answers come to: an exclude criterion that is answered yes, or an include criterion that is answered no,
 * excludes. What is unclear or not answered is open.
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

/** The answers of one stage. */
export const answersAt = (stage: Answer["stage"], answers: readonly Answer[] | undefined): Answer[] =>
  (answers ?? []).filter((answer) => answer.stage === stage);

/** The criteria that the reading of a paper has to answer; none where a person has decided. */
export const askedCriteria = (rrd: Rrd, { override }: Pick<Paper, "override">): readonly Criterion[] =>
  override === undefined ? criteriaOf(rrd) : [];

/** A criterion in words: "c2 (exclude: animal studies)". */
export const criterionInFull = ({ id, kind, text }: Criterion): string => `${id} (${kind}: ${text})`;

/** So much of a criterion names it where it is repeated often, in characters. */
const maxNamed = 300;

/** The same, cut where it is long, for a place in which each record names its criterion. */
export function criterionText({ id, kind, text }: Criterion): string {
  const letters = [...text];
  const named =
    letters.length <= maxNamed
      ? text
      : `${letters
          .slice(0, maxNamed - 1)
          .join("")
          .trimEnd()}…`;
  return criterionInFull({ id, kind, text: named });
}

/** A paper that a person has to decide on, with the criteria that its reading left open. */
export interface WaitingPaper {
  readonly paper: Paper;
  readonly open: readonly Criterion[];
  /** What two readers decided who disagree on it; it was not read yet. */
  readonly conflict?: readonly Reading[];
}

/** How often a reason excluded. `criterion` is absent for a reason that can't be read, or a criterion that is gone. */
export interface ExclusionCount {
  /** Id of a criterion, `person`, `retracted` or `other`. */
  readonly reason: string;
  readonly criterion?: Criterion;
  readonly count: number;
}

/** Where a project stands with its eligibility criteria, read off its records. */
export interface EligibilityReport {
  readonly criteria: readonly Criterion[];
  /** Papers that wait for a person, in the order of the pool. */
  readonly waiting: readonly WaitingPaper[];
  /** Reasons of exclusion by stage, the criteria in their order, then the others. */
  readonly screening: readonly ExclusionCount[];
  /** After a reading of the abstract alone. */
  readonly abstract: readonly ExclusionCount[];
  readonly fullText: readonly ExclusionCount[];
}

/**
 * Papers that wait for the person and reasons of exclusion, for whatever shows them: the report, `status`, the flow.
 * Pure. Everything is empty where a project has no criteria and nobody has decided on eligibility.
 */
export function eligibilityReport(rrd: Rrd): EligibilityReport {
  const criteria = criteriaOf(rrd);
  const hasAny = criteria.length > 0;
  const screened = (rrd.excluded ?? []).filter(({ stage }) => (stage ?? "screened") === "screened");
  const excludedAt = (stage: ReturnType<typeof stageOfRejection>) =>
    rrd.papers_pool.flatMap((paper) => (stageOfRejection(paper) === stage ? (exclusionOf(paper) ?? []) : []));
  const isTold = (reason: string) => reason !== "retracted" || hasAny;
  return {
    criteria,
    waiting: rrd.papers_pool.filter(isWaiting).map((paper) => {
      // One that nobody has read yet waits because its readers disagree.
      const isRead = paper.analysis != null;
      const conflict = isRead ? undefined : paper.readings;
      return { paper, open: isRead ? openCriteria(criteria, paper) : [], ...withoutUndefined({ conflict }) };
    }),
    screening: counted(criteria, [
      ...screened.flatMap(({ criterion, override }) =>
        override !== undefined
          ? [override.criterion ?? "person"]
          : hasAny || criterion !== undefined
            ? [criterion ?? "other"]
            : [],
      ),
      ...excludedAt("screening"),
    ]),
    abstract: counted(criteria, excludedAt("abstract").filter(isTold)),
    fullText: counted(criteria, excludedAt("full text").filter(isTold)),
  };
}

/** Whether a paper waits for a person's decision: one that was written by hand counts at once. */
export const isWaiting = ({ status, override }: Paper): boolean => status === "waiting" && override === undefined;

/** The criteria that a paper's reading left open. */
export const openCriteria = (criteria: readonly Criterion[], { answers }: Paper): readonly Criterion[] =>
  eligibilityOf(criteria, answersAt("full_text", answers)).open;

/**
 * Why a paper of the pool is not eligible: `person`, `retracted`, or the id of a criterion. Undefined for one that is
 * eligible or not judged yet.
 */
export function exclusionOf({ override, excluded_by: by, retracted, status }: Paper): string | undefined {
  if (override?.decision === "exclude") return override.criterion ?? "person";
  if (retracted === true && status === "rejected") return "retracted";
  return override === undefined && status === "rejected" ? (by ?? undefined) : undefined;
}

/**
 * Where a rejected record left the flow: a person excludes by title and abstract what nobody has read, even after it
 * could not be retrieved. Any other rejected record was read, or at least its abstract was.
 */
export function stageOfRejection({
  override,
  analysis,
  read_depth: depth,
}: Pick<Paper, "override" | "analysis" | "read_depth">): "screening" | "abstract" | "full text" {
  if (override?.decision === "exclude" && analysis == null && depth == null) return "screening";
  return depth === "abstract" ? "abstract" : "full text";
}

/** What an answer to a criterion rests on. */
export const basisOf = (
  { stage }: Pick<Answer, "stage">,
  { read_depth: depth }: Pick<Paper, "read_depth">,
): "title and abstract" | "abstract" | "full text" =>
  stage === "screening" ? "title and abstract" : depth === "abstract" ? "abstract" : "full text";

/** Whether nothing may be built on a paper: it waits for a person, or they could not get it, or it is excluded. */
export const isIneligible = (paper: Paper): boolean =>
  isWaiting(paper) ||
  paper.override?.decision === "not_retrieved" ||
  (exclusionOf(paper) ?? "retracted") !== "retracted";

/**
 * The insights that count: those of a paper on which nothing may be built stay in the file, so that a later decision to
 * include it brings them back without another reading.
 */
export function countingInsights({ papers_pool: pool, insights }: Pick<Rrd, "papers_pool" | "insights">): Insight[] {
  const ineligible = new Set(pool.filter(isIneligible).map(({ id }) => id));
  if (ineligible.size === 0) return [...(insights ?? [])];
  return (insights ?? []).filter(({ paper_id: of }) => !ineligible.has(of ?? ""));
}

function counted(criteria: readonly Criterion[], reasons: readonly string[]): ExclusionCount[] {
  const counts = countEach(reasons);
  const known = new Map(criteria.map((criterion) => [criterion.id, criterion]));
  const ordered = [...known.keys(), ...[...counts.keys()].filter((reason) => !known.has(reason)).toSorted()];
  return ordered.flatMap((reason) => {
    const [count, criterion] = [counts.get(reason), known.get(reason)];
    if (count === undefined) return [];
    return [{ reason, count, ...withoutUndefined({ criterion }) }];
  });
}
