import { spentOnAttempts } from "../../engine/loop/stop-conditions/budget.js";
import { usesAllowance } from "../../engine/loop/stop-conditions/limits.js";
import type { Spent } from "../../engine/loop/types.js";
import type { Attempt, Round, TaskState } from "../generated/ralph-state.js";

/** The rounds of a team that count: those since the task was to be done again, without what was undone. */
export const roundsOf = ({ rounds = [], begun = 0 }: TaskState): readonly Round[] =>
  rounds.filter(({ round, undone }) => round > begun && undone !== true);

/** Whether a round is not at its end: neither have its tests failed, nor has its last role been at work. */
export const isUnderWay = ({ steps }: Round): boolean =>
  !steps.some(({ role, event }) => event === "fail" || role === "adversary");

/** Attempts that used the allowance up: those that only met a closed service are free. */
export const countedIn = (attempts: readonly Attempt[]): readonly Attempt[] =>
  attempts.filter(({ failure }) => usesAllowance(failure));

/** What the task has used: an attempt of one agent is an iteration, and so is a round of a team that is over. */
export function spentIn(state: TaskState): Spent {
  const { attempts, loop } = state;
  const rounds = roundsOf(state);
  const [alone, last] = [attempts.filter(({ role }) => role === undefined), rounds.at(-1)];
  const over = rounds.length - (last !== undefined && isUnderWay(last) ? 1 : 0);
  return { ...spentOnAttempts(attempts, loop?.rch_metrics), iterations: countedIn(alone).length + over };
}
