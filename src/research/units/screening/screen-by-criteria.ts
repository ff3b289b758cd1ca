import type { Answers } from "../../generated/result-analysis.js";
import type { DiscoveryResult } from "../../generated/result-discovery.js";
import type { Answer, Criterion, Exclusion, Rrd } from "../../generated/rrd.js";
import { criteriaOf } from "../../project-files/eligibility-criteria.js";
import { checkScreening } from "../../screening/eligibility/check-answers.js";
import { evidenceText } from "../../screening/eligibility/answer-text.js";
import { criterionText } from "../../screening/eligibility/eligibility.js";
import type { Batch } from "./screening-batch.js";
import { excludedFacts, type ScreeningCandidate } from "./search-results.js";

/** The checked answers to the eligibility criteria, by the candidate's id. */
export type AnswersById = ReadonlyMap<string, readonly Answer[]>;

/** Checks an agent's answers to the criteria for each candidate that it names; empty if there are no criteria. */
export async function checkedAnswers(rrd: Rrd, result: DiscoveryResult, batch: Batch): Promise<AnswersById> {
  const criteria = criteriaOf(rrd);
  if (criteria.length === 0) return new Map();
  const answersById = new Map<string, Answers | undefined>();
  const { kept = [], papers, dropped = [] } = result;
  for (const { id, criteria: answers } of [...kept, ...papers, ...dropped])
    if (id !== undefined) answersById.set(id, answersById.get(id) ?? answers);
  const checked = new Map<string, readonly Answer[]>();
  for (const candidate of batch.candidates)
    if (answersById.has(candidate.id))
      checked.set(candidate.id, await checkScreening(criteria, answersById.get(candidate.id), candidate));
  return checked;
}

/**
 * The reasons for refusing a result without any answer to the criteria; if only some answers are missing, they count as
 * unclear.
 */
export function unanswered(
  criteria: readonly Criterion[],
  entries: readonly { readonly criteria?: Answers }[],
): string[] {
  if (criteria.length === 0 || entries.length === 0) return [];
  if (entries.some(({ criteria: answers = {} }) => criteria.some(({ id }) => Object.hasOwn(answers, id)))) return [];
  const ids = criteria.map(({ id }) => id).join(", ");
  return [`no entry has \`criteria\`; answer each eligibility criterion for each candidate: ${ids}`];
}

/**
 * The entry for a candidate that is read although the agent would drop it. It is read last. `because`: the reason, a
 * clause.
 */
export function entryDespiteDrop(
  { id, reason }: { id: string; reason: string },
  candidate: ScreeningCandidate | undefined,
  because: string,
): DiscoveryResult["papers"] {
  if (candidate === undefined) return [];
  const { title, url } = candidate;
  return [{ id, title, url, priority: 1, reason: `${because}; the agent would drop it: ${reason}` }];
}

/** The answers for a paper that the agent found itself: code has no abstract of it, so its text decides. */
export const openAnswers = (criteria: readonly Criterion[]): Answer[] =>
  criteria.map(({ id }) => ({
    criterion: id,
    stage: "screening",
    answer: "unclear",
    reason: "The agent found the paper itself, so there was no abstract to check quotes against.",
  }));

export function exclusionByCriteria(
  candidate: ScreeningCandidate,
  criterion: Criterion,
  answers: readonly Answer[],
): Exclusion {
  const { id, title } = candidate;
  const decisive = answers.find((answer) => answer.criterion === criterion.id);
  const reason = decisive === undefined ? "" : evidenceText(decisive);
  return {
    id,
    title,
    reason: `excluded by ${criterionText(criterion)}${reason === "" ? "" : `: ${decisive?.answer}${reason}`}`,
    stage: "screened",
    criterion: criterion.id,
    answers: [...answers],
    ...excludedFacts(candidate),
  };
}
