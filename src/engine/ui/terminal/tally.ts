import { usesAllowance } from "../../loop/stop-conditions/limits.js";
import type { Forecast, LoopEvent, Progress, Usage } from "../../loop/types.js";
import { withoutUndefined } from "../../lib/without-undefined.js";
import { awakeBetween, type Span } from "../../lib/clock.js";
import { count, duration, many, money } from "../../lib/words.js";

/**
 * What a watcher has to remember of a run: sums, and the iteration under way. Times are milliseconds since the epoch.
 */
export interface Tally {
  readonly startedAt?: number;
  /** Iterations in which the agent really worked; those that only met a closed service are free. */
  readonly iterations: number;
  /** Those others: a service was closed, or the agent could not be started. */
  readonly free?: number;
  /** Iterations that code alone did, without an agent. */
  readonly settled?: number;
  /** Input and output tokens of the iterations that ended. */
  readonly tokens: number;
  /** US dollars of the iterations that ended; undefined while none is known. */
  readonly cost_usd?: number;
  /** Part of that is our estimate. */
  readonly estimated?: true;
  /** Iterations whose agent worked and reported no cost. */
  readonly unreported?: number;
  readonly progress?: Progress;
  /** The phase of the unit that was begun last. */
  readonly phase?: string;
  /** The iteration that began last of those under way. */
  readonly current?: Current;
  /** The others under way, the oldest first. */
  readonly beside?: readonly Current[];
  /** What the rest will take. */
  readonly forecast?: Forecast;
}

/** The iteration under way. */
interface Current {
  readonly iteration: number;
  readonly title: string;
  readonly phase: string;
  readonly startedAt: number;
  readonly tokens: number;
  readonly cost_usd?: number;
  /** That cost is our estimate; the CLI may report one at its end. */
  readonly estimated?: boolean;
}

/** "critic 2 (codex): A title": a part of a unit that several agents share says first whose part it is. */
export function titleOf({ title, role, round = 1, agent }: Extract<LoopEvent, { type: "iteration-started" }>): string {
  if (role === undefined) return title;
  return `${partText(role, round)}${agent === undefined ? "" : ` (${agent})`}: ${title}`;
}

/** "critic 2": a part of a unit, and which time it is done where that is not the first. */
export const partText = (role: string, round = 1): string =>
  `${role.replaceAll("-", " ")}${round > 1 ? ` ${round}` : ""}`;

export const emptyTally: Tally = { iterations: 0, tokens: 0 };

/** Tokens in and out; what came from a provider's cache is part of `input`. */
export const tokensOf = (usage: Usage): number => usage.input + usage.output;

const add = (a: number | undefined, b: number | undefined): number | undefined => (a === undefined ? b : a + (b ?? 0));

/** The tally after one more event. Pure. */
export function addToTally(tally: Tally, event: LoopEvent): Tally {
  const at = Date.parse(event.at);
  switch (event.type) {
    case "run-started":
      return { ...tally, startedAt: at };
    case "iteration-started": {
      const { iteration, phase, progress, forecast } = event;
      const current = { iteration, title: titleOf(event), phase, startedAt: at, tokens: 0 };
      return { ...tally, phase, progress, current, beside: underWay(tally), forecast: forecast ?? tally.forecast };
    }
    case "agent": {
      const { iteration, event: agentEvent } = event;
      if (agentEvent.type !== "usage") return tally;
      const updated = underWay(tally).map((each) =>
        each.iteration === iteration
          ? {
              ...each,
              tokens: tokensOf(agentEvent.usage),
              ...(agentEvent.cost_usd === undefined ? {} : priceOf(agentEvent)),
            }
          : each,
      );
      return withRunning(tally, updated);
    }
    case "iteration-ended": {
      const { iteration, outcome, usage, cost_usd } = event;
      const isCounted = outcome.outcome !== "failed" || usesAllowance(outcome.failure.kind);
      const newTally = withRunning(
        tally,
        underWay(tally).filter((each) => each.iteration !== iteration),
      );
      return {
        ...newTally,
        iterations: tally.iterations + (isCounted ? 1 : 0),
        ...(isCounted ? {} : { free: (tally.free ?? 0) + 1 }),
        tokens: tally.tokens + tokensOf(usage),
        cost_usd: add(tally.cost_usd, cost_usd),
        ...(event.estimated === true ? { estimated: true as const } : {}),
        ...(isCounted && cost_usd === undefined ? { unreported: (tally.unreported ?? 0) + 1 } : {}),
      };
    }
    case "settled":
      return { ...tally, settled: (tally.settled ?? 0) + 1 };
    case "preparing":
      return { ...tally, phase: event.phase };
    case "history-compressed":
      return {
        ...tally,
        cost_usd: add(tally.cost_usd, event.cost_usd),
        tokens: tally.tokens + event.tokens,
        ...(event.estimated === true ? { estimated: true as const } : {}),
      };
    case "run-ended":
      return { ...tally, progress: event.progress ?? tally.progress };
    default:
      return tally;
  }
}

const priceOf = ({ cost_usd, estimated }: { readonly cost_usd?: number; readonly estimated?: true }) => ({
  cost_usd,
  estimated: estimated === true,
});

/** The iterations under way, the oldest first. */
export const underWay = ({ current, beside = [] }: Tally): readonly Current[] =>
  current === undefined ? beside : [...beside, current];

function withRunning(tally: Tally, iterations: readonly Current[]): Tally {
  const { current: _, beside: __, ...rest } = tally;
  const current = iterations.at(-1);
  return current === undefined ? rest : { ...rest, current, beside: iterations.slice(0, -1) };
}

/**
 * The sentence of a run that continues earlier runs, before its first iteration. `oldTally` is the tally without the
 * event.
 */
export function resumption(event: LoopEvent, oldTally: Tally): string | undefined {
  if (event.type !== "iteration-started" || oldTally.progress !== undefined || event.iteration === 1) return undefined;
  const { done, total } = event.progress;
  return `Continuing with iteration ${event.iteration}: ${done} of ${total} done.`;
}

/**
 * Tokens and money so far, the iteration under way included: "36.1k tokens · $0.12". Empty while there is nothing to
 * say.
 */
export function spent(tally: Tally): string {
  const running = underWay(tally);
  const tokens = running.reduce((sum, each) => sum + each.tokens, tally.tokens);
  const cost_usd = running.reduce((sum, each) => add(sum, each.cost_usd), tally.cost_usd);
  const estimated = tally.estimated === true || running.some((each) => each.estimated === true);
  const cost = { ...tally, ...withoutUndefined({ cost_usd }), ...(estimated ? { estimated: true as const } : {}) };
  const isSilent = cost_usd === undefined && tally.unreported === undefined;
  return [...spending(tokens, undefined), ...(isSilent ? [] : [unlabelledCost(cost)])].join(" · ");
}

/** Tokens and money, as far as known. */
export const spending = (tokens: number, cost_usd: number | undefined, estimated?: boolean): string[] => [
  ...(tokens > 0 ? [`${count(tokens)} tokens`] : []),
  ...(cost_usd === undefined ? [] : [moneyText(cost_usd, estimated)]),
];

/** "$0.12", or "≈ $0.12" where it is our estimate. */
export const moneyText = (cost_usd: number, estimated?: boolean): string =>
  `${estimated === true ? "≈ " : ""}${money(cost_usd)}`;

/** What is known of a cost. */
export interface KnownCost {
  /** US dollars; absent where no iteration has a cost. */
  readonly cost_usd?: number;
  /** Part of it is our estimate from a dated price table. */
  readonly estimated?: true;
  /** Iterations whose agent worked and whose cost nobody told, so that `cost_usd` is too small. */
  readonly unreported?: number;
  /** Iterations before the first that the ledger holds, so that their records are missing. */
  readonly unrecorded?: number;
}

/** What some iterations used up. */
export interface Sum extends KnownCost {
  /** Those in which an agent got to work, or code alone did it: as the limit of a run counts them. */
  readonly iterations: number;
  /** The others: a service was closed, or the agent could not be started. Absent: none. */
  readonly not_counted?: number;
  /** In and out, cached ones included. */
  readonly tokens: number;
  /** The parts of `tokens`; `cached` is part of `input`. */
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  /** Time in which agents worked. */
  readonly seconds: number;
  /** Part of it was used under a subscription: the dollars are what it would cost by API. */
  readonly subscription?: true;
}

/** "$0.12", "at least $0.12; 22 iterations reported no cost", or "not known" where nothing was reported. */
export const costText = (cost: KnownCost): string =>
  [shortCost(cost), ...(isCostKnown(cost) ? missingCosts(cost) : [])].join("; ");

/** Of how many iterations the cost is not known, and why; empty where all of it is. */
export const missingCosts = ({ unreported = 0, unrecorded = 0 }: KnownCost): string[] => [
  ...(unreported === 0 ? [] : [`${many(unreported, "iteration")} reported no cost`]),
  ...(unrecorded === 0 ? [] : [`the records of ${many(unrecorded, "iteration")} are missing`]),
];

/** Whether something of it is known; what agents without a model cost says nothing of those that reported none. */
export const isCostKnown = ({ cost_usd: usd = 0, unreported = 0, unrecorded = 0 }: KnownCost): boolean =>
  usd > 0 || unreported + unrecorded === 0;

/** The same without the count: "$0.12", "at least $0.12", "not known". */
export const shortCost = (cost: KnownCost): string => {
  const { cost_usd: usd = 0, estimated, unreported = 0, unrecorded = 0 } = cost;
  if (!isCostKnown(cost)) return "not known";
  return `${unreported + unrecorded === 0 ? "" : "at least "}${moneyText(usd, estimated)}`;
};

/** The same where no label says that it is a cost: "cost not known". */
export const unlabelledCost = (cost: KnownCost): string => `${isCostKnown(cost) ? "" : "cost "}${shortCost(cost)}`;

/** "$1.42", or "$0.95 to $1.90" where the model is not known. */
const rangeText = ({ cost_usd, cost_usd_most }: Pick<Forecast, "cost_usd" | "cost_usd_most">): string | undefined =>
  cost_usd === undefined
    ? undefined
    : `${money(cost_usd)}${cost_usd_most === undefined ? "" : ` to ${money(cost_usd_most)}`}`;

/** "≈ 430k tokens, $1.42, 1h 10m of work left, in 14 iterations (12 records)". */
export function forecastText({ left, iterations, tokens, seconds, ...cost }: Forecast): string {
  const unitText = left === undefined ? "" : ` (${left})`;
  const price = rangeText(cost) ?? "cost not known";
  return `≈ ${count(tokens)} tokens, ${price}, ${duration(seconds * 1000)} of work left, in ${many(iterations, "iteration")}${unitText}`;
}

/** The same in short, for a line that says more: "≈ $1.42 and 1h 10m left"; tokens where the money is not known. */
export function leftText({ tokens, seconds, ...cost }: Forecast): string {
  const price = rangeText(cost) ?? `${count(tokens)} tokens`;
  return `≈ ${price} and ${duration(seconds * 1000)} left`;
}

/** The same, with what it rests on. */
export const wholeForecast = (forecast: Forecast): string =>
  `Forecast: ${forecastText(forecast)}; estimated from ${forecast.from}.`;

/**
 * "12 iterations in 14m 20s, 2 of them without an agent"; those in which an agent did not get to work do not count, and
 * are named.
 */
function countText({ iterations, free = 0, settled = 0 }: Tally, time: string): string {
  const all = iterations + settled;
  if (all === 0 && free > 0) return `the agent never got to work, so no iteration counts · ${time}`;
  const without = settled === 0 ? "" : `, ${settled} of them without an agent`;
  const idle = free === 0 ? "" : `, and ${free} in which the agent did not get to work`;
  return `${many(all, "iteration")} in ${time}${without}${idle}`;
}

/** ", and 2 that do not count: no agent got to work", behind a count of iterations; empty where all count. */
export const idleText = (idle = 0): string =>
  idle === 0 ? "" : `, and ${idle} that ${idle === 1 ? "does" : "do"} not count: no agent got to work`;

/** The whole run at its end: "12 iterations in 14m 20s · 430k tokens · $1.42". */
export function summary(tally: Tally, endedAt: number, sleeps?: readonly Span[]): string {
  const awakeMs = awakeBetween(tally.startedAt ?? endedAt, endedAt, sleeps);
  const parts = [countText(tally, duration(awakeMs)), spent(tally)];
  return parts.filter((part) => part !== "").join(" · ");
}
