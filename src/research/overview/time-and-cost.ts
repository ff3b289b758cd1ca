import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { Rrd } from "../generated/rrd.js";
import { given } from "../../engine/lib/given.js";

/** Time that agents worked on a project, in milliseconds. Pauses between runs don't count; undefined where nothing was recorded. */
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

/** What the agents of a project used. */
export interface Spending {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  /** US dollars, as the CLIs reported them or as we estimate them; undefined where neither is known. */
  readonly costUsd?: number;
  /** Part of the dollars is our estimate. */
  readonly estimated?: true;
}

/** What iterations used and, with what the loop remembers, summaries of the history by a model; their tokens are not told apart, and most are read. */
export function spendingOf(ledger: readonly LedgerLine[], loop?: Rrd["loop"]): Spending {
  const {
    historian_tokens: tokens = 0,
    historian_cost_usd: usd,
    historian_estimated: isGuess,
  } = loop?.rch_metrics ?? {};
  const sum = (pick: (line: LedgerLine) => number | undefined) =>
    ledger.reduce((total, line) => total + (pick(line) ?? 0), 0);
  const isKnown = usd !== undefined || ledger.some((line) => line.cost_usd !== undefined);
  const costUsd = isKnown ? sum((line) => line.cost_usd) + (usd ?? 0) : undefined;
  return {
    input: sum((line) => line.tokens?.input) + tokens,
    cached: sum((line) => line.tokens?.cached),
    output: sum((line) => line.tokens?.output),
    ...given({ costUsd }),
    ...(isGuess === true || ledger.some((line) => line.cost_usd !== undefined && line.estimated === true)
      ? { estimated: true as const }
      : {}),
  };
}
