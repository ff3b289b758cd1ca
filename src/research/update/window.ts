import type { LedgerLine } from "../../engine/generated/ledger.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { countingLines } from "../../engine/storage/records/ledger.js";
import { isNewer, stateVersion } from "../../engine/storage/records/format-version.js";
import { readRegularText } from "../../engine/storage/regular-file.js";
import { updateFile } from "../folder/layout.js";
import type { Rrd } from "../generated/rrd.js";

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
}

/** Services list a work some weeks after its day of publication. */
const overlapDays = 30;

/**
 * The window of the next update of a project: from 30 days before the last search to today, or from the day that a
 * person names. `now`: milliseconds since the epoch.
 * @throws ExpectedError (exit 2) where `since` is no day or lies ahead, or nothing tells when the last search was;
 * (exit 1) where the clock stands before the last search.
 */
export function nextWindow(
  name: string,
  { rrd, ledger }: { readonly rrd: Rrd; readonly ledger: readonly LedgerLine[] },
  kept: Asked | undefined,
  now: number,
  since?: string,
): Window {
  const until = dayOf(now);
  if (since !== undefined) return { since: requireDay(since, until), until, sources: {} };
  const last = lastAsked(rrd, ledger, kept);
  if (last === undefined)
    throw new ExpectedError(
      `Nothing in ${name} tells when it was searched last: its ledger is gone; name the day, as in --since 2026-01-31.`,
      2,
    );
  if (last.until > until)
    throw new ExpectedError(
      `The clock says ${until}, but ${name} was searched on ${last.until} already; set the clock, or name a day with --since.`,
    );
  return { since: daysBefore(last.until), until, sources: last.failed };
}

function requireDay(since: string, today: string): string {
  const time = /^\d{4}-\d\d-\d\d$/.test(since) ? Date.parse(`${since}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(time) || dayOf(time) !== since)
    throw new ExpectedError(`--since is "${since}"; give a day, as in --since 2026-01-31.`, 2);
  if (since > today) throw new ExpectedError(`--since ${since} lies in the future; today is ${today}.`, 2);
  return since;
}

/** The latest of what the records, the ledger and the kept file say of the last search. */
function lastAsked(rrd: Rrd, ledger: readonly LedgerLine[], kept: Asked | undefined): Asked | undefined {
  const update = rrd.updates?.at(-1);
  const steps = rrd.statistics?.discovery_metrics?.rounds ?? [];
  const known: Asked[] = [
    ...countingLines(ledger)
      .filter(({ phase, outcome }) => phase === "DISCOVERY" && outcome === "accepted")
      .map(({ at }) => ({ until: at.slice(0, 10), failed: {} })),
    ...steps
      .filter(({ update: id }) => id === undefined)
      .flatMap((step) => (step.kind === "search" ? step.queries : []))
      .flatMap(({ until }) => (until === undefined ? [] : [{ until, failed: {} }])),
    ...(update === undefined ? [] : [{ until: update.until, failed: update.failed ?? {} }]),
    ...(kept === undefined ? [] : [kept]),
  ];
  // Of the same day the last one counts: what failed in it is told by it alone.
  return known.toSorted((a, b) => (a.until < b.until ? -1 : a.until > b.until ? 1 : 0)).at(-1);
}

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
const daysBefore = (day: string): string => dayOf(Date.parse(`${day}T00:00:00Z`) - overlapDays * 86_400_000);

/** What is kept of the last update that found nothing; undefined where nothing is, or it can't be read. */
export async function readAsked(folder: string): Promise<Asked | undefined> {
  try {
    const kept = JSON.parse(await readRegularText(updateFile(folder))) as Partial<Asked> | null;
    if (kept === null || isNewer(kept) || !/^\d{4}-\d\d-\d\d$/.test(kept.until ?? "")) return undefined;
    const failed = Object.entries(kept.failed ?? {}).filter(([, day]) => /^\d{4}-\d\d-\d\d$/.test(day));
    return { until: kept.until ?? "", failed: Object.fromEntries(failed) };
  } catch {
    // Lost, the next window is wider.
    return undefined;
  }
}

export const keepAsked = (folder: string, asked: Asked): Promise<unknown> =>
  writeFileAtomic(updateFile(folder), `${JSON.stringify({ ...asked, format: stateVersion }, null, 2)}\n`);
