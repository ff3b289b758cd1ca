import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Budget, Progress, Unit, Verdict } from "../../engine/loop/types.js";
import type { Best, Check, Round, TaskState } from "../generated/ralph-state.js";
import { usualIterations } from "../plan/plan.js";
import { taskPhase, unitId } from "../project-files/state-file.js";

export const metIn = (checks: readonly Check[]): number => checks.filter(({ passed }) => passed).length;
export const failingIn = (checks: readonly Check[]): number =>
  checks.reduce((sum, { failing = 0 }) => sum + failing, 0);

/** Whether all criteria of the task are met, by the checks that were made last. */
export const isMet = ({ task, checks }: TaskState): boolean =>
  checks.length === task.acceptance_criteria.length && checks.every(({ passed }) => passed);

/** The one unit of a task: its next attempt. */
export function attemptOf({ task }: TaskState): Unit {
  const line = task.task.split("\n").find((each) => each.trim() !== "") ?? "";
  const title = line.trim();
  return {
    kind: "attempt",
    id: unitId,
    phase: taskPhase,
    title: title.length > 100 ? `${title.slice(0, 99)}…` : title,
  };
}

/** How far the task is by these checks, made after this iteration. */
export function reached(checks: readonly Check[], iteration: number): Best {
  const sum = (of: (check: Check) => number | undefined) => checks.reduce((all, each) => all + (of(each) ?? 0), 0);
  const best = { met: metIn(checks), failing: failingIn(checks), iteration };
  return checks.some(({ unloaded }) => unloaded !== undefined)
    ? { ...best, unloaded: sum(({ unloaded }) => unloaded), tests: sum(({ tests }) => tests) }
    : best;
}

/**
 * Whether more criteria are met than ever before, or as many with fewer tests failing, or as many with more tests that
 * run: a file that could not be loaded was one failure, and that its tests run now is progress, although each of them
 * fails. Fewer failures because a file can't be loaded any more, or because tests are gone, do not count; nor are more
 * tests besides those that ran.
 */
export function isBetter(now: Best, best: Best): boolean {
  if (now.met !== best.met) return now.met > best.met;
  const [unloaded, before] = [now.unloaded ?? 0, best.unloaded ?? now.unloaded ?? 0];
  if (unloaded < before && (now.tests ?? 0) > (best.tests ?? 0)) return true;
  return unloaded <= before && now.failing < best.failing;
}

export const progressOf = ({ task, checks }: TaskState): Progress => ({
  done: metIn(checks),
  total: task.acceptance_criteria.length,
});

/** What the task may use up in its life. */
export function budgetOf({ task }: TaskState): Budget {
  const { max_tokens: tokens, max_usd: usd, max_minutes: minutes } = task.budget ?? {};
  return { iterations: task.max_iterations ?? usualIterations, ...withoutUndefined({ tokens, usd, minutes }) };
}

/** The status that the first version of this file format had for a verdict. */
export function oldStatus({ verdict, cause }: Verdict): NonNullable<TaskState["status"]> {
  if (verdict === "complete") return "success";
  if (verdict === "limit") return cause === "iterations" ? "max_iterations" : "budget_exhausted";
  return "error";
}

/**
 * The state once the files are as they were after this iteration: later ones no longer count as the best, but what they
 * used stays used. The criteria are checked again, so it is no longer known to be complete. Pure.
 */
export function withUndone(state: TaskState, iteration: number): TaskState {
  const attempts = state.attempts.map((attempt) =>
    attempt.iteration > iteration ? { ...attempt, undone: true as const } : attempt,
  );
  const { best: _, status: __, tested: ___, ...rest } = state;
  const isLater = ({ round }: Round) => attempts.some((each) => each.round === round && each.undone === true);
  const rounds = state.rounds?.map((each) => (isLater(each) ? { ...each, undone: true as const } : each));
  const left = attempts.flatMap((each) =>
    each.undone === true || each.met === undefined ? [] : [{ ...each, met: each.met }],
  );
  const best = left.toSorted((a, b) => b.met - a.met || (a.failing ?? 0) - (b.failing ?? 0))[0];
  return {
    ...rest,
    attempts,
    ...withoutUndefined({ rounds }),
    checks: [],
    ...(best === undefined ? {} : { best: { met: best.met, failing: best.failing ?? 0, iteration: best.iteration } }),
    loop: { ...state.loop, stagnation_since: state.iteration ?? 0 },
  };
}
