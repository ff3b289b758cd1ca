import { createHash } from "node:crypto";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { Paper, Refusal, Rrd } from "../generated/rrd.js";
import type { Progress, Unit } from "../../engine/loop/types.js";
import { openUpdate } from "./open-update.js";
import { readingOrder } from "./reading-order.js";
import { isOwnList } from "../papers/records/own-list.js";
import { isDecided } from "../papers/rubric/rubric.js";
import { linesInForce, currentAccepted } from "../../engine/storage/state/ledger.js";

/** Where the papers of a project stand, read off the records. */
export interface Standing {
  readonly discoveryOver: boolean;
  /** Papers to read, the highest priority first, then in the order of their discovery. */
  readonly readable: readonly Paper[];
  /** Papers whose results were refused too often; a person has to look. */
  readonly refused: readonly Paper[];
  /** There are papers, and none of them is left to read. */
  readonly allRead: boolean;
  /** Iterations by the unit that was last accepted in them. Empty while papers are left to read. */
  readonly accepted: ReadonlyMap<string, number>;
}

/** After so many refusals a unit is given up until a person resets it. */
export const maxRefusals = 3;
const minEmptyBatches = 2;
/** A source that no agent ever mentions must not keep discovery going forever. */
const maxEmptyBatches = 5;

const defaultTarget = 20;

/** How many ideas are asked for; 3 to 12 where the file does not say. */
export function wantedIdeas({ handoff }: Pick<Rrd, "handoff">): { readonly fewest: number; readonly most: number } {
  const { min_ideas: fewest = 3, max_ideas: most = 12 } = handoff?.product_ideation ?? {};
  return { fewest, most };
}

export const targetOf = (rrd: Rrd): number => rrd.requirements.target_papers ?? defaultTarget;

/**
 * How many papers the pool will hold, as far as can be told: those that are wanted; of records that a person brought
 * alone, no more than the share of them that was kept so far.
 */
export function expectedPapers(rrd: Rrd): number {
  const [target, pool, left] = [targetOf(rrd), rrd.papers_pool.length, broughtLeft(rrd)];
  if (left === undefined) return Math.max(target, pool);
  return Math.max(pool, Math.min(target, pool + Math.ceil(left.records * (Math.max(pool, 1) / left.screened))));
}

/**
 * Records that wait to be screened, where a person brought all that there are, with how many were screened; undefined
 * before the first of them was, and for other searches, which may bring more.
 */
export function broughtLeft(rrd: Rrd): { readonly records: number; readonly screened: number } | undefined {
  const { screened = 0, not_screened: records = 0 } = rrd.statistics?.discovery_metrics?.flow ?? {};
  const { sources = [] } = rrd.requirements;
  const isAllBrought = sources.length > 0 && sources.every(isOwnList);
  return isAllBrought && screened > 0 && !isAnotherSearch(rrd) ? { records, screened } : undefined;
}

/** How many papers the pool may hold: in an update everything that belongs is taken. */
export const mostOf = (rrd: Rrd): number => (openUpdate(rrd) === undefined ? targetOf(rrd) : Infinity);

/** How many papers a batch may bring: at least one, and in an update all `offered` ones. */
export const neededOf = (rrd: Rrd, offered: number): number =>
  Math.max(openUpdate(rrd) === undefined ? targetOf(rrd) - rrd.papers_pool.length : offered, 1);

/** Derived from the records and the ledger. */
export function standingOf(rrd: Rrd, ledger: readonly LedgerLine[]): Standing {
  const { readable, refused } = readingOrder(rrd, maxRefusals);
  const discoveryOver = rrd.phase !== "DISCOVERY" || isDiscoveryOver(rrd);
  const allRead = discoveryOver && readable.length === 0 && rrd.papers_pool.some(isDecided);
  // Asked only then: while papers are left to read, nothing depends on when which was accepted.
  const accepted = allRead ? currentAccepted(ledger) : new Map<string, number>();
  return { discoveryOver, readable, refused, allRead, accepted };
}

/** The iteration that read the last paper; 0 where the ledger knows of none. */
export const lastReadOf = ({ papers_pool }: Rrd, { accepted }: Pick<Standing, "accepted">): number =>
  accepted.size === 0 ? 0 : Math.max(0, ...papers_pool.map(({ id }) => accepted.get(id) ?? 0));

/** Whether the file itself says one of these phases. A folder made by the original tool has no ledger. */
export const isSaidToBe = (rrd: Rrd, standing: Pick<Standing, "accepted">, phases: readonly Rrd["phase"][]): boolean =>
  phases.includes(rrd.phase) && lastReadOf(rrd, standing) === 0;

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
export function refusalsOf(
  { rrd, ledger }: { readonly rrd: Rrd; readonly ledger: readonly LedgerLine[] },
  { id }: Pick<Unit, "id">,
): readonly Refusal[] {
  const paper = paperOf(rrd, id);
  return paper === undefined ? unitRefusals(rrd, ledger, id) : (paper.refusals ?? []);
}

export const paperOf = (rrd: Rrd, id: string): Paper | undefined => rrd.papers_pool.find((paper) => paper.id === id);

/** A unit's brief is not made smaller more often than that: less would be worth no reading. */
const maxSmaller = 4;

/**
 * How often a unit filled a model's context too far since it was last accepted or reset, in this run or an earlier one.
 */
export function timesTooFull(ledger: readonly LedgerLine[], unit: string): number {
  const mine = linesInForce(ledger).filter((line) => line.unit === unit);
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
  const total = rrd.phase === "DISCOVERY" ? expectedPapers(rrd) : rrd.papers_pool.length;
  if (done === 0) return { done, total };
  const count = (wanted: Paper["status"]) => rrd.papers_pool.filter(({ status }) => status === wanted).length;
  const [presented, kept_for_insights, rejected] = [count("presented"), count("insights_extracted"), count("rejected")];
  const more = { waiting_for_you: count("waiting"), not_retrieved: count("not_retrieved") };
  const held = Object.fromEntries(Object.entries(more).filter(([, number]) => number > 0));
  const counts = { presented, kept_for_insights, rejected, ...held };
  return { done, total, counts };
}
