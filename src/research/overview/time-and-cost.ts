import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { Rrd } from "../generated/rrd.js";
import { isReading, secondsBeforeLedger, wereAllReadBefore } from "../workflow/timing.js";

/**
 * The time in milliseconds that agents worked on a project, without pauses between runs; undefined if no time was
 * recorded.
 */
export function timeSpent(rrd: Rrd, ledger: readonly LedgerLine[]): number | undefined {
  const lines = ledger.filter((line) => line.duration_seconds !== undefined);
  const ledgerSeconds = lines.reduce((sum, line) => sum + (line.duration_seconds ?? 0), 0);
  // Folders of the original have no ledger, but the duration of each phase; the time since then is added.
  const earlierSeconds = secondsBeforeLedger(rrd, ledger);
  const seconds = earlierSeconds + ledgerSeconds;
  // The time for writing the report again is not the time of the work.
  if (earlierSeconds === 0 && wereAllReadBefore(rrd, ledger)) return undefined;
  return lines.length === 0 && seconds === 0 ? undefined : seconds * 1000;
}

/** The average time in milliseconds for one decided paper, with failed attempts. */
export function timePerPaper(rrd: Rrd, ledger: readonly LedgerLine[]): number | undefined {
  const lines = ledger.filter((line) => isReading(line) && line.duration_seconds !== undefined);
  const readCount = lines.filter((line) => line.outcome === "accepted").length;
  if (readCount > 0) return (lines.reduce((sum, line) => sum + (line.duration_seconds ?? 0), 0) / readCount) * 1000;
  const average = rrd.timing?.analysis?.avg_seconds_per_paper;
  return average == null ? undefined : average * 1000;
}
