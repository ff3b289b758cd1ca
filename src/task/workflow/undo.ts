import type { TaskState } from "../generated/ralph-state.js";

/**
 * The state once the files are as they were after this iteration: later ones no longer count as the best, but what they
 * used stays used. The criteria are checked again, so it is no longer known to be complete. Pure.
 */
export function withUndone(state: TaskState, iteration: number): TaskState {
  const attempts = state.attempts.map((attempt) =>
    attempt.iteration > iteration ? { ...attempt, undone: true as const } : attempt,
  );
  const { best: _, status: __, ...rest } = state;
  const left = attempts.filter(({ undone }) => undone !== true);
  const best = left.toSorted((a, b) => b.met - a.met || (a.failing ?? 0) - (b.failing ?? 0))[0];
  return {
    ...rest,
    attempts,
    checks: [],
    ...(best === undefined ? {} : { best: { met: best.met, failing: best.failing ?? 0, iteration: best.iteration } }),
    loop: { ...state.loop, stagnation_since: state.iteration ?? 0 },
  };
}
