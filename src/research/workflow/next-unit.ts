import { type Delay, type Delayed, isVerdict, type Unit, type Verdict } from "../../engine/loop/types.js";
import { nextThinkingPart } from "../../engine/loop/think.js";
import { quantity } from "../../engine/lib/words.js";
import { openLines } from "../../engine/storage/agent-notes.js";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import { standingOf, targetOf } from "../derived/status.js";
import type { Rrd } from "../generated/rrd.js";
import { isWaiting, stageOfRejection } from "../screening/eligibility/eligibility.js";
import { isUserSource } from "../papers/records/own-list.js";
import { isWanted, kindOf, kinds } from "../units/kinds.js";
import { refusedPapersVerdict, reading } from "../units/reading/kind.js";
import { isThinkingNote, notesOf } from "../units/shared-unit.js";
import type { ProjectStatus, ResearchState, Sharing } from "../units/unit-kind.js";

/**
 * The status of a project, derived from the records and the ledger: the kinds of units that are done, and the phase of
 * the first open kind. A folder of the original tool has no ledger; then the phase in its file counts.
 */
export function statusOf(rrd: Rrd, ledger: readonly LedgerLine[]): ProjectStatus {
  const standing = standingOf(rrd, ledger);
  const project = { rrd, ledger, status: standing };
  const openIndex = kinds.findIndex((kind) => isWanted(kind, project) && !kind.isDone(project));
  const done = kinds.slice(0, openIndex === -1 ? kinds.length : openIndex).map(({ name }) => name);
  return {
    ...standing,
    done,
    phase: kinds[openIndex]?.phase ?? (standing.refusedPapers.length > 0 ? "ANALYSIS" : "COMPLETE"),
  };
}

/**
 * The next unit of the first kind (`units/kinds.ts`) that is not done, or the verdict. While the search waits for a
 * busy source, found papers are read. Pure. `busy`: running units. `later`: units that can't be prepared now. `folder`:
 * the folder of the project, for messages.
 */
export function nextUnit(
  state: ResearchState,
  busy: readonly Unit[],
  later: readonly Delayed[],
  folder: string,
): Unit | "wait" | Delay | Verdict {
  const kind = kinds[state.status.done.length];
  if (kind !== undefined) {
    const choiceContext = { unitsInProgress: new Set(busy.map(({ id }) => id)), delayedUnits: later, folder };
    const nextOfKind = kind.next(state, choiceContext);
    if (nextOfKind === "wait" || !("until" in nextOfKind) || state.status.readablePapers.length === 0)
      return nextOfKind;
    const readingUnit = reading.next(state, choiceContext);
    return readingUnit !== "wait" && isVerdict(readingUnit) ? nextOfKind : readingUnit;
  }
  // The report is written nevertheless, and names these papers.
  if (state.status.refusedPapers.length > 0) return refusedPapersVerdict(state.status.refusedPapers, folder);
  const products = kinds.flatMap((candidate) => (isWanted(candidate, state) ? (candidate.product ?? []) : []));
  const lastProduct = products.pop();
  return {
    verdict: "complete",
    reason: `${readingsText(state.rrd)}${products.map((product) => `, ${product}`).join("")} and ${lastProduct} ${products.length === 0 ? "is" : "are"} written${fewerText(state.rrd)}${waitingText(state.rrd)}.`,
  };
}

/** A clause if the search found fewer papers than the user wanted; otherwise empty. */
function fewerText(rrd: Rrd): string {
  const [found, wanted] = [rrd.papers_pool.length, targetOf(rrd)];
  return found >= wanted || rrd.requirements.sources?.every(isUserSource) === true
    ? ""
    : `; ${wanted} papers were wanted, and the search found no more`;
}

/** A clause about the papers that wait for a person; empty without such papers. */
function waitingText({ papers_pool: pool }: Rrd): string {
  const { length } = pool.filter(isWaiting);
  return length === 0
    ? ""
    : `; ${quantity(length, "paper")} ${length === 1 ? "waits" : "wait"} for a person's decision`;
}

/** The beginning of a sentence: how many papers are read, retracted, not retrieved, or excluded unread by the user. */
export function readingsText({ papers_pool: pool }: Pick<Rrd, "papers_pool">): string {
  const { length } = pool;
  const missing = pool.filter(({ status }) => status === "not_retrieved").length;
  const retracted = pool.filter(
    (paper) => paper.retracted === true && (paper.analysis ?? undefined) === undefined,
  ).length;
  const unread = pool.filter((paper) => paper.retracted !== true && stageOfRejection(paper) === "screening").length;
  const readCount = length - missing - retracted - unread;
  const verb = (value: number) => (value === 1 ? "is" : "are");
  if (readCount < length)
    return [
      `${readCount} of ${quantity(length, "paper")} ${verb(readCount)} read`,
      ...(retracted === 0 ? [] : [`${retracted} ${verb(retracted)} retracted`]),
      ...(missing === 0 ? [] : [`${missing} could not be retrieved`]),
      ...(unread === 0 ? [] : [`${unread} ${verb(unread)} excluded by a person without a reading`]),
    ].join(", ");
  return length === 1 ? "The one paper is read" : `All ${length} papers are read`;
}

/** The sharing without the checker that is next at this unit; undefined if there is no second checker. Pure. */
export function withoutChecker(unit: Unit, state: ResearchState, sharing: Sharing): Sharing | undefined {
  const { checkers = [] } = sharing;
  const { role } = withPart(unit, state, sharing);
  const otherCheckers = checkers.filter((checker) => checker !== role);
  return otherCheckers.length === 0 || otherCheckers.length === checkers.length
    ? undefined
    : { ...sharing, checkers: otherCheckers };
}

/** The unit, with its next part if several agents do it. Pure. */
export function withPart(unit: Unit, state: ResearchState, sharing: Sharing): Unit {
  if (unit.role !== undefined) return unit;
  const notes = notesOf(state, unit);
  const part =
    kindOf(unit).nextPart?.(notes, sharing) ??
    (sharing.think &&
      nextThinkingPart(openLines(state.ledger, unit.id), notes.filter(isThinkingNote), sharing.think.rounds));
  return part === undefined ? unit : { ...unit, ...part };
}
