import { limitBudget, reviewBudget, watchBudget, withAllowance } from "./stop-conditions/budget.js";
import { watchContext } from "./stop-conditions/context-window.js";
import { stopWithoutResult } from "./stop-conditions/stuck.js";
import { stopOnSignal, limitIterations, limitWallTime, stopOnFiles } from "./stop-conditions/limits.js";
import { firstAvailable, stopAfterFailures, withinWallTime } from "./retry.js";
import type { Agent, Budget, Choose, StopCondition, LoopOptions, Rules, RunSoFar, Words } from "./types.js";
import { systemClock } from "../lib/clock.js";
import { withoutUndefined } from "../lib/without-undefined.js";

/** Agents by the role of a unit. */
export type Roles = Readonly<Record<string, readonly Agent[]>>;

/** The user's settings for a run. Times are in milliseconds. */
export interface RuleSettings {
  /** In order of preference. */
  readonly agents: readonly Agent[];
  /** Agents for single roles, in order of preference. All other units are for `agents`. */
  readonly roles?: Roles;
  /** Maximum number of iterations; absent: no limit. Iterations in which a service was not available do not count. */
  readonly iterations?: number;
  /** Limits of the usage of this run; absent: no limit. */
  readonly budget?: Budget;
  /** Phrases for the messages that say why a run stopped; absent: those for "work". */
  readonly words?: Words;
  /** Maximum wall time; absent: no limit. */
  readonly maxMs?: number;
  /**
   * How long to wait for a model service that does not answer, or does not say when its limit ends; absent: 2 hours.
   */
  readonly patienceMs?: number;
  /** Maximum number of iterations in a row without an accepted result; absent: 15. */
  readonly maxWithoutResult?: number;
  /** The folder with the PAUSE and STOP files. */
  readonly folder?: string;
  /** Additional stop conditions. */
  readonly more?: readonly StopCondition[];
}

/** The phrases for a workflow that provides none: "Look at what they left, change the brief and run the work again." */
const defaultWords: Words = {
  noun: "work",
  budget: () => "it",
  look: "Look at what they left",
  reasons: "Read the reasons of the refusals",
  steer: "change the brief",
  mend: "change the brief",
};

const defaultPatienceMs = 2 * 60 * 60_000;

/**
 * The rules by which a run stops, waits and chooses its agents. The run ends at a limit in the settings; as `failed`
 * after three failures of a unit in a row; as `stuck` after 15 iterations in a row without an accepted result. If a
 * model service is not available, the run waits or continues with the next of `agents`.
 */
export function rulesFor(settings: RuleSettings): Rules {
  const {
    agents,
    roles = {},
    iterations,
    budget = {},
    words = defaultWords,
    maxMs,
    folder,
    more: additionalConditions = [],
  } = settings;
  const { patienceMs = defaultPatienceMs, maxWithoutResult } = settings;
  const agentsWithoutUsage = [agents, ...Object.values(roles)]
    .flat()
    .filter(({ reportsNoUsage }) => reportsNoUsage === true);
  const choose = withAllowance(budget, chooserByRole(agents, roles, patienceMs));
  const chooseInTime: Choose = maxMs === undefined ? choose : withinWallTime(maxMs, choose);
  return {
    stopConditions: [
      ...(folder === undefined ? [] : [stopOnFiles(folder)]),
      maxMs === undefined ? stopAfterFailures : withinWallTime(maxMs, (soFar: RunSoFar) => stopAfterFailures(soFar)),
      // The first condition that holds gives the reason. If the budget is used up too, the user should not be told to
      // allow more iterations.
      limitBudget(words, budget),
      ...(iterations === undefined ? [] : [limitIterations(iterations, words)]),
      ...(maxMs === undefined ? [] : [limitWallTime(maxMs)]),
      ...additionalConditions,
      stopWithoutResult(words, maxWithoutResult),
    ],
    choose: chooseInTime,
    watches: [watchBudget(words, budget), watchContext],
    reviews: [reviewBudget(budget, new Set(agentsWithoutUsage.map(({ name }) => name)))],
  };
}

/** The options of a loop, completed with default values. `finish` always ends the loop, whatever the rules are. */
export function withDefaults(agent: Agent, givenOptions: LoopOptions): Required<LoopOptions> {
  const { jobs = 1, finish = neverAborted, abort = neverAborted } = givenOptions;
  if (!Number.isInteger(jobs) || jobs < 1) throw new Error(`'jobs' is ${jobs}; it has to be a whole number from 1`);
  const rules = { ...rulesFor({ agents: [agent] }), ...withoutUndefined({ ...givenOptions }) };
  return {
    tell: async () => {},
    clock: systemClock,
    jobs,
    finish,
    abort,
    ...rules,
    stopConditions: [stopOnSignal(finish), ...rules.stopConditions],
  };
}

const neverAborted = new AbortController().signal;

/** Chooses the first available agent among those of the unit's role, or among `agents`. */
function chooserByRole(agents: readonly Agent[], roles: Roles, patienceMs: number): Choose {
  const chooseByRole = new Map(
    Object.entries(roles).map(([role, roleAgents]) => [role, firstAvailable(roleAgents, patienceMs)]),
  );
  const chooseDefault = firstAvailable(agents, patienceMs);
  return (soFar, { role = "" }) => {
    const choice = chooseByRole.get(role)?.(soFar);
    if (choice === undefined) return chooseDefault(soFar);
    const first = roles[role]?.[0]?.name;
    if ("agent" in choice) return { ...choice, first };
    // If all agents must wait, the whole run waits, not only this role.
    return "until" in choice && !("agent" in chooseDefault(soFar))
      ? { until: choice.until, reason: choice.reason }
      : choice;
  };
}
