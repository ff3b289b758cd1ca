import type { HistoryMetrics } from "../../generated/memory.js";
import { awakeBetween } from "../../lib/clock.js";
import { counts, moreOf, usesAllowance } from "./limits.js";
import type {
  Budget,
  Choose,
  StopCondition,
  LiveIteration,
  PastIteration,
  Review,
  RunSoFar,
  Spent,
  Verdict,
  Watch,
  Words,
} from "../types.js";

/** What iterations used up, those under way included. */
export function spentIn(
  past: readonly PastIteration[],
  live: readonly LiveIteration[],
  { now, sleeps }: Pick<RunSoFar, "now" | "sleeps">,
): Spent {
  const all = [...past, ...live.map(({ run }) => ({ ...run, endedAt: now }))];
  const sum = (of: (each: (typeof all)[number]) => number) => all.reduce((total, each) => total + of(each), 0);
  return {
    iterations: past.filter(counts).length + live.length,
    tokens: sum(({ usage }) => usage.input + usage.output),
    usd: sum(({ cost_usd }) => cost_usd ?? 0),
    minutes: sum(({ startedAt, endedAt }) => awakeBetween(startedAt, endedAt, sleeps)) / 60_000,
  };
}

/** An attempt as a state or a ledger keeps it. */
interface Attempted {
  readonly failure?: string;
  readonly tokens?: number;
  readonly cost_usd?: number;
  readonly duration_seconds?: number;
}

/**
 * What kept attempts used up, whatever came of them: each was paid for. So were a model's summaries of the history,
 * which `metrics` count.
 */
export function spentOnAttempts(attempts: readonly Attempted[], metrics: HistoryMetrics | undefined): Spent {
  const sum = (of: (attempt: Attempted) => number | undefined) =>
    attempts.reduce((total, attempt) => total + (of(attempt) ?? 0), 0);
  return {
    iterations: attempts.filter(({ failure }) => usesAllowance(failure)).length,
    tokens: sum(({ tokens }) => tokens) + (metrics?.historian_tokens ?? 0),
    usd: sum(({ cost_usd }) => cost_usd) + (metrics?.historian_cost_usd ?? 0),
    minutes: sum(({ duration_seconds }) => duration_seconds) / 60,
  };
}

export const nothingSpent: Spent = { iterations: 0, tokens: 0, usd: 0, minutes: 0 };

export const plus = (a: Spent, b: Spent): Spent => ({
  iterations: a.iterations + b.iterations,
  tokens: a.tokens + b.tokens,
  usd: a.usd + b.usd,
  minutes: a.minutes + b.minutes,
});

type Unit = "tokens" | "usd" | "minutes" | "iterations";
const units = ["usd", "tokens", "minutes", "iterations"] as const satisfies readonly Unit[];
const worded: Readonly<Record<Unit, (value: number) => string>> = {
  usd: (value) => `$${value.toFixed(2)}`,
  tokens: (value) => `${Math.round(value).toLocaleString("en")} tokens`,
  minutes: (value) => `${Math.round(value * 10) / 10} minutes of agents' work`,
  iterations: (value) => `${value} ${value === 1 ? "iteration" : "iterations"}`,
};

/** Of a run, iterations and minutes have stop conditions of their own: there minutes are those on the clock. */
const ofARun: readonly Unit[] = ["usd", "tokens"];

/** The first budget that `reached` says is used up: of this run first, then of the whole project. */
function usedUp(
  words: Words,
  run: Budget,
  soFar: RunSoFar,
  live: readonly LiveIteration[],
  reached: (spent: number, most: number) => boolean,
): (Pick<Verdict, "reason"> & { readonly cause: Unit }) | undefined {
  const { iterations, account } = soFar;
  const mine = plus(spentIn(iterations, live, soFar), account?.beside ?? nothingSpent);
  for (const unit of ofARun) {
    const limit = run[unit];
    if (limit !== undefined && reached(mine[unit], limit))
      return {
        cause: unit,
        reason: `The budget of this run, ${worded[unit](limit)}, is used up: ${worded[unit](mine[unit])}. Run again to continue${moreOf(words, unit)}.`,
      };
  }
  if (account === undefined) return undefined;
  const whole = plus(account.spent, spentIn([], live, soFar));
  for (const unit of units) {
    const limit = account.budget[unit];
    if (limit !== undefined && reached(whole[unit], limit))
      return {
        cause: unit,
        reason: `The budget of this ${words.noun}, ${worded[unit](limit)}, is used up: ${worded[unit](whole[unit])}. Raise ${words.budget(unit)} to continue.`,
      };
  }
  return undefined;
}

/** Ends the run where a budget is used up: that of the run, or that which the work itself names for its whole life. */
export const limitBudget =
  (words: Words, run: Budget): StopCondition =>
  (soFar): Verdict | undefined => {
    const limit = usedUp(words, run, soFar, soFar.inFlight ?? [], (spent, most) => spent >= most);
    if (limit !== undefined) return { verdict: "limit", ...limit };
    // A CLI that ended itself for want of money would do so again.
    const last = soFar.iterations.at(-1)?.outcome;
    return last?.outcome === "failed" && last.failure.kind === "budget"
      ? { verdict: "limit", cause: "usd", reason: last.failure.message }
      : undefined;
  };

/** Ends an iteration that takes a budget beyond its limit while it is under way. */
export const watchBudget =
  (words: Words, run: Budget): Watch =>
  (live, soFar) => {
    const limit = usedUp(words, run, soFar, [...(soFar.inFlight ?? []), live], (spent, most) => spent > most);
    return limit && { end: { kind: "budget", message: limit.reason } };
  };

/**
 * Warns of an agent that worked and did not report what it used: its work does not count in the budget.
 */
export const reviewBudget =
  (budget: Budget): Review =>
  ({ run: { agent, free, model, failure, cost_usd, usage } }, { account }) => {
    // What failed otherwise may not have used anything.
    if (free === true || (failure !== undefined && failure.kind !== "timeout" && failure.kind !== "idle"))
      return undefined;
    const isSet = (unit: Unit): boolean => (budget[unit] ?? account?.budget[unit]) !== undefined;
    const none = usage.input + usage.output === 0;
    const unknown = none ? "how many tokens it used" : `what ${model ?? "its model"} costs`;
    const unheld = [
      ...(isSet("usd") && cost_usd === undefined ? ["US dollars"] : []),
      ...(isSet("tokens") && none ? ["tokens"] : []),
    ];
    return unheld.length === 0
      ? undefined
      : `The budget in ${unheld.join(" and ")} cannot limit ${agent}, because it is not known ${unknown}: its work is not counted there.`;
  };

/** The choice, with the money and the minutes of agents' work that are left for the iteration. */
export const withAllowance =
  (run: Budget, choose: Choose): Choose =>
  (soFar, unit) => {
    const choice = choose(soFar, unit);
    if (!("agent" in choice)) return choice;
    const live = soFar.inFlight ?? [];
    const underWay = spentIn([], live, soFar);
    const { budget, spent, beside } = soFar.account ?? {};
    const left = [
      ...(run.usd === undefined ? [] : [run.usd - spentIn(soFar.iterations, live, soFar).usd - (beside?.usd ?? 0)]),
      ...(budget?.usd === undefined ? [] : [budget.usd - (spent?.usd ?? 0) - underWay.usd]),
    ];
    return {
      ...choice,
      ...(left.length === 0 ? {} : { maxUsd: Math.max(0, Math.min(...left)) }),
      // Agents that work side by side share it.
      ...(budget?.minutes === undefined
        ? {}
        : {
            maxMs:
              Math.max(0, budget.minutes - (spent?.minutes ?? 0) - underWay.minutes) * (60_000 / (live.length + 1)),
          }),
    };
  };
