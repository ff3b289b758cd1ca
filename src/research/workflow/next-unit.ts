import { type Delay, type Delayed, isVerdict, type Unit, type Verdict } from "../../engine/loop/types.js";
import { nextThinkingPart } from "../../engine/loop/think.js";
import { many } from "../../engine/lib/words.js";
import { openLines } from "../../engine/storage/agent-notes.js";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import { standingOf } from "../derived/status.js";
import type { Rrd } from "../generated/rrd.js";
import { stageOfRejection } from "../screening/eligibility/eligibility.js";
import { isWanted, kindOf, kinds } from "../units/kinds.js";
import { onlyRefusedLeft, reading } from "../units/reading/kind.js";
import { isThought, notesOf } from "../units/shared-unit.js";
import type { ProjectStatus, ResearchState, Sharing } from "../units/unit-kind.js";

/**
 * Where a project stands, derived from the records and the ledger: which kinds of units are done, and the phase of the
 * first that is not. A folder made by the original tool has no ledger, and its phase is then believed.
 */
export function statusOf(rrd: Rrd, ledger: readonly LedgerLine[]): ProjectStatus {
  const standing = standingOf(rrd, ledger);
  const project = { rrd, ledger, status: standing };
  const open = kinds.findIndex((kind) => isWanted(kind, project) && !kind.isDone(project));
  const done = kinds.slice(0, open === -1 ? kinds.length : open).map(({ name }) => name);
  return { ...standing, done, phase: kinds[open]?.phase ?? (standing.refused.length > 0 ? "ANALYSIS" : "COMPLETE") };
}

/**
 * What to do next: the next unit of the first kind (`units/kinds.ts`) that is not done, or nothing more. Papers that
 * were found are read while the search waits for a busy source. Pure. `busy`: units under way. `later`: units that
 * can't be prepared for now. `folder`: whose, for advice.
 */
export function nextUnit(
  state: ResearchState,
  busy: readonly Unit[],
  later: readonly Delayed[],
  folder: string,
): Unit | "wait" | Delay | Verdict {
  const kind = kinds[state.status.done.length];
  if (kind !== undefined) {
    const choosing = { taken: new Set(busy.map(({ id }) => id)), later, folder };
    const next = kind.next(state, choosing);
    if (next === "wait" || !("until" in next) || state.status.readable.length === 0) return next;
    const meanwhile = reading.next(state, choosing);
    return meanwhile !== "wait" && isVerdict(meanwhile) ? next : meanwhile;
  }
  // The report stands all the same, and names them.
  if (state.status.refused.length > 0) return onlyRefusedLeft(state.status.refused, folder);
  const written = kinds.flatMap((each) => (isWanted(each, state) ? (each.product ?? []) : []));
  const last = written.pop();
  return {
    verdict: "complete",
    reason: `${allRead(state.rrd)}${written.map((product) => `, ${product}`).join("")} and ${last} ${written.length === 0 ? "is" : "are"} written.`,
  };
}

/** That each paper is read, retracted, not retrieved or excluded by its title, as the beginning of a sentence. */
export function allRead({ papers_pool: pool }: Pick<Rrd, "papers_pool">): string {
  const { length } = pool;
  const missing = pool.filter(({ status }) => status === "not_retrieved").length;
  const retracted = pool.filter(
    (paper) => paper.retracted === true && (paper.analysis ?? undefined) === undefined,
  ).length;
  const unread = pool.filter((paper) => paper.retracted !== true && stageOfRejection(paper) === "screening").length;
  const read = length - missing - retracted - unread;
  const are = (value: number) => (value === 1 ? "is" : "are");
  if (read < length)
    return [
      `${read} of ${many(length, "paper")} ${are(read)} read`,
      ...(retracted === 0 ? [] : [`${retracted} ${are(retracted)} retracted`]),
      ...(missing === 0 ? [] : [`${missing} could not be retrieved`]),
      ...(unread === 0 ? [] : [`${unread} ${are(unread)} excluded by a person without a reading`]),
    ].join(", ");
  return length === 1 ? "The one paper is read" : `All ${length} papers are read`;
}

/** The sharing less the one of two checkers that is next at this unit; undefined where it has no second one. Pure. */
export function withoutOne(unit: Unit, state: ResearchState, sharing: Sharing): Sharing | undefined {
  const { checkers = [] } = sharing;
  const { role } = withPart(unit, state, sharing);
  const others = checkers.filter((each) => each !== role);
  return others.length === 0 || others.length === checkers.length ? undefined : { ...sharing, checkers: others };
}

/** The unit, with the part of it that comes next where agents share it. Pure. */
export function withPart(unit: Unit, state: ResearchState, sharing: Sharing): Unit {
  if (unit.role !== undefined) return unit;
  const noted = notesOf(state, unit);
  const part =
    kindOf(unit).nextPart?.(noted, sharing) ??
    (sharing.think &&
      nextThinkingPart(openLines(state.ledger, unit.id), noted.filter(isThought), sharing.think.rounds));
  return part === undefined ? unit : { ...unit, ...part };
}
