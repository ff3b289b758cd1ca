import { limitBudget, reviewBudget, watchBudget, withAllowance } from "./guards/budget.js";
import { watchContext } from "./guards/context-window.js";
import { guardSignals, limitIterations, limitWallTime, watchFiles } from "./guards/limits.js";
import { firstAble, guardFailures, withinWallTime } from "./guards/retry.js";
import type { Agent, Budget, Choose, Guard, LoopOptions, RunSoFar, Words } from "./types.js";

/** What a person set for a run. Times are milliseconds. */
interface RuleSettings {
  /** The first choice first. */
  readonly agents: readonly Agent[];
  /** Most iterations. */
  readonly iterations: number;
  readonly budget: Budget;
  readonly words: Words;
  /** Most wall time; undefined: no limit. */
  readonly maxMs?: number;
  readonly patienceMs: number;
  readonly finish: AbortSignal;
  /** Whose PAUSE and STOP files count. */
  readonly folder?: string;
  /** Guards beside these. */
  readonly more?: readonly Guard[];
}

/** The rules by which a run stops, waits and chooses its agents. */
export function rulesFor(settings: RuleSettings): Pick<LoopOptions, "guards" | "choose" | "watches" | "reviews"> {
  const { agents, iterations, budget, words, maxMs, patienceMs, finish, folder, more = [] } = settings;
  const choose = withAllowance(budget, firstAble(agents, patienceMs));
  const bounded: Choose = maxMs === undefined ? choose : withinWallTime(maxMs, choose);
  return {
    guards: [
      guardSignals(finish),
      ...(folder === undefined ? [] : [watchFiles(folder)]),
      maxMs === undefined ? guardFailures : withinWallTime(maxMs, (soFar: RunSoFar) => guardFailures(soFar)),
      // What it costs goes first: with both used up, more iterations would not help.
      limitBudget(words, budget),
      limitIterations(iterations),
      ...(maxMs === undefined ? [] : [limitWallTime(maxMs)]),
      ...more,
    ],
    choose: bounded,
    watches: [watchBudget(words, budget), watchContext],
    reviews: [reviewBudget(budget)],
  };
}
