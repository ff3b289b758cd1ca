import { createHash } from "node:crypto";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { Paper, Refusal, Rrd } from "../generated/rrd.js";
import type { Progress, Unit } from "../../engine/loop/types.js";
import { openUpdate, papersToReadAgain } from "./open-update.js";
import { isOwnList } from "../papers/records/own-list.js";
import { isDecided } from "../papers/rubric/rubric.js";
import { validLines, currentAccepted } from "../../engine/storage/state/ledger.js";

/** The state of a project's work, derived from its records. */
export interface Standing {
  readonly isDiscoveryOver: boolean;
  /** Papers to read, by priority, then in the order of discovery. */
  readonly readablePapers: readonly Paper[];
  /** Papers whose results were refused too often; the user must decide about them. */
  readonly refusedPapers: readonly Paper[];
  /** True if there are papers and all of them were read. */
  readonly isAllRead: boolean;
  /** For each unit, the iteration in which it was last accepted. Empty while there are papers to read. */
  readonly acceptedIterations: ReadonlyMap<string, number>;
}

/** The fields of a paper that waits to be read. */
export const undecidedFields = {
  status: "pending",
  score: null,
  score_breakdown: null,
  analysis: null,
  decision: null,
} as const;

/** After this many refusals a unit is given up until the user resets it. */
export const maxRefusals = 3;
const minEmptyBatches = 2;
/** Upper bound, for a source that no agent ever reports on. */
const maxEmptyBatches = 5;

const defaultTargetPapers = 20;

/** Minimum and maximum number of ideas; 3 and 12 if the file sets none. */
export function ideaRange({ handoff }: Pick<Rrd, "handoff">): { readonly min: number; readonly max: number } {
  const { min_ideas: min = 3, max_ideas: max = 12 } = handoff?.product_ideation ?? {};
  return { min, max };
}

export const targetOf = (rrd: Rrd): number => rrd.requirements.target_papers ?? defaultTargetPapers;

/**
 * The expected size of the pool: the target, or less if all records come from the user's lists and, at the present
 * rate, too few of them are kept.
 */
export function expectedPapers(rrd: Rrd): number {
  const [target, pool, unscreenedList] = [targetOf(rrd), rrd.papers_pool.length, unscreenedOwnRecords(rrd)];
  if (unscreenedList === undefined) return Math.max(target, pool);
  return Math.max(
    pool,
    Math.min(target, pool + Math.ceil(unscreenedList.records * (Math.max(pool, 1) / unscreenedList.screened))),
  );
}

/**
 * If all records come from the user's lists: the numbers of unscreened and screened records. Undefined before the first
 * record was screened, and for searches, which can find more records.
 */
export function unscreenedOwnRecords(rrd: Rrd): { readonly records: number; readonly screened: number } | undefined {
  const { screened = 0, not_screened: records = 0 } = rrd.statistics?.discovery_metrics?.flow ?? {};
  const { sources = [] } = rrd.requirements;
  const hasOnlyLists = sources.length > 0 && sources.every(isOwnList);
  return hasOnlyLists && screened > 0 && !isSearchChanged(rrd) ? { records, screened } : undefined;
}

/** The maximum size of the pool; unlimited in an update, which takes every eligible paper. */
export const maxPoolSize = (rrd: Rrd): number => (openUpdate(rrd) === undefined ? targetOf(rrd) : Infinity);

/** The maximum number of papers in a batch: at least one; in an update, all `offered` papers. */
export const maxBatchSize = (rrd: Rrd, offered: number): number =>
  Math.max(openUpdate(rrd) === undefined ? targetOf(rrd) - rrd.papers_pool.length : offered, 1);

/** Derives the standing from the records and the ledger. */
export function standingOf(rrd: Rrd, ledger: readonly LedgerLine[]): Standing {
  const { readablePapers, refusedPapers } = readingOrder(rrd, maxRefusals);
  const isDiscoveryOver = rrd.phase !== "DISCOVERY" || isSearchOver(rrd);
  const isAllRead = isDiscoveryOver && readablePapers.length === 0 && rrd.papers_pool.some(isDecided);
  // While there are papers to read, nothing needs these iterations.
  const acceptedIterations = isAllRead ? currentAccepted(ledger) : new Map<string, number>();
  return { isDiscoveryOver, readablePapers, refusedPapers, isAllRead, acceptedIterations };
}

/** The iteration that read the last paper; 0 if the ledger has no such iteration. */
export const lastReadIteration = (
  { papers_pool }: Rrd,
  { acceptedIterations }: Pick<Standing, "acceptedIterations">,
): number =>
  acceptedIterations.size === 0 ? 0 : Math.max(0, ...papers_pool.map(({ id }) => acceptedIterations.get(id) ?? 0));

/**
 * Whether the file states one of these phases and the ledger does not say otherwise. Projects of the original tool have
 * no ledger.
 */
export const isStatedPhase = (
  rrd: Rrd,
  standing: Pick<Standing, "acceptedIterations">,
  phases: readonly Rrd["phase"][],
): boolean => phases.includes(rrd.phase) && lastReadIteration(rrd, standing) === 0;

function isSearchOver(rrd: Rrd): boolean {
  // An update ends when its window was searched, whatever the target is.
  if (openUpdate(rrd) !== undefined)
    return (
      rrd.statistics?.discovery_metrics?.exhausted !== undefined ||
      (rrd.statistics?.discovery_metrics?.batches_without_new ?? 0) >= maxEmptyBatches
    );
  if (rrd.papers_pool.length >= targetOf(rrd)) return true;
  const emptyBatches = batchesWithoutNew(rrd);
  if (rrd.statistics?.discovery_metrics?.exhausted !== undefined && !isSearchChanged(rrd)) return true;
  // If a recall target is set, the stopping rule needs batches without new papers, so the search continues.
  const unscreened = rrd.statistics?.discovery_metrics?.flow?.not_screened ?? 0;
  if (rrd.requirements.screening !== undefined && unscreened > 0 && !isSearchChanged(rrd)) return false;
  return emptyBatches >= maxEmptyBatches || (emptyBatches >= minEmptyBatches && untriedSources(rrd).length === 0);
}

/** Number of the last batches in a row without a new paper for the current search. */
export const batchesWithoutNew = (rrd: Rrd): number =>
  isSearchChanged(rrd) ? 0 : (rrd.statistics?.discovery_metrics?.batches_without_new ?? 0);

/** Whether the search settings have changed since the last batch. False if an earlier version did not record them. */
function isSearchChanged(rrd: Rrd): boolean {
  const last = rrd.statistics?.discovery_metrics?.searched_for;
  return last !== undefined && last !== searchKey(rrd) && last !== hashOf(oldSearchValues(rrd));
}

/** Identifies what is searched for: target, sources, keywords, field and period. */
export function searchKey(rrd: Rrd): string {
  const { focus_area = null, time_window_days = null, historical_lookback_days = null } = rrd.requirements;
  const dates = [rrd.requirements.published_from, rrd.requirements.published_until].filter((date) => date != null);
  return hashOf([...oldSearchValues(rrd), focus_area, time_window_days, historical_lookback_days, ...dates]);
}

/** The values that earlier versions recorded, so that their finished searches stay finished. */
function oldSearchValues(rrd: Rrd): unknown[] {
  const { sources = [], keywords = [] } = rrd.requirements;
  return [targetOf(rrd), sources, keywords];
}

const hashOf = (values: readonly unknown[]): string =>
  createHash("sha256").update(JSON.stringify(values)).digest("hex").slice(0, 16);

/** Sources in the requirements that no accepted batch has reported on yet. */
export function untriedSources(rrd: Rrd): string[] {
  const triedSources = new Set(
    (rrd.statistics?.discovery_metrics?.sources_tried ?? []).map((name) => name.toLowerCase()),
  );
  return (rrd.requirements.sources ?? []).filter((name) => !triedSources.has(name.toLowerCase()));
}

/** Refusals of a unit that is not a paper, since the unit was last accepted. */
export function unitRefusals(rrd: Rrd, ledger: readonly LedgerLine[], unit: string): readonly Refusal[] {
  const lastAccepted = currentAccepted(ledger).get(unit) ?? 0;
  return (rrd.refusals ?? []).filter((refusal) => refusal.unit === unit && refusal.iteration > lastAccepted);
}

/** Refusals of a unit since it was last accepted, oldest first. */
export function refusalsOf(
  { rrd, ledger }: { readonly rrd: Rrd; readonly ledger: readonly LedgerLine[] },
  { id }: Pick<Unit, "id">,
): readonly Refusal[] {
  const paper = paperOf(rrd, id);
  return paper === undefined ? unitRefusals(rrd, ledger, id) : (paper.refusals ?? []);
}

export const paperOf = (rrd: Rrd, id: string): Paper | undefined => rrd.papers_pool.find((paper) => paper.id === id);

/** Maximum number of times that a unit's brief is shortened: a shorter brief would be useless. */
const maxShortenings = 4;

/** How often a unit exceeded a model's context since it was last accepted or reset, in all runs. */
export function countContextOverflows(ledger: readonly LedgerLine[], unit: string): number {
  const unitLines = validLines(ledger).filter((line) => line.unit === unit);
  const linesSince = unitLines.slice(
    unitLines.findLastIndex(({ outcome }) => outcome === "accepted" || outcome === "reset") + 1,
  );
  return Math.min(maxShortenings, linesSince.filter(({ failure }) => failure === "context").length);
}

/** Iterations that were refused and whose unit was not accepted later. */
export function openRefusals(ledger: readonly LedgerLine[]): ReadonlySet<number> {
  const accepted = currentAccepted(ledger);
  const open = ledger.filter(
    ({ outcome, unit, iteration }) => outcome === "refused" && (accepted.get(unit) ?? 0) < iteration,
  );
  return new Set(open.map(({ iteration }) => iteration));
}

/** The number of papers that are done, also those that wait for a person, and the expected total. */
export function progressOf(rrd: Rrd): Progress {
  const done = rrd.papers_pool.filter(isDecided).length;
  const total = rrd.phase === "DISCOVERY" ? expectedPapers(rrd) : rrd.papers_pool.length;
  const noun = "paper";
  if (done === 0) return { done, total, noun };
  const count = (wanted: Paper["status"]) => rrd.papers_pool.filter(({ status }) => status === wanted).length;
  const [included, kept_for_insights, rejected] = [count("presented"), count("insights_extracted"), count("rejected")];
  const nonZero = (counts: Readonly<Record<string, number>>) =>
    Object.fromEntries(Object.entries(counts).filter(([, number]) => number > 0));
  const otherCounts = nonZero({ waiting_for_you: count("waiting"), not_retrieved: count("not_retrieved") });
  const counts = { included, ...nonZero({ kept_for_insights }), rejected, ...otherCounts };
  return { done, total, noun, counts };
}

/**
 * The papers to read, by priority (default 3), then in the order of discovery; papers that are read again come last.
 * Also the papers that were refused `maxRefusals` times.
 */
function readingOrder(
  rrd: Rrd,
  maxRefusals: number,
): { readonly readablePapers: readonly Paper[]; readonly refusedPapers: readonly Paper[] } {
  const isRefused = (paper: Paper) => (paper.refusals?.length ?? 0) >= maxRefusals;
  const pending = rrd.papers_pool.filter((paper) => !isDecided(paper));
  const toReadAgain = papersToReadAgain(rrd).filter((paper) => isDecided(paper) && !isRefused(paper));
  const readable = [...pending.filter((paper) => !isRefused(paper)), ...toReadAgain];
  return {
    readablePapers: readable.sort((a, b) => (b.priority ?? 3) - (a.priority ?? 3)),
    refusedPapers: pending.filter(isRefused),
  };
}
