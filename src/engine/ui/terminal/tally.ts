import { countsTowardLimit } from "../../loop/stop-conditions/limits.js";
import type { Failure, Forecast, LoopEvent, Outcome, Progress, Usage } from "../../loop/types.js";
import { withoutUndefined } from "../../lib/without-undefined.js";
import { awakeBetween, type Span } from "../../lib/clock.js";
import { oneLine } from "../../lib/sanitise.js";
import { shortCount, shortDuration, quantity, usdText } from "../../lib/words.js";

/** What a sink remembers of a run: sums, and the iterations under way. Times are milliseconds since the epoch. */
export interface Tally {
  readonly startedAt?: number;
  /** Iterations in which the agent worked. Iterations that failed because of the service are in `free`. */
  readonly iterations: number;
  /** Iterations that do not count: the service was not available, or the agent could not be started. */
  readonly free?: number;
  /** Iterations that code alone did, without an agent. */
  readonly settled?: number;
  /** Input and output tokens of the iterations that have ended. */
  readonly tokens: number;
  /** US dollars of the iterations that have ended; undefined if no cost is known. */
  readonly cost_usd?: number;
  /** True: `cost_usd` contains estimates. */
  readonly estimated?: true;
  /** Iterations whose agent worked and reported no cost. */
  readonly unreported?: number;
  readonly progress?: Progress;
  /** What was wrong with the last result; absent after one that was accepted. */
  readonly problem?: string;
  /** The phase of the newest unit. */
  readonly phase?: string;
  /** The newest iteration under way. */
  readonly current?: RunningIteration;
  /** The other iterations under way, oldest first. */
  readonly beside?: readonly RunningIteration[];
  /** The forecast for the rest. */
  readonly forecast?: Forecast;
}

/** An iteration under way. */
interface RunningIteration {
  readonly iteration: number;
  readonly title: string;
  readonly phase: string;
  readonly startedAt: number;
  readonly tokens: number;
  readonly cost_usd?: number;
  /** The cost is an estimate; the CLI may report one at its end. */
  readonly estimated?: boolean;
}

/** The title of an iteration: "critic 2: A title (codex)". If several roles share the unit, the role comes first. */
export function titleOf({ title, role, round = 1, agent }: Extract<LoopEvent, { type: "iteration-started" }>): string {
  if (role === undefined) return title;
  return `${partText(role, round)}: ${title}${agent === undefined ? "" : ` (${agent})`}`;
}

/** The role and, from the second time on, the round: "critic 2". */
export const partText = (role: string, round = 1): string =>
  `${role.replaceAll("-", " ")}${round > 1 ? ` ${round}` : ""}`;

export const emptyTally: Tally = { iterations: 0, tokens: 0 };

/** Input and output tokens; tokens from a provider's cache are part of `input`. */
export const tokensOf = (usage: Usage): number => usage.input + usage.output;

const addOptional = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined ? b : a + (b ?? 0);

/** The tally after one more event. Pure. */
export function addToTally(tally: Tally, event: LoopEvent): Tally {
  const time = Date.parse(event.at);
  switch (event.type) {
    case "run-started":
      return { ...tally, startedAt: time };
    case "iteration-started": {
      const { iteration, phase, progress, forecast } = event;
      const current = { iteration, title: titleOf(event), phase, startedAt: time, tokens: 0 };
      return {
        ...tally,
        phase,
        progress,
        current,
        beside: runningIterations(tally),
        forecast: forecast ?? tally.forecast,
      };
    }
    case "agent": {
      const { iteration, event: agentEvent } = event;
      if (agentEvent.type !== "usage") return tally;
      const updated = runningIterations(tally).map((iterationUnderWay) =>
        iterationUnderWay.iteration === iteration
          ? {
              ...iterationUnderWay,
              tokens: tokensOf(agentEvent.usage),
              ...(agentEvent.cost_usd === undefined ? {} : priceOf(agentEvent)),
            }
          : iterationUnderWay,
      );
      return withRunning(tally, updated);
    }
    case "iteration-ended": {
      const { iteration, outcome, usage, cost_usd } = event;
      const isCounted = outcome.outcome !== "failed" || countsTowardLimit(outcome.failure.kind);
      const { problem: _, ...newTally } = withRunning(
        tally,
        runningIterations(tally).filter((running) => running.iteration !== iteration),
      );
      return {
        ...newTally,
        ...withoutUndefined({ problem: problemOf(outcome) }),
        iterations: tally.iterations + (isCounted ? 1 : 0),
        ...(isCounted ? {} : { free: (tally.free ?? 0) + 1 }),
        tokens: tally.tokens + tokensOf(usage),
        cost_usd: addOptional(tally.cost_usd, cost_usd),
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
        cost_usd: addOptional(tally.cost_usd, event.cost_usd),
        tokens: tally.tokens + event.tokens,
        ...(event.estimated === true ? { estimated: true as const } : {}),
      };
    case "run-ended":
      return { ...tally, progress: event.progress ?? tally.progress };
    default:
      return tally;
  }
}

/**
 * The reason of a failed agent. For a missing program without the advice, because the verdict of the run repeats that.
 */
export const failureText = ({ kind, message }: Failure): string =>
  kind === "missing" ? (message.split("; ")[0] ?? message) : message;

/** Why a result was refused or its iteration failed, as a clause; undefined for others. */
export const problemOf = (outcome: Outcome): string | undefined => {
  if (outcome.outcome === "failed") return oneLine(failureText(outcome.failure));
  return outcome.outcome === "refused" ? oneLine(`refused: ${outcome.reasons.join("; ")}`) : undefined;
};

const priceOf = ({ cost_usd, estimated }: { readonly cost_usd?: number; readonly estimated?: true }) => ({
  cost_usd,
  estimated: estimated === true,
});

/** The iterations under way, oldest first. */
export const runningIterations = ({ current, beside = [] }: Tally): readonly RunningIteration[] =>
  current === undefined ? beside : [...beside, current];

function withRunning(tally: Tally, iterations: readonly RunningIteration[]): Tally {
  const { current: _, beside: __, ...otherFields } = tally;
  const current = iterations.at(-1);
  return current === undefined ? otherFields : { ...otherFields, current, beside: iterations.slice(0, -1) };
}

/**
 * The message of a run that continues earlier runs, before its first iteration; undefined for other events. `oldTally`:
 * the tally without the event.
 */
export function resumption(event: LoopEvent, oldTally: Tally): string | undefined {
  if (event.type !== "iteration-started" || oldTally.progress !== undefined || event.iteration === 1) return undefined;
  const { done, total } = event.progress;
  return `Continuing with iteration ${event.iteration}: ${done} of ${total} done.`;
}

/** Tokens and cost so far, including the iterations under way: "36.1k tokens · $0.12". Empty if both are unknown. */
export function usageSoFar(tally: Tally): string {
  const running = runningIterations(tally);
  const tokens = running.reduce((sum, running) => sum + running.tokens, tally.tokens);
  const cost_usd = running.reduce((sum, running) => addOptional(sum, running.cost_usd), tally.cost_usd);
  const estimated = tally.estimated === true || running.some((running) => running.estimated === true);
  const cost = { ...tally, ...withoutUndefined({ cost_usd }), ...(estimated ? { estimated: true as const } : {}) };
  const isSilent = cost_usd === undefined && tally.unreported === undefined;
  return [...usageParts(tokens, undefined), ...(isSilent ? [] : [unlabelledCost(cost)])].join(" · ");
}

/** Tokens and cost, if known. */
export const usageParts = (tokens: number, cost_usd: number | undefined, estimated?: boolean): string[] => [
  ...(tokens > 0 ? [`${shortCount(tokens)} tokens`] : []),
  ...(cost_usd === undefined ? [] : [moneyText(cost_usd, estimated)]),
];

/** "$0.12", or "≈ $0.12" for an estimate. */
export const moneyText = (cost_usd: number, estimated?: boolean): string =>
  `${estimated === true ? "≈ " : ""}${usdText(cost_usd)}`;

/** A cost, and how much of it is known. */
export interface KnownCost {
  /** US dollars; absent if no iteration has a cost. */
  readonly cost_usd?: number;
  /** True: part of it is an estimate from a dated price table. */
  readonly estimated?: true;
  /** Iterations that worked but reported no cost, so `cost_usd` is too small. */
  readonly unreported?: number;
  /** Iterations before the first one in the ledger; their records are missing. */
  readonly unrecorded?: number;
}

/** The total usage of some iterations. */
export interface UsageSum extends KnownCost {
  /** Iterations in which an agent worked, or that needed no agent; these count for the limit of a run. */
  readonly iterations: number;
  /** Other iterations: the service was not available, or the agent could not be started. Absent: none. */
  readonly not_counted?: number;
  /** Input and output tokens, including cached ones. */
  readonly tokens: number;
  /** The parts of `tokens`; `cached` is part of `input`. */
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  /** Working time of agents in seconds. */
  readonly seconds: number;
  /** True: part of it was used under a subscription; `cost_usd` is then the price of the API. */
  readonly subscription?: true;
}

/** "$0.12", "at least $0.12; 22 iterations reported no cost", or "not known" where nothing was reported. */
export const costText = (cost: KnownCost): string =>
  [shortCost(cost), ...(isCostKnown(cost) ? missingCosts(cost) : [])].join("; ");

/** Whether any agent reported tokens, or none had to. */
export const areTokensKnown = ({ tokens, unreported = 0 }: Pick<UsageSum, "tokens" | "unreported">): boolean =>
  tokens > 0 || unreported === 0;

/** `part` of the tokens as `format` writes it; "not known" where no agent reported any. */
export const tokensText = (
  sum: Pick<UsageSum, "tokens" | "unreported">,
  part: number,
  format: (count: number) => string,
): string => (areTokensKnown(sum) ? format(part) : "not known");

/** "12.0k tokens", "tokens not known". */
export const unlabelledTokens = (sum: Pick<UsageSum, "tokens" | "unreported">): string =>
  areTokensKnown(sum) ? `${shortCount(sum.tokens)} tokens` : "tokens not known";

/** How many iterations have no cost, and why; empty if all have one. */
export const missingCosts = ({ unreported = 0, unrecorded = 0 }: KnownCost): string[] => [
  ...(unreported === 0 ? [] : [`${quantity(unreported, "iteration")} reported no cost`]),
  ...(unrecorded === 0 ? [] : [`the records of ${quantity(unrecorded, "iteration")} are missing`]),
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

/** "$1.42", or "$0.95 to $1.90" if the model is not known. */
const rangeText = ({ cost_usd, cost_usd_most }: Pick<Forecast, "cost_usd" | "cost_usd_most">): string | undefined =>
  cost_usd === undefined
    ? undefined
    : `${usdText(cost_usd)}${cost_usd_most === undefined ? "" : ` to ${usdText(cost_usd_most)}`}`;

/** "≈ 430k tokens, $1.42, 1h 10m"; what is not known is named. */
export function usageText({ tokens, seconds, ...cost }: ForecastUsage): string {
  const price = rangeText(cost);
  const amounts = `≈ ${shortCount(tokens)} tokens, ${price ?? (seconds === undefined ? "cost and time" : "cost")}${price === undefined ? " not known" : ""}`;
  if (seconds !== undefined) return `${amounts}, ${shortDuration(seconds * 1000)}`;
  return price === undefined ? amounts : `${amounts}, time not known`;
}

type ForecastUsage = Pick<Forecast, "tokens" | "seconds" | "cost_usd" | "cost_usd_most">;

/** "≈ 430k tokens, $1.42, 1h 10m of work left, in 14 iterations (12 records)". */
export function forecastText({ left: remaining, iterations, ...usage }: Forecast): string {
  const unitText = remaining === undefined ? "" : ` (${remaining})`;
  const workText = usage.seconds === undefined ? "" : " of work left";
  return `${usageText(usage)}${workText}, in ${quantity(iterations, "iteration")}${unitText}`;
}

/** A short form for longer lines: "≈ $1.42 and 1h 10m left"; with tokens if the cost is not known. */
export function shortForecastText({ tokens, seconds, ...cost }: ForecastUsage): string {
  const price = rangeText(cost) ?? `${shortCount(tokens)} tokens`;
  return `≈ ${price}${seconds === undefined ? "" : ` and ${shortDuration(seconds * 1000)}`} left`;
}

/** The forecast and its basis, as a sentence. */
export const forecastSentence = (forecast: Forecast): string =>
  `Forecast: ${forecastText(forecast)}; estimated from ${forecast.from}.`;

/** "12 iterations in 14m 20s, 2 of them without an agent"; those that do not count are named. */
function countText({ iterations, free = 0, settled = 0 }: Tally, time: string): string {
  const all = iterations + settled;
  if (all === 0 && free > 0) return `the agent never got to work, so no iteration counts · ${time}`;
  const without = settled === 0 ? "" : `, ${settled} of them without an agent`;
  return `${quantity(all, "iteration")} in ${time}${without}${idleText(free)}`;
}

/** "#5 reads p1"; the text alone where the iterations of a run are not numbered. */
export const numberedText = (iteration: number, text: string, isNumbered: boolean): string =>
  isNumbered ? `#${iteration} ${text}` : text;

/** ", and 2 that do not count: no agent got to work", after a count of iterations; empty if all count. */
export const idleText = (idle = 0): string =>
  idle === 0 ? "" : `, and ${idle} that ${idle === 1 ? "does" : "do"} not count: no agent got to work`;

/** The whole run at its end: "12 iterations in 14m 20s · 430k tokens · $1.42". */
export function summary(tally: Tally, endedAt: number, sleeps?: readonly Span[]): string {
  const awakeMs = awakeBetween(tally.startedAt ?? endedAt, endedAt, sleeps);
  const parts = [countText(tally, shortDuration(awakeMs)), usageSoFar(tally)];
  return parts.filter((part) => part !== "").join(" · ");
}
