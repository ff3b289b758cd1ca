import type { LoopEvent, Progress, Usage } from "../loop/types.js";
import { count, duration, many, money } from "./format.js";

/** What a watcher has to remember of a run: sums, and the iteration under way. Times are milliseconds since the epoch. */
export interface Tally {
  readonly startedAt?: number;
  /** Iterations in which the agent really worked; those that only met a closed service are free. */
  readonly iterations: number;
  /** Input and output tokens of the iterations that ended. */
  readonly tokens: number;
  /** As reported by the CLIs; undefined while none reported any. */
  readonly costUsd?: number;
  readonly progress?: Progress;
  readonly current?: Current;
}

/** The iteration under way. */
export interface Current {
  readonly iteration: number;
  readonly title: string;
  readonly phase: string;
  readonly startedAt: number;
  readonly tokens: number;
  readonly costUsd?: number;
}

export const emptyTally: Tally = { iterations: 0, tokens: 0 };

/** Tokens in and out; what came from a provider's cache is part of `input`. */
export const tokensOf = (usage: Usage): number => usage.input + usage.output;

const free: ReadonlySet<string> = new Set(["rate-limit", "network", "auth"]);
const add = (a: number | undefined, b: number | undefined): number | undefined => (a === undefined ? b : a + (b ?? 0));

/** The tally after one more event. Pure. */
export function tallied(tally: Tally, event: LoopEvent): Tally {
  const at = Date.parse(event.at);
  switch (event.type) {
    case "run-started":
      return { ...tally, startedAt: at };
    case "iteration-started": {
      const { iteration, title, phase, progress } = event;
      return { ...tally, progress, current: { iteration, title, phase, startedAt: at, tokens: 0 } };
    }
    case "agent": {
      if (event.event.type !== "usage" || tally.current === undefined) return tally;
      return { ...tally, current: { ...tally.current, tokens: tokensOf(event.event.usage), costUsd: event.event.costUsd ?? tally.current.costUsd } };
    }
    case "iteration-ended": {
      const { outcome, usage, costUsd } = event;
      const worked = outcome.outcome !== "failed" || !free.has(outcome.failure.kind);
      const { current: _ended, ...rest } = tally;
      return {
        ...rest,
        iterations: tally.iterations + (worked ? 1 : 0),
        tokens: tally.tokens + tokensOf(usage),
        costUsd: add(tally.costUsd, costUsd),
      };
    }
    case "run-ended":
      return { ...tally, progress: event.progress ?? tally.progress };
    default:
      return tally;
  }
}

/** What a run that carries on what earlier ones began says before its first iteration. `before` is the tally without the event. */
export function resumption(event: LoopEvent, before: Tally): string | undefined {
  if (event.type !== "iteration-started" || before.progress !== undefined || event.iteration === 1) return undefined;
  const { done, total } = event.progress;
  return `Going on with iteration ${event.iteration}: ${done} of ${total} papers done.`;
}

/** Tokens and money so far, the iteration under way included: "36.1k tokens · $0.12". Empty while there is nothing to say. */
export function spent(tally: Tally): string {
  const tokens = tally.tokens + (tally.current?.tokens ?? 0);
  return spending(tokens, add(tally.costUsd, tally.current?.costUsd)).join(" · ");
}

/** Tokens and money, as far as known. */
export const spending = (tokens: number, costUsd: number | undefined): string[] => [
  ...(tokens > 0 ? [`${count(tokens)} tokens`] : []),
  ...(costUsd === undefined ? [] : [money(costUsd)]),
];

/** The whole run at its end: "12 iterations · 14m 20s · 430k tokens · $1.42". */
export function summary(tally: Tally, endedAt: number): string {
  const parts = [many(tally.iterations, "iteration"), duration(endedAt - (tally.startedAt ?? endedAt)), spent(tally)];
  return parts.filter((part) => part !== "").join(" · ");
}
