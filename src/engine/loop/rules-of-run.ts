import { limitBudget, reviewBudget, watchBudget, withAllowance } from "./stop-conditions/budget.js";
import { watchContext } from "./stop-conditions/context-window.js";
import { stopOnSignal, limitIterations, limitWallTime, stopOnFiles } from "./stop-conditions/limits.js";
import { firstAble, stopAfterFailures, withinWallTime } from "./retry.js";
import type { Agent, Budget, Choose, StopCondition, LoopOptions, RunSoFar, Words } from "./types.js";
import { given } from "../lib/given.js";

/** Agents by the role of a unit. */
export type Roles = Readonly<Record<string, readonly Agent[]>>;

/** What a person set for a run. Times are milliseconds. */
interface RuleSettings {
  /** The first choice first. */
  readonly agents: readonly Agent[];
  /** Agents of roles that have their own, the first choice first. Every other unit is for `agents`. */
  readonly roles?: Roles;
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
  /** Further stop conditions. */
  readonly more?: readonly StopCondition[];
}

/** The rules by which a run stops, waits and chooses its agents. */
export function rulesFor(
  settings: RuleSettings,
): Pick<LoopOptions, "stopConditions" | "choose" | "watches" | "reviews"> {
  const { agents, roles = {}, iterations, budget, words, maxMs, patienceMs, finish, folder, more = [] } = settings;
  const choose = withAllowance(budget, byRole(agents, roles, patienceMs));
  const bounded: Choose = maxMs === undefined ? choose : withinWallTime(maxMs, choose);
  return {
    stopConditions: [
      stopOnSignal(finish),
      ...(folder === undefined ? [] : [stopOnFiles(folder)]),
      maxMs === undefined ? stopAfterFailures : withinWallTime(maxMs, (soFar: RunSoFar) => stopAfterFailures(soFar)),
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

/** The first agent that can work, of those of the unit's role where it has its own. */
function byRole(agents: readonly Agent[], roles: Roles, patienceMs: number): Choose {
  const own = new Map(Object.entries(roles).map(([role, theirs]) => [role, firstAble(theirs, patienceMs)]));
  const others = firstAble(agents, patienceMs);
  return (soFar, { role = "" }) => {
    const chosen = own.get(role)?.(soFar);
    if (chosen === undefined) return others(soFar);
    const first = roles[role]?.[0]?.name;
    return "agent" in chosen ? { ...chosen, ...given({ first }) } : chosen;
  };
}
