import type { HistoryMetrics } from "../../generated/memory.js";
import { awakeBetween } from "../../lib/clock.js";
import { isCounted, allowMoreText, countsTowardLimit } from "./limits.js";
import type {
  Agent,
  Budget,
  Choose,
  StopCondition,
  LiveIteration,
  PastIteration,
  Review,
  RunSoFar,
  Spending,
  Verdict,
  Watch,
  Words,
} from "../types.js";

/** The usage of iterations, including those under way. */
export function spendingOf(
  pastIterations: readonly PastIteration[],
  liveIterations: readonly LiveIteration[],
  { now, sleeps }: Pick<RunSoFar, "now" | "sleeps">,
): Spending {
  const allIterations = [...pastIterations, ...liveIterations.map(({ run }) => ({ ...run, endedAt: now }))];
  const sum = (valueOf: (iteration: (typeof allIterations)[number]) => number) =>
    allIterations.reduce((total, iteration) => total + valueOf(iteration), 0);
  return {
    iterations: pastIterations.filter(isCounted).length + liveIterations.length,
    tokens: sum(({ usage }) => usage.input + usage.output),
    usd: sum(({ cost_usd }) => cost_usd ?? 0),
    minutes: sum(({ startedAt, endedAt }) => awakeBetween(startedAt, endedAt, sleeps)) / 60_000,
  };
}

/** The cost fields of an attempt in a state or a ledger. */
interface AttemptCost {
  readonly failure?: string;
  readonly tokens?: number;
  readonly cost_usd?: number;
  readonly duration_seconds?: number;
}

/**
 * The usage of recorded attempts, whatever their outcome is, because each one cost something. Includes the summaries by
 * a model from `metrics`.
 */
export function spendingOnAttempts(attempts: readonly AttemptCost[], metrics: HistoryMetrics | undefined): Spending {
  const sum = (valueOf: (attempt: AttemptCost) => number | undefined) =>
    attempts.reduce((total, attempt) => total + (valueOf(attempt) ?? 0), 0);
  return {
    iterations: attempts.filter(({ failure }) => countsTowardLimit(failure)).length,
    tokens: sum(({ tokens }) => tokens) + (metrics?.historian_tokens ?? 0),
    usd: sum(({ cost_usd }) => cost_usd) + (metrics?.historian_cost_usd ?? 0),
    minutes: sum(({ duration_seconds }) => duration_seconds) / 60,
  };
}

export const zeroSpending: Spending = { iterations: 0, tokens: 0, usd: 0, minutes: 0 };

export const addSpending = (a: Spending, b: Spending): Spending => ({
  iterations: a.iterations + b.iterations,
  tokens: a.tokens + b.tokens,
  usd: a.usd + b.usd,
  minutes: a.minutes + b.minutes,
});

type BudgetUnit = "tokens" | "usd" | "minutes" | "iterations";
const budgetUnits = ["usd", "tokens", "minutes", "iterations"] as const satisfies readonly BudgetUnit[];
const amountText: Readonly<Record<BudgetUnit, (value: number) => string>> = {
  usd: (value) => `$${value.toFixed(2)}`,
  tokens: (value) => `${Math.round(value).toLocaleString("en")} tokens`,
  minutes: (value) => `${Math.round(value * 10) / 10} minutes of agents' work`,
  iterations: (value) => `${value} ${value === 1 ? "iteration" : "iterations"}`,
};

/**
 * The budget units of a run. Iterations and minutes of a run have their own stop conditions; those minutes are wall
 * time.
 */
const runBudgetUnits: readonly BudgetUnit[] = ["usd", "tokens"];

/**
 * The first budget for which `isReached` is true. The budgets of this run are checked before the budgets of the work
 * over its whole life.
 */
function findUsedUpBudget(
  words: Words,
  runBudget: Budget,
  soFar: RunSoFar,
  liveIterations: readonly LiveIteration[],
  isReached: (spent: number, maximum: number) => boolean,
): (Pick<Verdict, "reason"> & { readonly cause: BudgetUnit }) | undefined {
  const { iterations, account } = soFar;
  const spentInRun = addSpending(spendingOf(iterations, liveIterations, soFar), account?.beside ?? zeroSpending);
  for (const unit of runBudgetUnits) {
    const limit = runBudget[unit];
    if (limit !== undefined && isReached(spentInRun[unit], limit))
      return {
        cause: unit,
        reason: `The budget of this run, ${amountText[unit](limit)}, is used up: ${amountText[unit](spentInRun[unit])}. Run again to continue${allowMoreText(words, unit)}.`,
      };
  }
  if (account === undefined) return undefined;
  const spentOnWork = addSpending(account.spent, spendingOf([], liveIterations, soFar));
  for (const unit of budgetUnits) {
    const limit = account.budget[unit];
    if (limit !== undefined && isReached(spentOnWork[unit], limit))
      return {
        cause: unit,
        reason: `The budget of this ${words.noun}, ${amountText[unit](limit)}, is used up: ${amountText[unit](spentOnWork[unit])}. Raise ${words.budget(unit)} to continue.`,
      };
  }
  return undefined;
}

/** Ends the run if a budget is used up: the budget of this run, or the budget of the work over its whole life. */
export const limitBudget =
  (words: Words, runBudget: Budget): StopCondition =>
  (soFar): Verdict | undefined => {
    const usedUpBudget = findUsedUpBudget(
      words,
      runBudget,
      soFar,
      soFar.inFlight ?? [],
      (spent, maximum) => spent >= maximum,
    );
    if (usedUpBudget !== undefined) return { verdict: "limit", ...usedUpBudget };
    // A CLI that ended because of its budget would end again.
    const lastOutcome = soFar.iterations.at(-1)?.outcome;
    return lastOutcome?.outcome === "failed" && lastOutcome.failure.kind === "budget"
      ? { verdict: "limit", cause: "usd", reason: lastOutcome.failure.message }
      : undefined;
  };

/** Ends an iteration that exceeds a budget while it is under way. */
export const watchBudget =
  (words: Words, runBudget: Budget): Watch =>
  (live, soFar) => {
    const usedUpBudget = findUsedUpBudget(
      words,
      runBudget,
      soFar,
      [...(soFar.inFlight ?? []), live],
      (spent, maximum) => spent > maximum,
    );
    return usedUpBudget && { end: { kind: "budget", message: usedUpBudget.reason } };
  };

/** The warning, before a run, about agents that a budget can't limit; undefined if there is no such agent. */
export function unlimitedAgentsWarning(
  budget: Budget,
  agents: readonly Pick<Agent, "name" | "reportsNoUsage">[],
): string | undefined {
  const names = [...new Set(agents.filter(({ reportsNoUsage }) => reportsNoUsage === true).map(({ name }) => name))];
  if (names.length === 0 || (budget.usd === undefined && budget.tokens === undefined)) return undefined;
  const why = names.length === 1 ? "it does not tell what it uses" : "they do not tell what they use";
  return `The budget cannot limit ${names.join(" and ")}, because ${why}; limits of iterations and minutes hold.`;
}

/**
 * Warns about an agent that worked but did not report its usage, because the budget can't count its work.
 * `warnedAgents`: names of agents about which the user was warned before the run.
 */
export const reviewBudget =
  (runBudget: Budget, warnedAgents: ReadonlySet<string> = new Set()): Review =>
  ({ run: { agent, free, model, failure, cost_usd, usage } }, { account }) => {
    // A run that failed in another way than by a timeout may have used no tokens.
    if (
      free === true ||
      warnedAgents.has(agent) ||
      (failure !== undefined && failure.kind !== "timeout" && failure.kind !== "idle")
    )
      return undefined;
    const isSet = (unit: BudgetUnit): boolean => (runBudget[unit] ?? account?.budget[unit]) !== undefined;
    const reportsNoTokens = usage.input + usage.output === 0;
    const unknownPart = reportsNoTokens ? "how many tokens it used" : `what ${model ?? "its model"} costs`;
    const uncountedUnits = [
      ...(isSet("usd") && cost_usd === undefined ? ["US dollars"] : []),
      ...(isSet("tokens") && reportsNoTokens ? ["tokens"] : []),
    ];
    return uncountedUnits.length === 0
      ? undefined
      : `The budget in ${uncountedUnits.join(" and ")} cannot limit ${agent}, because it is not known ${unknownPart}: its work is not counted there; limits of iterations and minutes hold.`;
  };

/** Adds limits to each choice: the dollars and the time that the budgets leave for the iteration. */
export const withAllowance =
  (runBudget: Budget, choose: Choose): Choose =>
  (soFar, unit) => {
    const choice = choose(soFar, unit);
    if (!("agent" in choice)) return choice;
    const liveIterations = soFar.inFlight ?? [];
    const runningSpending = spendingOf([], liveIterations, soFar);
    const { budget, spent, beside } = soFar.account ?? {};
    const remainingUsd = [
      ...(runBudget.usd === undefined
        ? []
        : [runBudget.usd - spendingOf(soFar.iterations, liveIterations, soFar).usd - (beside?.usd ?? 0)]),
      ...(budget?.usd === undefined ? [] : [budget.usd - (spent?.usd ?? 0) - runningSpending.usd]),
    ];
    return {
      ...choice,
      ...(remainingUsd.length === 0 ? {} : { maxUsd: Math.max(0, Math.min(...remainingUsd)) }),
      // Parallel agents share the remaining minutes.
      ...(budget?.minutes === undefined
        ? {}
        : {
            maxMs:
              Math.max(0, budget.minutes - (spent?.minutes ?? 0) - runningSpending.minutes) *
              (60_000 / (liveIterations.length + 1)),
          }),
    };
  };
