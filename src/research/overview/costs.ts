import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { Rrd } from "../generated/rrd.js";
import type { Forecast } from "../../engine/loop/types.js";
import { type Experience, forecastOf } from "../workflow/forecast.js";
import { countsTowardLimit } from "../../engine/loop/stop-conditions/limits.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { UsageSum } from "../../engine/ui/terminal/tally.js";
import { roundUsd } from "../../engine/loop/run-record/ledger-line.js";

/** A state with the cost of summaries of its history. */
interface StateWithSummaries {
  readonly loop?: Pick<NonNullable<Rrd["loop"]>, "rch_metrics" | "iteration"> | null;
}

/** The cost of work of any kind, and its parts. */
export interface WorkCosts {
  readonly total: UsageSum;
  readonly agents: Readonly<Record<string, UsageSum>>;
  readonly models: Readonly<Record<string, UsageSum>>;
  /**
   * For units that several agents share: by role and agent, such as "critic (codex)"; absent if there are no such
   * units.
   */
  readonly parts?: Readonly<Record<string, UsageSum>>;
  /** Refused attempts. */
  readonly refused: UsageSum;
  /** Failed attempts. */
  readonly failed: UsageSum;
  /** What a model used for summaries of the history, as part of the total; undefined if none was made by a model. */
  readonly historian?: UsageSum;
  /** How often the history was summarised, by a model or by code; undefined if it never was. */
  readonly summaries?: { readonly times: number; readonly tokens_saved: number };
  /** The maximum share of a model's context that was used, by kind of unit. */
  readonly contexts: Readonly<Record<string, number>>;
}

/** The cost of a project of papers, and its parts. */
export interface Costs extends WorkCosts {
  readonly phases: Readonly<Record<string, UsageSum>>;
  /** The cost of ANALYSIS per accepted paper; undefined before the first one. */
  readonly per_paper?: UsageSum & { readonly papers: number };
  readonly forecast?: Forecast;
}

export function costsOf(rrd: Rrd, ledger: readonly LedgerLine[], experience?: Experience): Costs {
  const work = ledger.filter(({ outcome }) => outcome !== "reset");
  const papers = new Set(rrd.papers_pool.map(({ id }) => id));
  const reading = work.filter(({ unit }) => papers.has(unit));
  // A paper that code decided alone was not read.
  const accepted = reading.filter(({ outcome, agent }) => outcome === "accepted" && agent !== undefined);
  const readCount = new Set(accepted.map(({ unit }) => unit)).size;
  const forecast = forecastOf(rrd, ledger, experience);
  return {
    phases: sumsBy(work, ({ phase }) => phase),
    ...workCosts(rrd, ledger, papers),
    ...(readCount === 0 ? {} : { per_paper: { papers: readCount, ...divideUsage(sumOf(reading), readCount) } }),
    ...withoutUndefined({ forecast }),
  };
}

/** The cost of work of any kind. `papers`: ids of units that are papers. */
export function workCosts(
  state: StateWithSummaries,
  ledger: readonly LedgerLine[],
  papers: ReadonlySet<string> = new Set(),
): WorkCosts {
  const work = ledger.filter(({ outcome }) => outcome !== "reset");
  const sharedLines = work.filter(({ role }) => role !== undefined);
  const historian = historianUsage(state);
  const { compressions: times = 0, total_tokens_saved: tokens_saved = 0 } = state.loop?.rch_metrics ?? {};
  return {
    total: totalOf(state, ledger),
    agents: sumsBy(work, ({ agent }) => agent ?? "code alone"),
    // An agent that costs nothing without a subscription uses no model.
    models: sumsBy(
      work,
      ({ agent, model, cost_usd, billing }) =>
        model ?? (agent === undefined || (cost_usd === 0 && billing === undefined) ? "none" : "unknown"),
    ),
    ...(sharedLines.length === 0
      ? {}
      : { parts: sumsBy(sharedLines, ({ role = "", agent = "" }) => `${role} (${agent})`) }),
    refused: sumOf(work.filter(({ outcome }) => outcome === "refused")),
    failed: sumOf(work.filter(({ outcome }) => outcome === "failed")),
    ...withoutUndefined({ historian }),
    ...(times === 0 ? {} : { summaries: { times, tokens_saved } }),
    contexts: maxContextShares(work, papers),
  };
}

/**
 * The total usage of a project, with summaries of its history by a model, and the number of iterations without a
 * record.
 */
export function totalOf(rrd: StateWithSummaries, ledger: readonly LedgerLine[]): UsageSum {
  const sum = sumOf(ledger.filter(({ outcome }) => outcome !== "reset"));
  const historian = historianUsage(rrd);
  const firstIteration = ledger.reduce(
    (minimum, { iteration }) => Math.min(minimum, iteration),
    (rrd.loop?.iteration ?? 0) + 1,
  );
  return {
    ...(historian === undefined ? sum : sumOfSums([sum, historian])),
    ...(firstIteration > 1 ? { unrecorded: firstIteration - 1 } : {}),
  };
}

export function sumOf(lines: readonly LedgerLine[]): UsageSum {
  const sum = (valueOf: (line: LedgerLine) => number | undefined) =>
    lines.reduce((total, line) => total + (valueOf(line) ?? 0), 0);
  const paidLines = lines.filter(({ cost_usd }) => cost_usd !== undefined);
  const unreportedCount = lines.filter(hasUnreportedCost).length;
  const [input, output] = [sum(({ tokens }) => tokens?.input), sum(({ tokens }) => tokens?.output)];
  const iterations = lines.filter(({ failure }) => countsTowardLimit(failure)).length;
  const uncountedLines = lines.length - iterations;
  return {
    iterations,
    ...(uncountedLines === 0 ? {} : { not_counted: uncountedLines }),
    tokens: input + output,
    input,
    cached: sum(({ tokens }) => tokens?.cached),
    output,
    seconds: sum(({ duration_seconds }) => duration_seconds),
    ...(paidLines.length === 0 ? {} : { cost_usd: roundUsd(sum(({ cost_usd }) => cost_usd)) }),
    ...(paidLines.some(({ estimated }) => estimated === true) ? { estimated: true as const } : {}),
    ...(paidLines.some(({ billing, cost_usd = 0 }) => billing === "subscription" && cost_usd > 0)
      ? { subscription: true as const }
      : {}),
    ...(unreportedCount === 0 ? {} : { unreported: unreportedCount }),
  };
}

/**
 * If no model answered, there was nothing to report; if the agent was interrupted or hung, it may have used tokens
 * before.
 */
const hasUnreportedCost = ({ agent, cost_usd, failure, tokens }: LedgerLine): boolean =>
  agent !== undefined &&
  cost_usd === undefined &&
  (countsTowardLimit(failure) || (tokens?.input ?? 0) + (tokens?.output ?? 0) > 0);

/**
 * What a model used for summaries. They are not iterations, and their time is not measured. Their tokens are not
 * separated; most of them are input.
 */
function historianUsage({ loop }: StateWithSummaries): UsageSum | undefined {
  const {
    historian_tokens: tokens = 0,
    historian_cost_usd: cost_usd,
    historian_estimated: estimated,
  } = loop?.rch_metrics ?? {};
  if (tokens === 0 && cost_usd === undefined) return undefined;
  return {
    iterations: 0,
    seconds: 0,
    tokens,
    input: tokens,
    cached: 0,
    output: 0,
    ...withoutUndefined({ cost_usd }),
    ...(estimated === true ? { estimated } : {}),
  };
}

/** The sum of several sums. */
export function sumOfSums(sums: readonly UsageSum[]): UsageSum {
  const add = (valueOf: (sum: UsageSum) => number | undefined) =>
    sums.reduce((total, sum) => total + (valueOf(sum) ?? 0), 0);
  return {
    iterations: add(({ iterations }) => iterations),
    ...(add(({ not_counted: idle }) => idle) === 0 ? {} : { not_counted: add(({ not_counted: idle }) => idle) }),
    tokens: add(({ tokens }) => tokens),
    input: add(({ input }) => input),
    cached: add(({ cached }) => cached),
    output: add(({ output }) => output),
    seconds: add(({ seconds }) => seconds),
    ...(sums.every(({ cost_usd }) => cost_usd === undefined)
      ? {}
      : { cost_usd: roundUsd(add(({ cost_usd }) => cost_usd)) }),
    ...(sums.some(({ estimated }) => estimated === true) ? { estimated: true as const } : {}),
    ...(sums.some(({ subscription }) => subscription === true) ? { subscription: true as const } : {}),
    ...(add(({ unreported }) => unreported) === 0 ? {} : { unreported: add(({ unreported }) => unreported) }),
    ...(add(({ unrecorded }) => unrecorded) === 0 ? {} : { unrecorded: add(({ unrecorded }) => unrecorded) }),
  };
}

function sumsBy(lines: readonly LedgerLine[], key: (line: LedgerLine) => string): Record<string, UsageSum> {
  const keys = [...new Set(lines.map(key))];
  return Object.fromEntries(keys.map((group) => [group, sumOf(lines.filter((line) => key(line) === group))]));
}

function divideUsage(sum: UsageSum, divisor: number): UsageSum {
  return {
    ...sum,
    tokens: Math.round(sum.tokens / divisor),
    input: Math.round(sum.input / divisor),
    cached: Math.round(sum.cached / divisor),
    output: Math.round(sum.output / divisor),
    seconds: sum.seconds / divisor,
    ...(sum.cost_usd === undefined ? {} : { cost_usd: roundUsd(sum.cost_usd / divisor) }),
  };
}

function maxContextShares(lines: readonly LedgerLine[], papers: ReadonlySet<string>): Record<string, number> {
  const shares: Record<string, number> = {};
  for (const { unit, context } of lines) {
    const kind = papers.has(unit) ? "paper" : unit.replace(/[-:]\d+$/, "");
    if (context !== undefined) shares[kind] = Math.max(shares[kind] ?? 0, context.share);
  }
  return shares;
}
