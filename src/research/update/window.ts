import type { LedgerLine } from "../../engine/generated/ledger.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { linesInForce } from "../../engine/storage/state/ledger.js";
import { isNewer, stateVersion } from "../../engine/storage/state/format-version.js";
import { readRegularText } from "../../engine/storage/regular-file.js";
import { updateFile } from "../project-files/layout.js";
import type { Rrd } from "../generated/rrd.js";
import { readKeptSearch } from "../workflow/steering/kept-search.js";

/** The days of publication that an update asks for, both YYYY-MM-DD. */
export interface Window {
  readonly since: string;
  readonly until: string;
  /** Sources that failed before, with the earlier day on which their window begins. */
  readonly sources: Readonly<Record<string, string>>;
}

/** Up to which day everything was asked. Kept where an update found nothing, so that no file of git's changes. */
export interface Asked {
  readonly until: string;
  /** Sources that failed then, with the first day of their window. */
  readonly failed: Readonly<Record<string, string>>;
  /** How many updates the records held then; a later one has the say. Absent in files from before it was noted. */
  readonly updates?: number;
}

/** Services list a work some weeks after its day of publication. */
const overlapDays = 30;

/** What is known of a project when its next window is asked for. */
interface Known {
  readonly rrd: Rrd;
  readonly ledger: readonly LedgerLine[];
  /** The day that counted as today in the first search, YYYY-MM-DD; undefined where nothing is kept of it. */
  readonly searchedOn?: string;
}

/**
 * The window of the next update of a project: from 30 days before the day up to which everything was asked, or from the
 * day that a person names; earlier for a source that failed and was not asked since. `now`: milliseconds since the
 * epoch.
 * @throws ExpectedError (exit 2) where `since` is not a day or lies ahead, or nothing tells when the last search was;
 * (exit 1) where the clock stands before the last search.
 */
export function nextWindow(name: string, known: Known, kept: Asked | undefined, now: number, since?: string): Window {
  const until = dayOf(now);
  const last = lastAsked(known, kept);
  if (since !== undefined) {
    const from = requireDay(since, until);
    const earlier = Object.entries(last?.failed ?? {}).filter(([, day]) => day < from);
    return { since: from, until, sources: Object.fromEntries(earlier) };
  }
  if (last === undefined)
    throw new ExpectedError(
      `Nothing in ${name} says when it was last searched, because its ledger is gone; name the day, as in --since 2026-01-31.`,
      2,
    );
  if (last.until > until)
    throw new ExpectedError(
      `The clock says ${until}, but ${name} was searched on ${last.until} already; correct the clock, or name a day with --since.`,
    );
  const from = daysBefore(last.until);
  const wider = Object.entries(last.failed).filter(([, day]) => day < from);
  return { since: from, until, sources: Object.fromEntries(wider) };
}

/**
 * What to keep of an update that found nothing. A window that began later than the next was due leaves open what lies
 * between.
 */
export function askedBy(
  known: Known,
  kept: Asked | undefined,
  { since, until }: Window,
  failed: Asked["failed"],
): Asked {
  const updates = known.rrd.updates?.length ?? 0;
  return { ...after(lastAsked(known, kept), { since, until, failed }), updates };
}

function requireDay(since: string, today: string): string {
  const time = /^\d{4}-\d\d-\d\d$/.test(since) ? Date.parse(`${since}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(time) || dayOf(time) !== since)
    throw new ExpectedError(`--since is "${since}"; give a day, as in --since 2026-01-31.`, 2);
  if (since > today) throw new ExpectedError(`--since ${since} lies in the future; today is ${today}.`, 2);
  return since;
}

/** Up to which day everything was asked: in the first search, then in each update, then in those that found nothing. */
function lastAsked(known: Known, kept: Asked | undefined): Asked | undefined {
  const { updates = [] } = known.rrd;
  let last = firstAsked(known);
  for (const { since, until, failed = {} } of updates) last = after(last, { since, until, failed });
  if (kept === undefined) return last;
  // It was written before the last update was opened, which has asked since.
  if (kept.updates !== undefined) return kept.updates === updates.length ? kept : last;
  return last === undefined || kept.until >= last.until ? kept : last;
}

/**
 * Up to which day everything was asked once a window is. One that began later than the next was due leaves open what
 * lies between: the overlap is for works that services listed late.
 */
function after(last: Asked | undefined, { since, until, failed }: Asked & { readonly since: string }): Asked {
  return last !== undefined && since > daysBefore(last.until) ? { until: last.until, failed } : { until, failed };
}

/**
 * The day of the first search: the one that all of its rounds took for today, however long it was judged; else that of
 * the last batch that is not an update's. A search begins before its batches are judged: a later day is that of a
 * record which was made anew.
 */
function firstAsked({ rrd, ledger, searchedOn }: Known): Asked | undefined {
  const { updates = [], statistics } = rrd;
  const isOfUpdate = ({ iteration, at }: LedgerLine) =>
    updates.some((update) => iteration > (update.iteration ?? 0) && at <= (update.closed_at ?? "9999"));
  // Where a person set a last day of publication, it tells nothing of the day of asking.
  const ends = (rrd.requirements.published_until == null ? (statistics?.discovery_metrics?.rounds ?? []) : [])
    .flatMap((step) => (step.kind === "search" && step.update === undefined ? step.queries : []))
    .flatMap(({ until }) => until ?? []);
  const batches = linesInForce(ledger)
    .filter((line) => line.phase === "DISCOVERY" && line.outcome === "accepted" && !isOfUpdate(line))
    .map(({ at }) => at.slice(0, 10));
  const last = batches.toSorted().at(-1);
  const known = searchedOn !== undefined && (last === undefined || searchedOn <= last) ? searchedOn : undefined;
  const until = known ?? ends.toSorted().at(-1) ?? last;
  return until === undefined ? undefined : { until, failed: {} };
}

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
const daysBefore = (day: string): string => dayOf(Date.parse(`${day}T00:00:00Z`) - overlapDays * 86_400_000);

/** The day that counted as today in a project's first search; undefined where nothing is kept of it. */
export const readSearchedOn = async (folder: string, rrd: Rrd): Promise<string | undefined> =>
  (await readKeptSearch(folder, rrd))?.day;

/** What is kept of the last update that found nothing; undefined where nothing is, or it can't be read. */
export async function readAsked(folder: string): Promise<Asked | undefined> {
  try {
    const kept = JSON.parse(await readRegularText(updateFile(folder))) as Partial<Asked> | null;
    if (kept === null || isNewer(kept) || !/^\d{4}-\d\d-\d\d$/.test(kept.until ?? "")) return undefined;
    const failed = Object.entries(kept.failed ?? {}).filter(([, day]) => /^\d{4}-\d\d-\d\d$/.test(day));
    const { updates } = kept;
    return {
      until: kept.until ?? "",
      failed: Object.fromEntries(failed),
      ...(typeof updates === "number" ? { updates } : {}),
    };
  } catch {
    // Lost, the next window is wider.
    return undefined;
  }
}

export const keepAsked = (folder: string, asked: Asked): Promise<unknown> =>
  writeFileAtomic(updateFile(folder), `${JSON.stringify({ ...asked, format: stateVersion }, null, 2)}\n`);
