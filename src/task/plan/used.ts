import { spendingOnAttempts } from "../../engine/loop/stop-conditions/budget.js";
import { countsTowardLimit } from "../../engine/loop/stop-conditions/limits.js";
import type { Spending } from "../../engine/loop/types.js";
import type { Attempt, Round, TaskState } from "../generated/ralph-state.js";

/** The rounds of a team since the task was last started again, without undone rounds. */
export const roundsOf = ({ rounds = [], begun = 0 }: TaskState): readonly Round[] =>
  rounds.filter(({ round, undone }) => round > begun && undone !== true);

/** Whether a round has not ended. It ends if its tests fail, or after its last role. */
const isUnderWay = ({ steps }: Round): boolean =>
  !steps.some(({ role, event }) => event === "fail" || role === "adversary");

/** The attempts that count toward the limit. An attempt does not count if the model service refused all requests. */
export const countedAttempts = (attempts: readonly Attempt[]): readonly Attempt[] =>
  attempts.filter(({ failure }) => countsTowardLimit(failure));

/**
 * The usage of the task. An attempt of a single agent counts as an iteration, and so does a finished round of a team.
 */
export function spentBy(state: TaskState): Spending {
  const { attempts, loop } = state;
  const rounds = roundsOf(state);
  const [attemptsWithoutRole, lastRound] = [attempts.filter(({ role }) => role === undefined), rounds.at(-1)];
  const finishedRounds = rounds.length - (lastRound !== undefined && isUnderWay(lastRound) ? 1 : 0);
  return {
    ...spendingOnAttempts(attempts, loop?.rch_metrics),
    iterations: countedAttempts(attemptsWithoutRole).length + finishedRounds,
  };
}
