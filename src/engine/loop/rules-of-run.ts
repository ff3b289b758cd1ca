import { limitBudget, reviewBudget, watchBudget, withAllowance } from "./stop-conditions/budget.js";
import { watchContext } from "./stop-conditions/context-window.js";
import { stopWithoutResult } from "./stop-conditions/stuck.js";
import { stopOnSignal, limitIterations, limitWallTime, stopOnFiles } from "./stop-conditions/limits.js";
import { firstAble, stopAfterFailures, withinWallTime } from "./retry.js";
import type { Agent, Budget, Choose, StopCondition, LoopOptions, Rules, RunSoFar, Words } from "./types.js";
import { systemClock } from "../lib/clock.js";
import { given } from "../lib/given.js";

/** Agents by the role of a unit. */
export type Roles = Readonly<Record<string, readonly Agent[]>>;

/** What a person set for a run. Times are milliseconds. */
export interface RuleSettings {
  /** The first choice first. */
  readonly agents: readonly Agent[];
  /** Agents of roles that have their own, the first choice first. Every other unit is for `agents`. */
  readonly roles?: Roles;
  /** Most iterations; absent: no limit. Those in which a service was not available do not count. */
  readonly iterations?: number;
  /** What this run may use up; absent: no limit. */
  readonly budget?: Budget;
  /** What the sentences of verdicts call the work; absent: "the work". */
  readonly words?: Words;
  /** Most wall time; absent: no limit. */
  readonly maxMs?: number;
  /**
   * How long a model service is waited for that does not answer, or does not say when its limit ends; absent: 2 hours.
   */
  readonly patienceMs?: number;
  /** Most iterations in a row without an accepted result; absent: 15. */
  readonly maxWithoutResult?: number;
  /** Whose PAUSE and STOP files count. */
  readonly folder?: string;
  /** Further stop conditions. */
  readonly more?: readonly StopCondition[];
}

/** What is said of work whose workflow brought no words of its own. */
const plainWords: Words = {
  noun: "work",
  budget: () => "it",
  look: "Look at what they left",
  reasons: "Read the reasons of the refusals",
  steer: "change the brief",
  mend: "change the brief",
};

const twoHours = 2 * 60 * 60_000;

/**
 * The rules by which a run stops, waits and chooses its agents. It ends at a limit that is set here; as `failed` after
 * three failures of a unit in a row; as `stuck` after 15 iterations in a row without an accepted result. It waits while
 * a model service is not available, or goes on with the next of `agents`.
 */
export function rulesFor(settings: RuleSettings): Rules {
  const { agents, roles = {}, iterations, budget = {}, words = plainWords, maxMs, folder, more = [] } = settings;
  const { patienceMs = twoHours, maxWithoutResult } = settings;
  const choose = withAllowance(budget, byRole(agents, roles, patienceMs));
  const bounded: Choose = maxMs === undefined ? choose : withinWallTime(maxMs, choose);
  return {
    stopConditions: [
      ...(folder === undefined ? [] : [stopOnFiles(folder)]),
      maxMs === undefined ? stopAfterFailures : withinWallTime(maxMs, (soFar: RunSoFar) => stopAfterFailures(soFar)),
      // What it costs goes first: with both used up, more iterations would not help.
      limitBudget(words, budget),
      ...(iterations === undefined ? [] : [limitIterations(iterations, words)]),
      ...(maxMs === undefined ? [] : [limitWallTime(maxMs)]),
      ...more,
      stopWithoutResult(words, maxWithoutResult),
    ],
    choose: bounded,
    watches: [watchBudget(words, budget), watchContext],
    reviews: [reviewBudget(budget)],
  };
}

/** The options of a loop with what was left out. That `finish` ends it, no rule has to say. */
export function withDefaults(agent: Agent, set: LoopOptions): Required<LoopOptions> {
  const { jobs = 1, finish = never, abort = never } = set;
  if (!Number.isInteger(jobs) || jobs < 1) throw new Error(`'jobs' is ${jobs}; it has to be a whole number from 1`);
  const rules = { ...rulesFor({ agents: [agent] }), ...given({ ...set }) };
  return {
    ...{ tell: async () => {}, clock: systemClock, jobs, finish, abort },
    ...rules,
    stopConditions: [stopOnSignal(finish), ...rules.stopConditions],
  };
}

const never = new AbortController().signal;

/** The first agent that can work, of those of the unit's role where it has its own. */
function byRole(agents: readonly Agent[], roles: Roles, patienceMs: number): Choose {
  const own = new Map(Object.entries(roles).map(([role, theirs]) => [role, firstAble(theirs, patienceMs)]));
  const others = firstAble(agents, patienceMs);
  return (soFar, { role = "" }) => {
    const chosen = own.get(role)?.(soFar);
    if (chosen === undefined) return others(soFar);
    const first = roles[role]?.[0]?.name;
    if ("agent" in chosen) return { ...chosen, ...given({ first }) };
    // Where the others wait too, this unit loses nothing by it.
    return "until" in chosen && !("agent" in others(soFar)) ? { until: chosen.until, reason: chosen.reason } : chosen;
  };
}
