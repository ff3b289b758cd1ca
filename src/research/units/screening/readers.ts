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

/** What one of several agents that screen the same records left; each judged alone. */
export interface Screened {
  readonly role: Reading["role"];
  /** Name of the agent. */
  readonly by: string;
  readonly iteration: number;
  readonly result: DiscoveryResult;
  /** Its answers to the criteria, checked; empty where they are missing. */
  readonly answers: AnswersById;
}

/** What the readers' results come to as one, for the pool. */
export interface Combined {
  readonly result: DiscoveryResult;
  readonly answers: AnswersById;
  /** What each of them decided, by the id of the record. */
  readonly readings: ReadonlyMap<string, readonly Reading[]>;
  /** Records that wait for a person. */
  readonly waiting: ReadonlySet<string>;
  readonly candidates: readonly ScreeningCandidate[];
  readonly conflicts: number;
}

type Entry = Pick<DiscoveryResult["papers"][number], "reason" | "criteria"> & { readonly priority?: number };

/** What a reader said of a candidate, and in which list. */
function entryOf({ result }: Screened, id: string): { readonly entry: Entry; readonly isKept: boolean } | undefined {
  const { kept = [], papers, dropped = [] } = result;
  const keeps = [...kept, ...papers].find((one) => one.id === id);
  if (keeps !== undefined) return { entry: { ...keeps, reason: keeps.reason ?? "" }, isKept: true };
  const drops = dropped.find((one) => one.id === id);
  return drops === undefined ? undefined : { entry: drops, isKept: false };
}

/**
 * What a reader decided on a candidate; undefined where it said nothing of it. Where there are criteria, the answers
 * decide: what none of them excludes goes on to full text.
 */
function readingOf(criteria: readonly Criterion[], reader: Screened, id: string): Reading | undefined {
  const said = entryOf(reader, id);
  if (said === undefined) return undefined;
  const { role, by, iteration } = reader;
  const { excludedBy } = eligibilityOf(criteria, reader.answers.get(id) ?? []);
  const isExcluded = criteria.length === 0 ? !said.isKept : excludedBy !== undefined;
  const reason = excludedBy === undefined ? said.entry.reason : criterionText(excludedBy);
  return { role, by, decision: isExcluded ? "exclude" : "include", ...(reason === "" ? {} : { reason }), iteration };
}

/** The candidates on which the first two readers disagree. */
export function conflictsBetween(
  rrd: Rrd,
  candidates: readonly ScreeningCandidate[],
  [first, second]: readonly [Screened, Screened],
): readonly ScreeningCandidate[] {
  const criteria = criteriaOf(rrd);
  return candidates.filter(({ id }) => {
    const [one, other] = [readingOf(criteria, first, id), readingOf(criteria, second, id)];
    return one !== undefined && other !== undefined && one.decision !== other.decision;
  });
}

/**
 * The results of two or three readers as one. A record of which one of them said nothing waits for a later batch. What
 * a reader found itself, in sources that code can't search, is judged by it alone.
 */
export function combined(
  rrd: Rrd,
  unit: string,
  candidates: readonly ScreeningCandidate[],
  readers: readonly Screened[],
  rule: ConflictRule,
): Combined {
  const criteria = criteriaOf(rrd);
  const kept: NonNullable<DiscoveryResult["kept"]> = [];
  const dropped: NonNullable<DiscoveryResult["dropped"]> = [];
  const answers = new Map<string, readonly Answer[]>();
  const readings = new Map<string, readonly Reading[]>();
  const waiting = new Set<string>();
  let conflicts = 0;
  for (const { id } of candidates) {
    const all = readers.flatMap((reader) => readingOf(criteria, reader, id) ?? []);
    const [first, second, third] = ["reader-1", "reader-2", "reader-3"].map((role) =>
      all.find((one) => one.role === role),
    );
    if (first === undefined || second === undefined) continue;
    const isConflict = first.decision !== second.decision;
    if (isConflict) conflicts += 1;
    // A third reader that says nothing of it leaves it in, where it can still be judged from its text.
    const decision = isConflict ? (third?.decision ?? "include") : first.decision;
    const isOpen = isConflict && third === undefined && rule === "person";
    if (isOpen) waiting.add(id);
    readings.set(id, all);
    const deciding = all.filter((one) => one.decision === decision);
    const by = readers.filter(({ role }) => deciding.some((one) => one.role === role));
    const entries = by.flatMap((reader) => entryOf(reader, id) ?? []);
    const said = entries.find(({ isKept }) => isKept === (decision === "include")) ?? entries[0];
    const shown = said?.entry.criteria === undefined ? {} : { criteria: said.entry.criteria };
    if (criteria.length > 0) answers.set(id, mergedAnswers(criteria, by, readers, id));
    if (decision === "exclude") {
      dropped.push({ id, reason: (deciding[0]?.reason ?? "").slice(0, 300), ...shown });
      continue;
    }
    const stated = entries.flatMap(({ entry, isKept }) => (isKept ? (entry.priority ?? []) : []));
    const isDropped = entries.every(({ isKept }) => !isKept);
    const priority = isDropped ? 1 : stated.length === 0 ? undefined : Math.max(...stated);
    const reason = isConflict ? `The readers disagree: ${readingsText(all)}` : (said?.entry.reason ?? "");
    kept.push({ id, ...withoutUndefined({ priority }), reason: reason.slice(0, 500), ...shown });
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
 * One answer to each criterion: that of the readers who decided; where it differs from one to the other it is unclear,
 * so that the paper's text settles it, unless it is what excludes the record.
 */
function mergedAnswers(
  criteria: readonly Criterion[],
  deciding: readonly Screened[],
  readers: readonly Screened[],
  id: string,
): readonly Answer[] {
  const of = (reader: Screened, criterion: string) =>
    reader.answers.get(id)?.find((answer) => answer.criterion === criterion);
  const own = deciding[0]?.answers.get(id) ?? [];
  if (eligibilityOf(criteria, own).excludedBy !== undefined) return own;
  return criteria.flatMap(({ id: criterion }) => {
    const answer = deciding.map((reader) => of(reader, criterion)).find((one) => one !== undefined);
    if (answer === undefined) return [];
    const differs = readers.some((reader) => (of(reader, criterion)?.answer ?? answer.answer) !== answer.answer);
    return differs
      ? [{ criterion, stage: "screening" as const, answer: "unclear" as const, reason: "The readers disagree." }]
      : [answer];
  });
}

/** Each source once: a reader that could search it knows more of it than one that could not. */
function sourcesOf(results: readonly DiscoveryResult[]): DiscoveryResult["sources"] {
  const all = results.flatMap(({ sources }) => sources);
  const names = [...new Set(all.map(({ name }) => name))];
  return names.flatMap((name) => {
    const its = all.filter((source) => source.name === name);
    return its.find(({ status }) => status === "ok") ?? its[0] ?? [];
  });
}

/** Who screens next: the first that has not yet; a third one only where the first two disagreed. */
export const nextReader = (notes: readonly AgentNotes[]): string =>
  readerRoles.find((wanted) => !notes.some(({ role }) => role === wanted)) ?? "reader-3";

/** What a reader left. */
export interface NotedScreening {
  readonly result: DiscoveryResult;
  /** The records that all readers judge. */
  readonly candidates: readonly ScreeningCandidate[];
  /** Of the second reader: the ids of those on which the two disagree. */
  readonly conflicts?: readonly string[];
}

/** What the readers of the unit left so far. */
export const screeningsOf = (
  state: ResearchState,
  unit: Pick<Unit, "id">,
): readonly (AgentNotes & { readonly value: NotedScreening })[] =>
  notesOf(state, unit).flatMap((notes) =>
    isReader(notes) ? [{ ...notes, value: notes.value as NotedScreening }] : [],
  );

/** What a further reader is to judge: what the first one did, and of that a third one what the two disagree on. */
export function candidatesFor(state: ResearchState, unit: Unit): readonly ScreeningCandidate[] | undefined {
  const [first, second] = screeningsOf(state, unit);
  if (first === undefined) return undefined;
  const { candidates } = first.value;
  if (second === undefined) return candidates;
  const disagreed = new Set(second.value.conflicts);
  return candidates.filter(({ id }) => disagreed.has(id));
}
