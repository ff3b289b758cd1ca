import { arxiv } from "../sources/clients/arxiv.js";
import { biorxiv, mayBeOnBiorxiv } from "../sources/clients/biorxiv.js";
import { crossref } from "../sources/clients/crossref.js";
import { europePmc } from "../sources/clients/europe-pmc.js";
import { openAlex } from "../sources/clients/openalex.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { oldestFirst } from "../papers/dedup/companions.js";
import type { ServiceAnswer } from "./compare-citation.js";
import type { Identifiers, PaperRecord, Update } from "../papers/paper-record.js";
import { sharesIdentifier } from "../papers/identifiers.js";
import type { ContextFor, Source } from "../sources/shared/source.js";

/** The updates of a work since its publication, and the services that did not answer. */
export interface WorkUpdates {
  /** Sorted by date, oldest first; updates without a date come last. */
  readonly updates: readonly Update[];
  /** Services that know the work and answered. If empty, nothing was checked. */
  readonly checkedBy: readonly string[];
  /** The answers of all services: the record, or none if the service does not know the work. Absent if not recorded. */
  readonly answers?: readonly ServiceAnswer[];
  /** Services that did not answer. This says nothing about the work. */
  readonly unchecked: readonly { readonly source: string; /** One sentence. */ readonly reason: string }[];
}

interface Check {
  readonly source: Source;
  /** Whether the service can know the work. */
  canKnow(work: Identifiers): boolean;
}

const checks: readonly Check[] = [
  { source: crossref, canKnow: ({ doi }) => doi !== undefined },
  { source: openAlex, canKnow: ({ doi, arxiv: id, pmid, openalex }) => (doi ?? id ?? pmid ?? openalex) !== undefined },
  { source: europePmc, canKnow: ({ doi, pmid, pmcid }) => (doi ?? pmid ?? pmcid) !== undefined },
  { source: arxiv, canKnow: ({ arxiv: id }) => id !== undefined },
  { source: biorxiv, canKnow: mayBeOnBiorxiv },
];

/** The services that keep retractions, corrections and withdrawals. */
export const updateServices: readonly Source[] = checks.map(({ source }) => source);

/**
 * Queries every service with retractions, corrections and withdrawals, about three requests per work. The results have
 * the order of `works`. Never throws: a service that can't be queried is listed as unchecked for each of its works.
 */
export async function checkUpdates(
  works: readonly Identifiers[],
  contextFor: ContextFor,
): Promise<readonly WorkUpdates[]> {
  const answersByCheck = await Promise.all(checks.map((check) => runCheck(check, works, contextFor)));
  return works.map((_, index) => {
    const answers = answersByCheck.map((each) => each[index]).filter((each) => each !== undefined);
    const unchecked = answers.flatMap(({ source, reason }) => (reason === undefined ? [] : [{ source, reason }]));
    const knownAnswers = answers.filter(({ record }) => record !== undefined);
    return {
      updates: oldestFirst(knownAnswers.flatMap(({ record }) => record?.updates ?? [])),
      checkedBy: knownAnswers.map(({ source }) => source),
      answers: answers.flatMap(({ source, record, reason }) =>
        reason === undefined ? { source, ...withoutUndefined({ record }) } : [],
      ),
      unchecked:
        answers.length > 0
          ? unchecked
          : [{ source: "every source", reason: "The work has no DOI, arXiv id or PMID to look it up by." }],
    };
  });
}

/** Whether at least one service can know one of these works. */
export const canBeChecked = (works: readonly Identifiers[]): boolean =>
  works.some((work) => checks.some(({ canKnow }) => canKnow(work)));

interface CheckAnswer {
  readonly source: string;
  readonly record?: PaperRecord;
  /** Why the service could not be asked. */
  readonly reason?: string;
}

/** The answer of one service for each work; undefined for works that it can't know. */
async function runCheck(
  { source, canKnow }: Check,
  works: readonly Identifiers[],
  contextFor: ContextFor,
): Promise<(CheckAnswer | undefined)[]> {
  const suitableWorks = works.filter(canKnow);
  if (suitableWorks.length === 0 || source.lookup === undefined) return works.map(() => undefined);
  const context = contextFor(source);
  if ("unavailable" in context)
    return works.map((work) => (canKnow(work) ? { source: source.name, reason: context.unavailable } : undefined));
  const answer = await source.lookup(suitableWorks, context);
  return works.map((work) => {
    if (!canKnow(work)) return undefined;
    if (answer.status === "empty") return { source: source.name };
    if (answer.status !== "ok") return { source: source.name, reason: answer.reason };
    const record = answer.value.find(({ identifiers }) => sharesIdentifier(identifiers, work));
    if (record !== undefined) return { source: source.name, record };
    const isUnchecked = answer.unchecked?.some((other) => sharesIdentifier(other, work)) === true;
    return {
      source: source.name,
      ...(isUnchecked ? { reason: answer.incomplete ?? `${source.name} could not be asked.` } : {}),
    };
  });
}
