import type { LedgerLine } from "../../generated/ledger.js";
import type { Rrd } from "../../generated/rrd.js";
import { usesAllowance } from "../../loop/guards.js";
import type { Account, Budget, Forecast, Spent } from "../../loop/types.js";
import { isDecided, targetOf } from "./standing.js";

/** What a research has cost in its whole life, what it may cost, and what its papers that are left will. */
export function accountOf(rrd: Rrd, ledger: readonly LedgerLine[]): Account {
  const forecast = forecastOf(rrd, ledger);
  return { spent: spentOn(rrd, ledger), budget: budgetOf(rrd), ...(forecast === undefined ? {} : { forecast }) };
}

/** Every attempt counts, whatever came of it and whether or not it was reset later: it was paid for. So do a model's summaries of the history. */
function spentOn({ loop }: Rrd, ledger: readonly LedgerLine[]): Spent {
  const work = ledger.filter(({ outcome }) => outcome !== "reset");
  const sum = (of: (line: LedgerLine) => number | undefined) => work.reduce((total, line) => total + (of(line) ?? 0), 0);
  return {
    iterations: work.filter(({ failure }) => usesAllowance(failure)).length,
    tokens: sum(tokensOf) + (loop?.rch_metrics?.historian_tokens ?? 0),
    usd: sum(({ cost_usd }) => cost_usd) + (loop?.rch_metrics?.historian_cost_usd ?? 0),
    minutes: sum(({ duration_seconds }) => duration_seconds) / 60,
  };
}

function budgetOf({ budget }: Rrd): Budget {
  const { max_usd: usd, max_tokens: tokens, max_minutes: minutes, max_iterations: iterations } = budget ?? {};
  return Object.fromEntries(Object.entries({ usd, tokens, minutes, iterations }).filter(([, most]) => typeof most === "number"));
}

/** The papers that are left times the median of those read, failed attempts at them included; undefined where none was read or is left. */
export function forecastOf(rrd: Rrd, ledger: readonly LedgerLine[]): Forecast | undefined {
  const ids = new Set(
    ledger.filter(({ phase, outcome, unit }) => phase === "ANALYSIS" && outcome === "accepted" && unit !== "report").map(({ unit }) => unit),
  );
  const attempts = new Map<string, LedgerLine[]>();
  for (const line of ledger) if (ids.has(line.unit)) attempts.set(line.unit, [...(attempts.get(line.unit) ?? []), line]);
  const perPaper = (of: (line: LedgerLine) => number | undefined) =>
    median([...attempts.values()].map((lines) => lines.reduce((sum, line) => sum + (of(line) ?? 0), 0)));
  const decided = rrd.papers_pool.filter(isDecided).length;
  const papers = (rrd.phase === "DISCOVERY" ? Math.max(targetOf(rrd), rrd.papers_pool.length) : rrd.papers_pool.length) - decided;
  if (attempts.size === 0 || papers <= 0) return undefined;
  const costs = [...attempts.values()].flat().filter(({ cost_usd }) => cost_usd !== undefined);
  return {
    papers,
    tokens: Math.round(papers * perPaper(tokensOf)),
    minutes: Math.round((papers * perPaper(({ duration_seconds }) => duration_seconds)) / 6) / 10,
    ...(costs.length === 0 ? {} : { costUsd: papers * perPaper(({ cost_usd }) => cost_usd) }),
    ...(costs.some(({ estimated }) => estimated === true) ? { estimated: true as const } : {}),
  };
}

const tokensOf = ({ tokens }: LedgerLine): number => (tokens?.input ?? 0) + (tokens?.output ?? 0);

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}
