import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Budget, Progress, Unit, Verdict } from "../../engine/loop/types.js";
import type { Best, Check, Round, TaskState } from "../generated/ralph-state.js";
import { defaultIterations } from "../plan/plan.js";
import { taskPhase, unitId } from "../project-files/state-file.js";

export const countMet = (checks: readonly Check[]): number => checks.filter(({ passed }) => passed).length;
const countFailing = (checks: readonly Check[]): number => checks.reduce((sum, { failing = 0 }) => sum + failing, 0);

/** Whether all criteria of the task are met, according to the latest checks. */
export const isMet = ({ task, checks }: TaskState): boolean =>
  checks.length === task.acceptance_criteria.length && checks.every(({ passed }) => passed);

/** The only unit of a task: its next attempt. */
export function attemptOf({ task }: TaskState): Unit {
  const line = task.task.split("\n").find((text) => text.trim() !== "") ?? "";
  const title = line.trim();
  return {
    kind: "attempt",
    id: unitId,
    phase: taskPhase,
    title: title.length > 100 ? `${title.slice(0, 99)}…` : title,
  };
}

/** The result of these checks, which were made after this iteration. */
export function resultOf(checks: readonly Check[], iteration: number): Best {
  const sumOf = (valueOf: (check: Check) => number | undefined) =>
    checks.reduce((sum, check) => sum + (valueOf(check) ?? 0), 0);
  const best = { met: countMet(checks), failing: countFailing(checks), iteration };
  return checks.some(({ unloaded }) => unloaded !== undefined)
    ? { ...best, unloaded: sumOf(({ unloaded }) => unloaded), tests: sumOf(({ tests }) => tests) }
    : best;
}

/**
 * Whether `result` is better than `best`: more criteria are met; or as many criteria are met and fewer tests fail; or
 * as many criteria are met, fewer files could not be loaded and more tests run. A file that could not be loaded counts
 * as one failure, so if its tests run now, that is progress even if all of them fail. Fewer failures do not count if
 * more files could not be loaded. More tests alone do not count either.
 */
export function isBetter(result: Best, best: Best): boolean {
  if (result.met !== best.met) return result.met > best.met;
  const [unloaded, unloadedBefore] = [result.unloaded ?? 0, best.unloaded ?? result.unloaded ?? 0];
  if (unloaded < unloadedBefore && (result.tests ?? 0) > (best.tests ?? 0)) return true;
  return unloaded <= unloadedBefore && result.failing < best.failing;
}

export const progressOf = ({ task, checks }: TaskState): Progress => ({
  done: countMet(checks),
  total: task.acceptance_criteria.length,
});

/** The limits of the task over its whole life. */
export function budgetOf({ task }: TaskState): Budget {
  const { max_tokens: tokens, max_usd: usd, max_minutes: minutes } = task.budget ?? {};
  return { iterations: task.max_iterations ?? defaultIterations, ...withoutUndefined({ tokens, usd, minutes }) };
}

/** The status for a verdict, as the first version of this file format had it. */
export function statusOf({ verdict, cause }: Verdict): NonNullable<TaskState["status"]> {
  if (verdict === "complete") return "success";
  if (verdict === "limit") return cause === "iterations" ? "max_iterations" : "budget_exhausted";
  return "error";
}

/**
 * The state after the files were put back to this iteration. The results of later attempts no longer count, but their
 * usage does. The criteria must be checked again, so the task is not complete before that. Pure.
 */
export function withoutLaterAttempts(state: TaskState, iteration: number): TaskState {
  const attempts = state.attempts.map((attempt) =>
    attempt.iteration > iteration ? { ...attempt, undone: true as const } : attempt,
  );
  const { best: _, status: __, tested: ___, ...remainingFields } = state;
  const isLater = ({ round }: Round) => attempts.some((attempt) => attempt.round === round && attempt.undone === true);
  const rounds = state.rounds?.map((round) => (isLater(round) ? { ...round, undone: true as const } : round));
  const countedAttempts = attempts.flatMap((attempt) =>
    attempt.undone === true || attempt.met === undefined ? [] : [{ ...attempt, met: attempt.met }],
  );
  const best = countedAttempts.toSorted((a, b) => b.met - a.met || (a.failing ?? 0) - (b.failing ?? 0))[0];
  return {
    ...remainingFields,
    attempts,
    ...withoutUndefined({ rounds }),
    checks: [],
    ...(best === undefined ? {} : { best: { met: best.met, failing: best.failing ?? 0, iteration: best.iteration } }),
    loop: { ...state.loop, stagnation_since: state.iteration ?? 0 },
  };
}
