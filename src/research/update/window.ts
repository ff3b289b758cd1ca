import type { LedgerLine } from "../../engine/generated/ledger.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { validLines } from "../../engine/storage/state/ledger.js";
import { isNewer, stateVersion } from "../../engine/storage/state/format-version.js";
import { readRegularText } from "../../engine/storage/regular-file.js";
import { updateFile } from "../project-files/layout.js";
import type { Rrd } from "../generated/rrd.js";
import { readKeptSearch } from "../workflow/steering/kept-search.js";

/** The publication dates that an update searches, YYYY-MM-DD. */
export interface Window {
  readonly since: string;
  readonly until: string;
  /** Sources that failed before, with the first day of their earlier window. */
  readonly sources: Readonly<Record<string, string>>;
}

/**
 * The day up to which all sources were searched. It is stored if an update found nothing, so that no file under git
 * changes.
 */
export interface SearchedUntil {
  readonly until: string;
  /** Sources that failed, with the first day of their window. */
  readonly failed: Readonly<Record<string, string>>;
  /** Number of updates in the records at that time. If there are more now, this is outdated. Absent in old files. */
  readonly updates?: number;
}

/** Days by which windows overlap: services list a work some weeks after its publication. */
const overlapDays = 30;

/** What the next window depends on. */
interface ProjectHistory {
  readonly rrd: Rrd;
  readonly ledger: readonly LedgerLine[];
  /** The day that counted as today in the first search, YYYY-MM-DD; undefined if no search record exists. */
  readonly searchedOn?: string;
}

/**
 * The window of the next update: from 30 days before the last searched day, or from the day that the user names. It
 * starts earlier for sources that failed and were not searched since. `now`: milliseconds since the epoch.
 * @throws ExpectedError (exit 2) if `since` is not a day or lies in the future, or if the day of the last search is
 * unknown; (exit 1) if the clock is before the last search.
 */
export function nextWindow(
  name: string,
  history: ProjectHistory,
  stored: SearchedUntil | undefined,
  now: number,
  since?: string,
): Window {
  const until = dayOf(now);
  const lastSearch = lastSearched(history, stored);
  if (since !== undefined) {
    const firstDay = requireDay(since, until);
    const earlier = Object.entries(lastSearch?.failed ?? {}).filter(([, day]) => day < firstDay);
    return { since: firstDay, until, sources: Object.fromEntries(earlier) };
  }
  if (lastSearch === undefined)
    throw new ExpectedError(
      `Nothing in ${name} says when it was last searched, because its ledger is gone; name the day, as in --since 2026-01-31.`,
      2,
    );
  if (lastSearch.until > until)
    throw new ExpectedError(
      `The clock says ${until}, but ${name} was searched on ${lastSearch.until} already; correct the clock, or name a day with --since.`,
    );
  const from = daysBefore(lastSearch.until);
  const withWiderWindow = Object.entries(lastSearch.failed).filter(([, day]) => day < from);
  return { since: from, until, sources: Object.fromEntries(withWiderWindow) };
}

/** What to store for an update that found nothing. */
export function searchedAfter(
  history: ProjectHistory,
  stored: SearchedUntil | undefined,
  { since, until }: Window,
  failed: SearchedUntil["failed"],
): SearchedUntil {
  const updates = history.rrd.updates?.length ?? 0;
  return { ...afterWindow(lastSearched(history, stored), { since, until, failed }), updates };
}

function requireDay(since: string, today: string): string {
  const time = /^\d{4}-\d\d-\d\d$/.test(since) ? Date.parse(`${since}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(time) || dayOf(time) !== since)
    throw new ExpectedError(`--since is "${since}"; give a day, as in --since 2026-01-31.`, 2);
  if (since > today) throw new ExpectedError(`--since ${since} lies in the future; today is ${today}.`, 2);
  return since;
}

/**
 * The day up to which all sources were searched: by the first search, each update, and each update that found nothing.
 */
function lastSearched(history: ProjectHistory, stored: SearchedUntil | undefined): SearchedUntil | undefined {
  const { updates = [] } = history.rrd;
  let lastSearch = firstSearched(history);
  for (const { since, until, failed = {} } of updates) lastSearch = afterWindow(lastSearch, { since, until, failed });
  if (stored === undefined) return lastSearch;
  // The last update was opened later and searched again.
  if (stored.updates !== undefined) return stored.updates === updates.length ? stored : lastSearch;
  return lastSearch === undefined || stored.until >= lastSearch.until ? stored : lastSearch;
}

/**
 * Extends the searched period by a window. If the window starts after the end of that period, the gap stays open, so
 * the end stays the same; the overlap is needed for works that services listed late.
 */
function afterWindow(
  lastSearch: SearchedUntil | undefined,
  { since, until, failed }: SearchedUntil & { readonly since: string },
): SearchedUntil {
  return lastSearch !== undefined && since > daysBefore(lastSearch.until)
    ? { until: lastSearch.until, failed }
    : { until, failed };
}

/**
 * The day of the first search: the one that counted as today in all its rounds, else the day of the last batch that is
 * not of an update. A search starts before its batches are judged, so a later day is from a record that was made again
 * and is ignored.
 */
function firstSearched({ rrd, ledger, searchedOn }: ProjectHistory): SearchedUntil | undefined {
  const { updates = [], statistics } = rrd;
  const isOfUpdate = ({ iteration, at }: LedgerLine) =>
    updates.some((update) => iteration > (update.iteration ?? 0) && at <= (update.closed_at ?? "9999"));
  // If the user set a last day of publication, the queries do not show the day of the search.
  const queryEnds = (rrd.requirements.published_until == null ? (statistics?.discovery_metrics?.rounds ?? []) : [])
    .flatMap((step) => (step.kind === "search" && step.update === undefined ? step.queries : []))
    .flatMap(({ until }) => until ?? []);
  const batches = validLines(ledger)
    .filter((line) => line.phase === "DISCOVERY" && line.outcome === "accepted" && !isOfUpdate(line))
    .map(({ at }) => at.slice(0, 10));
  const lastBatch = batches.toSorted().at(-1);
  const recordedDay =
    searchedOn !== undefined && (lastBatch === undefined || searchedOn <= lastBatch) ? searchedOn : undefined;
  const until = recordedDay ?? queryEnds.toSorted().at(-1) ?? lastBatch;
  return until === undefined ? undefined : { until, failed: {} };
}

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
const daysBefore = (day: string): string => dayOf(Date.parse(`${day}T00:00:00Z`) - overlapDays * 86_400_000);

/** The day that counted as today in a project's first search; undefined if no search record exists. */
export const readSearchedOn = async (folder: string, rrd: Rrd): Promise<string | undefined> =>
  (await readKeptSearch(folder, rrd))?.day;

/** The stored result of the last update that found nothing; undefined if it is missing or can't be read. */
export async function readSearchedUntil(folder: string): Promise<SearchedUntil | undefined> {
  try {
    const stored = JSON.parse(await readRegularText(updateFile(folder))) as Partial<SearchedUntil> | null;
    if (stored === null || isNewer(stored) || !/^\d{4}-\d\d-\d\d$/.test(stored.until ?? "")) return undefined;
    const failed = Object.entries(stored.failed ?? {}).filter(([, day]) => /^\d{4}-\d\d-\d\d$/.test(day));
    const { updates } = stored;
    return {
      until: stored.until ?? "",
      failed: Object.fromEntries(failed),
      ...(typeof updates === "number" ? { updates } : {}),
    };
  } catch {
    // Without this file, only the next window is wider.
    return undefined;
  }
}

export const writeSearchedUntil = (folder: string, searched: SearchedUntil): Promise<unknown> =>
  writeFileAtomic(updateFile(folder), `${JSON.stringify({ ...searched, format: stateVersion }, null, 2)}\n`);
