import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import type { Unit } from "../../../engine/loop/types.js";
import type { AgentNotes } from "../../../engine/storage/agent-notes.js";
import type { DiscoveryResult } from "../../generated/result-discovery.js";
import type { Answer, Criterion, Reading, Rrd } from "../../generated/rrd.js";
import { criteriaOf } from "../../project-files/eligibility-criteria.js";
import { readingsText } from "../../screening/eligibility/agreement.js";
import { criterionText, eligibilityOf } from "../../screening/eligibility/eligibility.js";
import type { AnswersById } from "./screen-by-criteria.js";
import { isReader, notesOf, readerRoles } from "../shared-unit.js";
import type { ConflictRule, ResearchState } from "../unit-kind.js";
import type { ScreeningCandidate } from "./search-results.js";

/** The result of one of several agents that screen the same records independently. */
export interface ReaderResult {
  readonly role: Reading["role"];
  /** Name of the agent. */
  readonly by: string;
  readonly iteration: number;
  readonly result: DiscoveryResult;
  /** Its checked answers to the criteria; empty if they are missing. */
  readonly answers: AnswersById;
}

/** The merged results of the readers. */
export interface MergedReaders {
  readonly result: DiscoveryResult;
  readonly answers: AnswersById;
  /** The decision of each reader, by the id of the record. */
  readonly readings: ReadonlyMap<string, readonly Reading[]>;
  /** Records that wait for the user. */
  readonly waiting: ReadonlySet<string>;
  readonly candidates: readonly ScreeningCandidate[];
  readonly conflicts: number;
}

type Entry = Pick<DiscoveryResult["papers"][number], "reason" | "criteria"> & { readonly priority?: number };

/** A reader's entry for a candidate, and whether the reader kept it. */
function entryOf(
  { result }: ReaderResult,
  id: string,
): { readonly entry: Entry; readonly isKept: boolean } | undefined {
  const { kept = [], papers, dropped = [] } = result;
  const keptEntry = [...kept, ...papers].find((entry) => entry.id === id);
  if (keptEntry !== undefined) return { entry: { ...keptEntry, reason: keptEntry.reason ?? "" }, isKept: true };
  const droppedEntry = dropped.find((entry) => entry.id === id);
  return droppedEntry === undefined ? undefined : { entry: droppedEntry, isKept: false };
}

/**
 * A reader's decision on a candidate; undefined if the reader did not mention it. If there are criteria, the answers
 * decide: a record that no criterion excludes is read.
 */
function decisionBy(criteria: readonly Criterion[], reader: ReaderResult, id: string): Reading | undefined {
  const found = entryOf(reader, id);
  if (found === undefined) return undefined;
  const { role, by, iteration } = reader;
  const { excludedBy } = eligibilityOf(criteria, reader.answers.get(id) ?? []);
  const isExcluded = criteria.length === 0 ? !found.isKept : excludedBy !== undefined;
  const reason = excludedBy === undefined ? found.entry.reason : criterionText(excludedBy);
  return { role, by, decision: isExcluded ? "exclude" : "include", ...(reason === "" ? {} : { reason }), iteration };
}

/** The candidates on which the first two readers disagree. */
export function conflictsBetween(
  rrd: Rrd,
  candidates: readonly ScreeningCandidate[],
  [first, second]: readonly [ReaderResult, ReaderResult],
): readonly ScreeningCandidate[] {
  const criteria = criteriaOf(rrd);
  return candidates.filter(({ id }) => {
    const [firstDecision, secondDecision] = [decisionBy(criteria, first, id), decisionBy(criteria, second, id)];
    return (
      firstDecision !== undefined && secondDecision !== undefined && firstDecision.decision !== secondDecision.decision
    );
  });
}

/**
 * Merges the results of two or three readers. A record that one of them did not mention waits for a later batch. Papers
 * that a reader found itself, in sources that code can't search, need no second decision.
 */
export function mergeReaders(
  rrd: Rrd,
  unit: string,
  candidates: readonly ScreeningCandidate[],
  readers: readonly ReaderResult[],
  conflictRule: ConflictRule,
): MergedReaders {
  const criteria = criteriaOf(rrd);
  const kept: NonNullable<DiscoveryResult["kept"]> = [];
  const dropped: NonNullable<DiscoveryResult["dropped"]> = [];
  const answers = new Map<string, readonly Answer[]>();
  const readings = new Map<string, readonly Reading[]>();
  const waiting = new Set<string>();
  let conflicts = 0;
  for (const { id } of candidates) {
    const decisions = readers.flatMap((reader) => decisionBy(criteria, reader, id) ?? []);
    const [first, second, third] = ["reader-1", "reader-2", "reader-3"].map((role) =>
      decisions.find((one) => one.role === role),
    );
    if (first === undefined || second === undefined) continue;
    const isConflict = first.decision !== second.decision;
    if (isConflict) conflicts += 1;
    // If the third reader does not mention the record, it is included and judged later from its text.
    const decision = isConflict ? (third?.decision ?? "include") : first.decision;
    const waitsForUser = isConflict && third === undefined && conflictRule === "person";
    if (waitsForUser) waiting.add(id);
    readings.set(id, decisions);
    const agreeing = decisions.filter((one) => one.decision === decision);
    const agreeingReaders = readers.filter(({ role }) => agreeing.some((one) => one.role === role));
    const entries = agreeingReaders.flatMap((reader) => entryOf(reader, id) ?? []);
    const best = entries.find(({ isKept }) => isKept === (decision === "include")) ?? entries[0];
    const criteriaField = best?.entry.criteria === undefined ? {} : { criteria: best.entry.criteria };
    if (criteria.length > 0) answers.set(id, mergedAnswers(criteria, agreeingReaders, readers, id));
    if (decision === "exclude") {
      dropped.push({ id, reason: (agreeing[0]?.reason ?? "").slice(0, 300), ...criteriaField });
      continue;
    }
    const priorities = entries.flatMap(({ entry, isKept }) => (isKept ? (entry.priority ?? []) : []));
    const isDropped = entries.every(({ isKept }) => !isKept);
    const priority = isDropped ? 1 : priorities.length === 0 ? undefined : Math.max(...priorities);
    const reason = isConflict ? `The readers disagree: ${readingsText(decisions)}` : (best?.entry.reason ?? "");
    kept.push({ id, ...withoutUndefined({ priority }), reason: reason.slice(0, 500), ...criteriaField });
  }
  const results = readers.map(({ result }) => result);
  const offered = new Set(candidates.map(({ id }) => id));
  const papers = results.flatMap((result) => result.papers.filter(({ id }) => id === undefined || !offered.has(id)));
  const addresses = results.flatMap(({ visited_urls = [] }) => visited_urls);
  const patterns = results.flatMap((result) => result.patterns ?? []).slice(0, 3);
  const result = {
    unit,
    kept,
    papers,
    dropped,
    sources: sourcesOf(results),
    ...(addresses.length === 0 ? {} : { visited_urls: [...new Set(addresses)] }),
    ...(patterns.length === 0 ? {} : { patterns }),
  };
  return { result, answers, readings, waiting, candidates, conflicts };
}

/**
 * One answer to each criterion, from the readers who decided. If the readers differ, it is "unclear", so that the
 * paper's text decides, except for the answer that excludes the record.
 */
function mergedAnswers(
  criteria: readonly Criterion[],
  deciding: readonly ReaderResult[],
  readers: readonly ReaderResult[],
  id: string,
): readonly Answer[] {
  const answerOf = (reader: ReaderResult, criterion: string) =>
    reader.answers.get(id)?.find((answer) => answer.criterion === criterion);
  const firstAnswers = deciding[0]?.answers.get(id) ?? [];
  if (eligibilityOf(criteria, firstAnswers).excludedBy !== undefined) return firstAnswers;
  return criteria.flatMap(({ id: criterion }) => {
    const answer = deciding.map((reader) => answerOf(reader, criterion)).find((one) => one !== undefined);
    if (answer === undefined) return [];
    const differs = readers.some((reader) => (answerOf(reader, criterion)?.answer ?? answer.answer) !== answer.answer);
    return differs
      ? [{ criterion, stage: "screening" as const, answer: "unclear" as const, reason: "The readers disagree." }]
      : [answer];
  });
}

/** Each source once. The report of a reader that could search it is preferred. */
function sourcesOf(results: readonly DiscoveryResult[]): DiscoveryResult["sources"] {
  const all = results.flatMap(({ sources }) => sources);
  const names = [...new Set(all.map(({ name }) => name))];
  return names.flatMap((name) => {
    const reports = all.filter((source) => source.name === name);
    return reports.find(({ status }) => status === "ok") ?? reports[0] ?? [];
  });
}

/**
 * The role of the reader that screens next: the first that has not screened yet. The third only screens if the first
 * two disagree.
 */
export const nextReader = (notes: readonly AgentNotes[]): string =>
  readerRoles.find((readerRole) => !notes.some(({ role }) => role === readerRole)) ?? "reader-3";

/** The notes of a reader. */
export interface ScreeningNotes {
  readonly result: DiscoveryResult;
  /** The records that all readers judge. */
  readonly candidates: readonly ScreeningCandidate[];
  /** Only of the second reader: the ids of the records on which the two disagree. */
  readonly conflicts?: readonly string[];
}

/** The notes of the unit's readers so far. */
export const screeningNotesOf = (
  state: ResearchState,
  unit: Pick<Unit, "id">,
): readonly (AgentNotes & { readonly value: ScreeningNotes })[] =>
  notesOf(state, unit).flatMap((notes) =>
    isReader(notes) ? [{ ...notes, value: notes.value as ScreeningNotes }] : [],
  );

/** The candidates for a further reader: those of the first reader; for the third, those on which the two disagree. */
export function candidatesFor(state: ResearchState, unit: Unit): readonly ScreeningCandidate[] | undefined {
  const [first, second] = screeningNotesOf(state, unit);
  if (first === undefined) return undefined;
  const { candidates } = first.value;
  if (second === undefined) return candidates;
  const conflictIds = new Set(second.value.conflicts);
  return candidates.filter(({ id }) => conflictIds.has(id));
}
