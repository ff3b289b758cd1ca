import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { Rrd } from "../generated/rrd.js";

/**
 * Time that agents worked on a project, in milliseconds. Pauses between runs don't count; undefined where nothing was
 * recorded.
 */
export function timeSpent(rrd: Rrd, ledger: readonly LedgerLine[]): number | undefined {
  const lines = ledger.filter((line) => line.duration_seconds !== undefined);
  if (lines.length > 0) return lines.reduce((sum, line) => sum + (line.duration_seconds ?? 0), 0) * 1000;
  // Folders of the original have no ledger, but the duration of each phase.
  const phases = [rrd.timing?.discovery, rrd.timing?.analysis, rrd.timing?.ideation].map(
    (phase) => phase?.duration_seconds ?? 0,
  );
  const seconds = phases.reduce((sum, duration) => sum + duration, 0);
  return seconds === 0 ? undefined : seconds * 1000;
}

/** Average time an agent spent for one decided paper, failed attempts included, in milliseconds. */
export function timePerPaper(rrd: Rrd, ledger: readonly LedgerLine[]): number | undefined {
  const lines = ledger.filter(
    (line) => line.phase === "ANALYSIS" && line.unit !== "report" && line.duration_seconds !== undefined,
  );
  const read = lines.filter((line) => line.outcome === "accepted").length;
  if (read > 0) return (lines.reduce((sum, line) => sum + (line.duration_seconds ?? 0), 0) / read) * 1000;
  const average = rrd.timing?.analysis?.avg_seconds_per_paper;
  return average == null ? undefined : average * 1000;
}
