import { createHash } from "node:crypto";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { Paper, Refusal, Rrd } from "../generated/rrd.js";
import type { Progress, Unit } from "../../engine/loop/types.js";
import type { Noted } from "../../engine/storage/noted.js";
import { openUpdate, papersToReadAgain } from "./open-update.js";
import { isDecided } from "../papers/rubric/rubric.js";
import { isIneligible } from "../screening/eligibility/eligibility.js";
import { countingLines, currentAccepted } from "../../engine/storage/state/ledger.js";

/** What the workflow reads off the disk before each iteration. */
export interface ResearchState {
  readonly rrd: Rrd;
  readonly ledger: readonly LedgerLine[];
  readonly status: ProjectStatus;
  /** What agents left for the next one that shares their unit, by the unit; the oldest first. */
  readonly noted: ReadonlyMap<string, readonly Noted[]>;
}

/** A unit of a project. */
export interface ResearchUnit extends Unit {
  readonly kind: "discovery" | "paper" | "report" | "ideas";
}

/** Every kind of unit; in classic mode there is only that one. */
export type UnitKind = ResearchUnit["kind"] | "classic";

/** Where a project stands: what is done and what is left, read off the records. */
interface ProjectStatus {
  readonly discoveryOver: boolean;
  /** Papers to read, the highest priority first, then in the order of their discovery. */
  readonly readable: readonly Paper[];
  /** Papers whose results were refused too often; a person has to look. */
  readonly refused: readonly Paper[];
  readonly reportDone: boolean;
  readonly ideasWanted: boolean;
  readonly ideasDone: boolean;
  readonly phase: Rrd["phase"];
}

/** After so many refusals a unit is given up until a person resets it. */
export const maxRefusals = 3;
const minEmptyBatches = 2;
/** A source that no agent ever mentions must not keep discovery going forever. */
const maxEmptyBatches = 5;

const defaultTarget = 20;
/** How many ideas are asked for where the file does not say. */
export const defaultMinIdeas = 3;
export const defaultMaxIdeas = 12;
export const targetOf = (rrd: Rrd): number => rrd.requirements.target_papers ?? defaultTarget;

/** How many papers the pool may hold: in an update everything that belongs is taken. */
export const mostOf = (rrd: Rrd): number => (openUpdate(rrd) === undefined ? targetOf(rrd) : Infinity);

/** How many papers a batch may bring: at least one, and in an update all `offered` ones. */
export const neededOf = (rrd: Rrd, offered: number): number =>
  Math.max(openUpdate(rrd) === undefined ? targetOf(rrd) - rrd.papers_pool.length : offered, 1);

/**
 * Derived from the records and the ledger; a folder made by the original tool has no ledger, and its phase is then
 * believed.
 */
export function statusOf(rrd: Rrd, ledger: readonly LedgerLine[]): ProjectStatus {
  const pending = rrd.papers_pool.filter((paper) => !isDecided(paper));
  const isRefused = (paper: Paper) => (paper.refusals?.length ?? 0) >= maxRefusals;
  const again = papersToReadAgain(rrd).filter((paper) => isDecided(paper) && !isRefused(paper));
  const readable = [...pending.filter((paper) => !isRefused(paper)), ...again].sort(
    (a, b) => (b.priority ?? 3) - (a.priority ?? 3),
  );
  const refused = pending.filter(isRefused);

  const discoveryOver = rrd.phase !== "DISCOVERY" || isDiscoveryOver(rrd);
  const allRead = discoveryOver && pending.length + again.length === 0 && rrd.papers_pool.length > 0;
  // Asked only then: while papers are left to read, nothing depends on when which was accepted.
  const accepted = allRead ? currentAccepted(ledger) : new Map<string, number>();
  const lastPaper = allRead ? Math.max(0, ...rrd.papers_pool.map((paper) => accepted.get(paper.id) ?? 0)) : 0;
  const phaseSays = (...phases: Rrd["phase"][]) => lastPaper === 0 && phases.includes(rrd.phase);
  const isOpen = openUpdate(rrd) !== undefined;
  const reportDone =
    allRead && !isOpen && ((accepted.get("report") ?? 0) > lastPaper || phaseSays("IDEATION", "COMPLETE"));
  // Nobody may build on a retracted paper, or on one that is not eligible.
  const ideasWanted =
    rrd.handoff?.product_ideation?.enabled === true &&
    !(allRead && rrd.papers_pool.every((paper) => paper.retracted || isIneligible(paper)));
  const ideasDone =
    reportDone &&
    (!ideasWanted || (accepted.get("ideas") ?? 0) > ideasDueAfter(rrd, accepted) || phaseSays("COMPLETE"));

  const phase = !discoveryOver ? "DISCOVERY" : !reportDone ? "ANALYSIS" : !ideasDone ? "IDEATION" : "COMPLETE";
  return { discoveryOver, readable, refused, reportDone, ideasWanted, ideasDone, phase };
}

/** An update writes the report again; that makes no new ideas due. */
const ideasDueAfter = ({ updates = [] }: Rrd, accepted: ReadonlyMap<string, number>): number =>
  updates.length > 0 ? 0 : (accepted.get("report") ?? 0);

/** Whether the project is complete once this unit is accepted. */
export const isLastUnit = ({ status }: ResearchState, { kind }: ResearchUnit): boolean =>
  kind === "ideas" || (kind === "report" && !status.ideasWanted && status.refused.length === 0);

function isDiscoveryOver(rrd: Rrd): boolean {
  // The end of an update is its window asked, however many papers were wanted.
  if (openUpdate(rrd) !== undefined)
    return (
      rrd.statistics?.discovery_metrics?.exhausted !== undefined ||
      (rrd.statistics?.discovery_metrics?.batches_without_new ?? 0) >= maxEmptyBatches
    );
  if (rrd.papers_pool.length >= targetOf(rrd)) return true;
  const without = batchesWithoutNew(rrd);
  if (rrd.statistics?.discovery_metrics?.exhausted !== undefined && !isAnotherSearch(rrd)) return true;
  // Where a recall is asked for, batches that bring nothing are what the stopping rule waits for.
  const unscreened = rrd.statistics?.discovery_metrics?.flow?.not_screened ?? 0;
  if (rrd.requirements.screening !== undefined && unscreened > 0 && !isAnotherSearch(rrd)) return false;
  return without >= maxEmptyBatches || (without >= minEmptyBatches && untriedSources(rrd).length === 0);
}

/** How many of the last batches in a row brought no new paper for what is searched for now. */
export const batchesWithoutNew = (rrd: Rrd): number =>
  isAnotherSearch(rrd) ? 0 : (rrd.statistics?.discovery_metrics?.batches_without_new ?? 0);

/**
 * Whether something else is searched for than in the last batch; files from before that was noted say nothing of it.
 */
function isAnotherSearch(rrd: Rrd): boolean {
  const last = rrd.statistics?.discovery_metrics?.searched_for;
  return last !== undefined && last !== searchOf(rrd) && last !== hashOf(searchedFor(rrd));
}

/** Stands for what is searched for: target, sources, keywords, the field, and how far back. */
export function searchOf(rrd: Rrd): string {
  const { focus_area = null, time_window_days = null, historical_lookback_days = null } = rrd.requirements;
  const dates = [rrd.requirements.published_from, rrd.requirements.published_until].filter((date) => date != null);
  return hashOf([...searchedFor(rrd), focus_area, time_window_days, historical_lookback_days, ...dates]);
}

/** All that earlier versions noted, so their finished searches still count as made. */
function searchedFor(rrd: Rrd): unknown[] {
  const { sources = [], keywords = [] } = rrd.requirements;
  return [targetOf(rrd), sources, keywords];
}

const hashOf = (values: readonly unknown[]): string =>
  createHash("sha256").update(JSON.stringify(values)).digest("hex").slice(0, 16);

/** Requested sources that no accepted batch has reported on yet. */
export function untriedSources(rrd: Rrd): string[] {
  const tried = new Set((rrd.statistics?.discovery_metrics?.sources_tried ?? []).map((name) => name.toLowerCase()));
  return (rrd.requirements.sources ?? []).filter((name) => !tried.has(name.toLowerCase()));
}

/** Refusals of a unit that is not a paper, since it was last accepted. */
export function unitRefusals(rrd: Rrd, ledger: readonly LedgerLine[], unit: string): readonly Refusal[] {
  const since = currentAccepted(ledger).get(unit) ?? 0;
  return (rrd.refusals ?? []).filter((refusal) => refusal.unit === unit && refusal.iteration > since);
}

/** The refusals of a unit since it was last accepted, the oldest first. */
export const refusalsOf = ({ rrd, ledger }: ResearchState, unit: ResearchUnit): readonly Refusal[] =>
  unit.kind === "paper" ? (paperOf(rrd, unit.id)?.refusals ?? []) : unitRefusals(rrd, ledger, unit.id);

export const paperOf = (rrd: Rrd, id: string): Paper | undefined => rrd.papers_pool.find((paper) => paper.id === id);

/** A unit's brief is not made smaller more often than that: less would be worth no reading. */
const maxSmaller = 4;

/**
 * How often a unit filled a model's context too far since it was last accepted or reset, in this run or an earlier one.
 */
export function timesTooFull(ledger: readonly LedgerLine[], unit: string): number {
  const mine = countingLines(ledger).filter((line) => line.unit === unit);
  const since = mine.slice(mine.findLastIndex(({ outcome }) => outcome === "accepted" || outcome === "reset") + 1);
  return Math.min(maxSmaller, since.filter(({ failure }) => failure === "context").length);
}

/** Iterations that were refused and whose unit has not been accepted since. */
export function openRefusals(ledger: readonly LedgerLine[]): ReadonlySet<number> {
  const accepted = currentAccepted(ledger);
  const open = ledger.filter(
    ({ outcome, unit, iteration }) => outcome === "refused" && (accepted.get(unit) ?? 0) < iteration,
  );
  return new Set(open.map(({ iteration }) => iteration));
}

/** Papers with a decision, of those the project will hold. */
export function progressOf(rrd: Rrd): Progress {
  const done = rrd.papers_pool.filter(isDecided).length;
  const total = rrd.phase === "DISCOVERY" ? Math.max(targetOf(rrd), rrd.papers_pool.length) : rrd.papers_pool.length;
  if (done === 0) return { done, total };
  const count = (wanted: Paper["status"]) => rrd.papers_pool.filter(({ status }) => status === wanted).length;
  const [presented, for_insights, rejected] = [count("presented"), count("insights_extracted"), count("rejected")];
  const waiting_for_you = count("waiting");
  const counts = { presented, for_insights, rejected, ...(waiting_for_you === 0 ? {} : { waiting_for_you }) };
  return { done, total, counts };
}
