import type { LedgerLine } from "../../../engine/generated/ledger.js";
import type { Rrd } from "../../generated/rrd.js";
import { usesAllowance } from "../../../engine/loop/guards/limits.js";
import type { Account, Budget, Spent } from "../../../engine/loop/types.js";
import { type Experience, forecastOf } from "./forecast.js";

/** What a project has cost in its whole life, what it may cost, and what the rest of it will. */
export function accountOf(rrd: Rrd, ledger: readonly LedgerLine[], before?: Experience): Account {
  const forecast = forecastOf(rrd, ledger, before);
  return { spent: spentOn(rrd, ledger), budget: budgetOf(rrd), ...(forecast === undefined ? {} : { forecast }) };
}

/** Every attempt counts, whatever came of it and whether or not it was reset later: it was paid for. So do a model's summaries of the history. */
function spentOn({ loop }: Rrd, ledger: readonly LedgerLine[]): Spent {
  const work = ledger.filter(({ outcome }) => outcome !== "reset");
  const sum = (of: (line: LedgerLine) => number | undefined) =>
    work.reduce((total, line) => total + (of(line) ?? 0), 0);
  return {
    iterations: work.filter(({ failure }) => usesAllowance(failure)).length,
    tokens: sum(tokensOf) + (loop?.rch_metrics?.historian_tokens ?? 0),
    usd: sum(({ cost_usd }) => cost_usd) + (loop?.rch_metrics?.historian_cost_usd ?? 0),
    minutes: sum(({ duration_seconds }) => duration_seconds) / 60,
  };
}

function budgetOf({ budget }: Rrd): Budget {
  const { max_usd: usd, max_tokens: tokens, max_minutes: minutes, max_iterations: iterations } = budget ?? {};
  return Object.fromEntries(
    Object.entries({ usd, tokens, minutes, iterations }).filter(([, most]) => typeof most === "number"),
  );
}

const tokensOf = ({ tokens }: LedgerLine): number => (tokens?.input ?? 0) + (tokens?.output ?? 0);
