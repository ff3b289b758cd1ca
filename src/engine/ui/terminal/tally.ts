import { countsTowardLimit } from "../../loop/stop-conditions/limits.js";
import type { Failure, Forecast, LoopEvent, Outcome, Progress, Usage, Verdict } from "../../loop/types.js";
import { withoutUndefined } from "../../lib/without-undefined.js";
import { awakeBetween, type Span } from "../../lib/clock.js";
import { oneLine } from "../../lib/sanitise.js";
import { shortCount, shortDuration, quantity, usdText } from "../../lib/words.js";

/** The facts of a run that a sink needs: sums, and the iterations under way. Times are milliseconds since the epoch. */
export interface Tally {
  readonly startedAt?: number;
  /** Maximum number of agents at work at the same time; absent: one. */
  readonly jobs?: number;
  /** Number of iterations that count toward the limit of the run. */
  readonly iterations: number;
  /** Number of iterations that do not count: the service was not available, or the agent could not be started. */
  readonly uncounted?: number;
  /** Number of iterations that needed no agent. */
  readonly withoutAgent?: number;
  /** Input and output tokens of the iterations that have ended. */
  readonly tokens: number;
  /** US dollars of the iterations that have ended; undefined if no cost is known. */
  readonly cost_usd?: number;
  /** True: `cost_usd` contains estimates. */
  readonly estimated?: true;
  /** Number of iterations whose agent worked but reported no cost. */
  readonly unreported?: number;
  readonly progress?: Progress;
  /** Why the last result was refused or the last iteration failed; absent after an accepted result. */
  readonly problem?: string;
  /** The phase of the newest unit. */
  readonly phase?: string;
  /** The newest iteration under way. */
  readonly newestIteration?: RunningIteration;
  /** The other iterations under way, oldest first. */
  readonly otherIterations?: readonly RunningIteration[];
  /** The forecast for the remaining work. */
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
  /** Whether the cost is an estimate; the CLI may report the real cost at its end. */
  readonly estimated?: boolean;
}

/** The title of an iteration. If several roles share the unit, with the role: "critic 2: A title (codex)". */
export function titleOf({ title, role, round = 1, agent }: Extract<LoopEvent, { type: "iteration-started" }>): string {
  if (role === undefined) return title;
  return `${roleWithRound(role, round)}: ${title}${agent === undefined ? "" : ` (${agent})`}`;
}

/** The role, and from the second round on the number of the round: "critic 2". */
export const roleWithRound = (role: string, round = 1): string =>
  `${role.replaceAll("-", " ")}${round > 1 ? ` ${round}` : ""}`;

export const emptyTally: Tally = { iterations: 0, tokens: 0 };

/** The number of input and output tokens; tokens from a provider's cache are part of `input`. */
export const tokensOf = (usage: Usage): number => usage.input + usage.output;

const addOptional = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined ? b : a + (b ?? 0);

/** The tally after one more event. Pure. */
export function addToTally(tally: Tally, event: LoopEvent): Tally {
  const time = Date.parse(event.at);
  switch (event.type) {
    case "run-started":
      return { ...tally, startedAt: time, ...withoutUndefined({ jobs: event.jobs }) };
    case "iteration-started": {
      const { iteration, phase, progress, forecast } = event;
      const current = { iteration, title: titleOf(event), phase, startedAt: time, tokens: 0 };
      return {
        ...tally,
        phase,
        progress,
        newestIteration: current,
        otherIterations: runningIterations(tally),
        forecast: forecast ?? tally.forecast,
      };
    }
    case "agent": {
      const { iteration, event: agentEvent } = event;
      if (agentEvent.type !== "usage") return tally;
      const updatedIterations = runningIterations(tally).map((iterationUnderWay) =>
        iterationUnderWay.iteration === iteration
          ? {
              ...iterationUnderWay,
              tokens: tokensOf(agentEvent.usage),
              ...(agentEvent.cost_usd === undefined ? {} : costFields(agentEvent)),
            }
          : iterationUnderWay,
      );
      return withRunning(tally, updatedIterations);
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
        ...(isCounted ? {} : { uncounted: (tally.uncounted ?? 0) + 1 }),
        tokens: tally.tokens + tokensOf(usage),
        cost_usd: addOptional(tally.cost_usd, cost_usd),
        ...(event.estimated === true ? { estimated: true as const } : {}),
        ...(isCounted && cost_usd === undefined ? { unreported: (tally.unreported ?? 0) + 1 } : {}),
      };
    }
    case "settled":
      return { ...tally, withoutAgent: (tally.withoutAgent ?? 0) + 1 };
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
 * The reason of a failure. For a missing program the advice is omitted, because the verdict of the run contains it.
 */
export const failureText = ({ kind, message }: Failure): string =>
  kind === "missing" ? (message.split("; ")[0] ?? message) : message;

/** Why a result was refused or an iteration failed; undefined for other outcomes. */
export const problemOf = (outcome: Outcome): string | undefined => {
  if (outcome.outcome === "failed") return oneLine(failureText(outcome.failure));
  return outcome.outcome === "refused" ? oneLine(`refused: ${outcome.reasons.join("; ")}`) : undefined;
};

const costFields = ({ cost_usd, estimated }: { readonly cost_usd?: number; readonly estimated?: true }) => ({
  cost_usd,
  estimated: estimated === true,
});

/** The iterations under way, oldest first. */
export const runningIterations = ({ newestIteration, otherIterations = [] }: Tally): readonly RunningIteration[] =>
  newestIteration === undefined ? otherIterations : [...otherIterations, newestIteration];

function withRunning(tally: Tally, iterations: readonly RunningIteration[]): Tally {
  const { newestIteration: _, otherIterations: __, ...otherFields } = tally;
  const current = iterations.at(-1);
  return current === undefined
    ? otherFields
    : { ...otherFields, newestIteration: current, otherIterations: iterations.slice(0, -1) };
}

/**
 * The message of a run that continues earlier runs, before its first iteration; undefined for other events. `oldTally`:
 * the tally without the event.
 */
export function resumptionText(event: LoopEvent, oldTally: Tally): string | undefined {
  if (event.type !== "iteration-started" || oldTally.progress !== undefined || event.iteration === 1) return undefined;
  return `Continuing with iteration ${event.iteration}: ${doneText(event.progress)} done.`;
}

/** The tokens and the cost of a run, including the iterations under way: "36.1k tokens · $0.12". Empty if unknown. */
export function usageSoFar(tally: Tally): string {
  const running = runningIterations(tally);
  const tokens = running.reduce((sum, running) => sum + running.tokens, tally.tokens);
  const cost_usd = running.reduce((sum, running) => addOptional(sum, running.cost_usd), tally.cost_usd);
  const estimated = tally.estimated === true || running.some((running) => running.estimated === true);
  const cost = { ...tally, ...withoutUndefined({ cost_usd }), ...(estimated ? { estimated: true as const } : {}) };
  const isCostUnknown = cost_usd === undefined && tally.unreported === undefined;
  return [...usageParts(tokens, undefined), ...(isCostUnknown ? [] : [unlabelledCost(cost)])].join(" · ");
}

/** Texts for the tokens and the cost, if they are known. */
export const usageParts = (tokens: number, cost_usd: number | undefined, estimated?: boolean): string[] => [
  ...(tokens > 0 ? [`${shortCount(tokens)} tokens`] : []),
  ...(cost_usd === undefined ? [] : [moneyText(cost_usd, estimated)]),
];

/** "$0.12", or "≈ $0.12" for an estimate. */
export const moneyText = (cost_usd: number, estimated?: boolean): string =>
  `${estimated === true ? "≈ " : ""}${usdText(cost_usd)}`;

/** A cost of which a part may be unknown. */
export interface KnownCost {
  /** US dollars; absent if no iteration has a cost. */
  readonly cost_usd?: number;
  /** True: part of it is an estimate from a dated price table. */
  readonly estimated?: true;
  /** Number of iterations that reported no cost, so that `cost_usd` is too small. */
  readonly unreported?: number;
  /** Number of iterations whose lines are missing in the ledger. */
  readonly unrecorded?: number;
}

/** The total usage of some iterations. */
export interface UsageSum extends KnownCost {
  /** Number of iterations in which an agent worked, or that needed no agent. */
  readonly iterations: number;
  /** Number of other iterations: the service was not available, or the agent could not be started. Absent: 0. */
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

/** "$0.12", "at least $0.12; 22 iterations reported no cost", or "not known" if no cost was reported. */
export const costText = (cost: KnownCost): string =>
  [shortCost(cost), ...(isCostKnown(cost) ? missingCosts(cost) : [])].join("; ");

/** Whether tokens were reported, or no iteration failed to report its usage. */
export const areTokensKnown = ({ tokens, unreported = 0 }: Pick<UsageSum, "tokens" | "unreported">): boolean =>
  tokens > 0 || unreported === 0;

/** A part of the tokens as `format` writes it, or "not known" if no agent reported tokens. */
export const tokensText = (
  sum: Pick<UsageSum, "tokens" | "unreported">,
  part: number,
  format: (count: number) => string,
): string => (areTokensKnown(sum) ? format(part) : "not known");

/** "12.0k tokens", "tokens not known". */
export const unlabelledTokens = (sum: Pick<UsageSum, "tokens" | "unreported">): string =>
  areTokensKnown(sum) ? `${shortCount(sum.tokens)} tokens` : "tokens not known";

/** Texts that say how many iterations have no cost, and why; empty if all have a cost. */
export const missingCosts = ({ unreported = 0, unrecorded = 0 }: KnownCost): string[] => [
  ...(unreported === 0 ? [] : [`${quantity(unreported, "iteration")} reported no cost`]),
  ...(unrecorded === 0 ? [] : [`the records of ${quantity(unrecorded, "iteration")} are missing`]),
];

/** Whether a part of the cost is known. A cost of 0 of agents without a model says nothing about unreported costs. */
export const isCostKnown = ({ cost_usd: usd = 0, unreported = 0, unrecorded = 0 }: KnownCost): boolean =>
  usd > 0 || unreported + unrecorded === 0;

/** As `costText`, without the number of iterations: "$0.12", "at least $0.12", "not known". */
export const shortCost = (cost: KnownCost): string => {
  const { cost_usd: usd = 0, estimated, unreported = 0, unrecorded = 0 } = cost;
  if (!isCostKnown(cost)) return "not known";
  return `${unreported + unrecorded === 0 ? "" : "at least "}${moneyText(usd, estimated)}`;
};

/** As `shortCost`, for a place without a label that says it is a cost: "cost not known". */
export const unlabelledCost = (cost: KnownCost): string => `${isCostKnown(cost) ? "" : "cost "}${shortCost(cost)}`;

/** The cost of a forecast: "$1.42", or "$0.95 to $1.90" if the model is not known. */
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

/** "12 iterations in 14m 20s, 2 of them without an agent", and the number of iterations that do not count. */
function countText({ iterations, uncounted = 0, withoutAgent = 0 }: Tally, time: string): string {
  const all = iterations + withoutAgent;
  if (all === 0 && uncounted > 0) return `the agent never started to work, so no iteration counts · ${time}`;
  const withoutAgentText = withoutAgent === 0 ? "" : `, ${withoutAgent} of them without an agent`;
  return `${quantity(all, "iteration")} in ${time}${withoutAgentText}${uncountedText(uncounted)}`;
}

/** "#5 reads p1"; only the text if the iterations of a run are not numbered. */
export const numberedText = (iteration: number, text: string, isNumbered: boolean): string =>
  isNumbered ? `#${iteration} ${text}` : text;

/** "claude", "claude, 3 at a time". */
export const agentsText = (agent: string, jobs: number | undefined): string =>
  `${agent}${jobs === undefined ? "" : `, ${jobs} at a time`}`;

/** "3 of 8 papers". */
export const doneText = ({ done, total, noun }: Progress): string =>
  `${done} of ${noun === undefined ? total : quantity(total, noun)}`;

/** "complete: The report is written."; only the reason after a step outside of a project or a task, which may go on. */
export const verdictText = ({ verdict, reason }: Verdict, isNumbered: boolean): string =>
  verdict === "complete" && !isNumbered ? reason : `${verdict}: ${reason}`;

/** ", and 2 that do not count: no agent started to work", after a count of iterations; empty if all count. */
export const uncountedText = (uncountedCount = 0): string =>
  uncountedCount === 0
    ? ""
    : `, and ${uncountedCount} that ${uncountedCount === 1 ? "does" : "do"} not count: no agent started to work`;

/** The summary of a run at its end: "12 iterations in 14m 20s · 430k tokens · $1.42". */
export function summaryText(tally: Tally, endedAt: number, sleeps?: readonly Span[]): string {
  const awakeMs = awakeBetween(tally.startedAt ?? endedAt, endedAt, sleeps);
  const parts = [countText(tally, shortDuration(awakeMs)), usageSoFar(tally)];
  return parts.filter((part) => part !== "").join(" · ");
}
