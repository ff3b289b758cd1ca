import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { Rrd } from "../generated/rrd.js";
import { isReading, secondsBefore, wereAllReadBefore } from "../workflow/timing.js";

/**
 * Time that agents worked on a project, in milliseconds. Pauses between runs don't count; undefined where nothing was
 * recorded.
 */
export function timeSpent(rrd: Rrd, ledger: readonly LedgerLine[]): number | undefined {
  const lines = ledger.filter((line) => line.duration_seconds !== undefined);
  const own = lines.reduce((sum, line) => sum + (line.duration_seconds ?? 0), 0);
  // Folders of the original have no ledger, but the duration of each phase; what was done since is added.
  const before = secondsBefore(rrd, ledger);
  const seconds = before + own;
  // A report written again is not the time of the work.
  if (before === 0 && wereAllReadBefore(rrd, ledger)) return undefined;
  return lines.length === 0 && seconds === 0 ? undefined : seconds * 1000;
}

/** Average time an agent spent for one decided paper, failed attempts included, in milliseconds. */
export function timePerPaper(rrd: Rrd, ledger: readonly LedgerLine[]): number | undefined {
  const lines = ledger.filter((line) => isReading(line) && line.duration_seconds !== undefined);
  const read = lines.filter((line) => line.outcome === "accepted").length;
  if (read > 0) return (lines.reduce((sum, line) => sum + (line.duration_seconds ?? 0), 0) / read) * 1000;
  const average = rrd.timing?.analysis?.avg_seconds_per_paper;
  return average == null ? undefined : average * 1000;
}
