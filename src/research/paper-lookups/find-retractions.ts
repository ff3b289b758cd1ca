import { arxiv } from "../sources/clients/arxiv.js";
import { biorxiv } from "../sources/clients/biorxiv.js";
import { crossref } from "../sources/clients/crossref.js";
import { europePmc } from "../sources/clients/europe-pmc.js";
import { openAlex } from "../sources/clients/openalex.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Answered } from "./compare-citation.js";
import type { Identifiers, PaperRecord, Update } from "../papers/paper-record.js";
import { sharesIdentifier } from "../papers/identifiers.js";
import type { ContextFor, Source } from "../sources/shared/source.js";

/** What is known to have happened to a work since it was published, and who could not be asked. */
export interface WorkUpdates {
  readonly work: Identifiers;
  /** The oldest first, those without a date last. */
  readonly updates: readonly Update[];
  /** Names of the services that know the work and answered; with none, nothing has been checked. */
  readonly checkedBy: readonly string[];
  /** Every service that answered: its record of the work, or none where it does not know it. Absent: not told. */
  readonly answers?: readonly Answered[];
  /** Services that would have been asked and did not answer. Nothing follows from it. */
  readonly unchecked: readonly { readonly source: string; /** One sentence. */ readonly reason: string }[];
}

interface Check {
  readonly source: Source;
  /** Whether the service can know the work. */
  asks(work: Identifiers): boolean;
}

const checks: readonly Check[] = [
  { source: crossref, asks: ({ doi }) => doi !== undefined },
  { source: openAlex, asks: ({ doi, arxiv: id, pmid, openalex }) => (doi ?? id ?? pmid ?? openalex) !== undefined },
  { source: europePmc, asks: ({ doi, pmid, pmcid }) => (doi ?? pmid ?? pmcid) !== undefined },
  { source: arxiv, asks: ({ arxiv: id }) => id !== undefined },
  { source: biorxiv, asks: ({ doi }) => /^10\.(?:1101|64898)\//.test(doi ?? "") },
];

/** The services that keep retractions, corrections and withdrawals. */
export const updateServices: readonly Source[] = checks.map(({ source }) => source);

/**
 * Asks every service that keeps retractions, corrections and withdrawals about the works; some three requests a work.
 * In the order of `works`. Never throws: a service that can't be asked is named for each work that it would have been
 * asked about.
 */
export async function checkUpdates(
  works: readonly Identifiers[],
  contextFor: ContextFor,
): Promise<readonly WorkUpdates[]> {
  const all = await Promise.all(checks.map((check) => ask(check, works, contextFor)));
  return works.map((work, index) => {
    const answers = all.map((each) => each[index]).filter((each) => each !== undefined);
    const unchecked = answers.flatMap(({ source, reason }) => (reason === undefined ? [] : [{ source, reason }]));
    const known = answers.filter(({ record }) => record !== undefined);
    return {
      work,
      updates: inOrder(known.flatMap(({ record }) => record?.updates ?? [])),
      checkedBy: known.map(({ source }) => source),
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

/** Whether a service can know one of these works at least. */
export const canBeChecked = (works: readonly Identifiers[]): boolean =>
  works.some((work) => checks.some(({ asks }) => asks(work)));

interface Checked {
  readonly source: string;
  readonly record?: PaperRecord;
  /** Why the service could not be asked. */
  readonly reason?: string;
}

/** What one service says of each work; undefined for those it can't know. */
async function ask(
  { source, asks }: Check,
  works: readonly Identifiers[],
  contextFor: ContextFor,
): Promise<(Checked | undefined)[]> {
  const asked = works.filter(asks);
  if (asked.length === 0 || source.lookup === undefined) return works.map(() => undefined);
  const context = contextFor(source);
  if ("unavailable" in context)
    return works.map((work) => (asks(work) ? { source: source.name, reason: context.unavailable } : undefined));
  const answer = await source.lookup(asked, context);
  return works.map((work) => {
    if (!asks(work)) return undefined;
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

const inOrder = (updates: readonly Update[]): Update[] =>
  updates.toSorted((a, b) => (a.date ?? "9999").localeCompare(b.date ?? "9999"));
