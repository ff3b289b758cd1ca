import { ExpectedError } from "../../lib/errors.js";
import { zeroSpending, addSpending } from "../stop-conditions/budget.js";
import { isVerdict, type Unit, type Workflow } from "../types.js";
import { stagnationWarning } from "../stop-conditions/stuck.js";
import { lastRememberedIteration, spendingOnSummary, type Summariser } from "./summarise.js";

/**
 * Extends a workflow so that it also summarises its history. It makes a due summary after it has loaded the state
 * between two iterations, because nothing else changes the state then. It also warns the user about repetitions. The
 * cost of summaries counts toward the limits of the run.
 */
export function withHistory<State, U extends Unit, P, C>(
  workflow: Workflow<State, U, P, C>,
  summarise: Summariser,
): Workflow<State, U, P, C> {
  /**
   * The last iteration of a summary that could not be saved. That summary is not tried again, because the cause would
   * still exist.
   */
  let failedIteration: number | undefined;
  /** The last iteration for which the user was warned about repetitions. */
  let warnedUpTo = 0;
  let summarySpending = zeroSpending;
  const { account } = workflow;
  return {
    ...workflow,
    ...(account === undefined ? {} : { account: (state) => ({ ...account(state), beside: summarySpending }) }),
    async load(tell, isAtWork) {
      const state = await workflow.load(tell, isAtWork);
      if (isVerdict(state) || workflow.memory === undefined || workflow.remember === undefined) return state;
      const memory = workflow.memory(state);
      const warning = lastRememberedIteration(memory) > warnedUpTo ? stagnationWarning(memory) : undefined;
      warnedUpTo = Math.max(warnedUpTo, lastRememberedIteration(memory));
      if (warning !== undefined) await tell({ type: "notice", level: "warning", message: warning });
      if (lastRememberedIteration(memory) === failedIteration) return state;
      const compression = await summarise(memory);
      if (compression === undefined) return state;
      summarySpending = addSpending(summarySpending, spendingOnSummary(compression));
      try {
        await workflow.remember(compression);
      } catch (error) {
        // The loop will meet the same problem in its next step, and report it.
        if (!(error instanceof ExpectedError)) throw error;
        failedIteration = compression.upTo;
      }
      return await workflow.load(tell, isAtWork);
    },
  };
}
