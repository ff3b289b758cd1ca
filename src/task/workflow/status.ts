import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Budget, Progress, Unit, Verdict } from "../../engine/loop/types.js";
import type { Best, Check, Round, TaskState } from "../generated/ralph-state.js";
import { defaultIterations } from "../plan/plan.js";
import { taskPhase, unitId } from "../project-files/state-file.js";

export const metIn = (checks: readonly Check[]): number => checks.filter(({ passed }) => passed).length;
export const failingIn = (checks: readonly Check[]): number =>
  checks.reduce((sum, { failing = 0 }) => sum + failing, 0);

/** Whether the latest checks found all criteria of the task met. */
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
  const best = { met: metIn(checks), failing: failingIn(checks), iteration };
  return checks.some(({ unloaded }) => unloaded !== undefined)
    ? { ...best, unloaded: sumOf(({ unloaded }) => unloaded), tests: sumOf(({ tests }) => tests) }
    : best;
}

/**
 * Whether `now` is better than `best`. More criteria are met; or as many, with fewer failing tests; or as many, with
 * fewer files that could not be loaded and more tests that run. Such a file was one failure: it is progress that its
 * tests run, although each of them may fail. Fewer failures do not count if more files can't be loaded. More tests
 * alone do not count either.
 */
export function isBetter(now: Best, best: Best): boolean {
  if (now.met !== best.met) return now.met > best.met;
  const [unloaded, unloadedBefore] = [now.unloaded ?? 0, best.unloaded ?? now.unloaded ?? 0];
  if (unloaded < unloadedBefore && (now.tests ?? 0) > (best.tests ?? 0)) return true;
  return unloaded <= unloadedBefore && now.failing < best.failing;
}

export const progressOf = ({ task, checks }: TaskState): Progress => ({
  done: metIn(checks),
  total: task.acceptance_criteria.length,
});

/** What the task may use in total. */
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
 * The state after the files were put back to this iteration. Later attempts no longer count as the best, but what they
 * used still counts. The criteria must be checked again, so the task is no longer known to be complete. Pure.
 */
export function withoutLaterAttempts(state: TaskState, iteration: number): TaskState {
  const attempts = state.attempts.map((attempt) =>
    attempt.iteration > iteration ? { ...attempt, undone: true as const } : attempt,
  );
  const { best: _, status: __, tested: ___, ...rest } = state;
  const isLater = ({ round }: Round) => attempts.some((attempt) => attempt.round === round && attempt.undone === true);
  const rounds = state.rounds?.map((round) => (isLater(round) ? { ...round, undone: true as const } : round));
  const countedAttempts = attempts.flatMap((attempt) =>
    attempt.undone === true || attempt.met === undefined ? [] : [{ ...attempt, met: attempt.met }],
  );
  const best = countedAttempts.toSorted((a, b) => b.met - a.met || (a.failing ?? 0) - (b.failing ?? 0))[0];
  return {
    ...rest,
    attempts,
    ...withoutUndefined({ rounds }),
    checks: [],
    ...(best === undefined ? {} : { best: { met: best.met, failing: best.failing ?? 0, iteration: best.iteration } }),
    loop: { ...state.loop, stagnation_since: state.iteration ?? 0 },
  };
}
