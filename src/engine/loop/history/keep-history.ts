import { ExpectedError } from "../../lib/errors.js";
import { zeroSpent, addSpent } from "../stop-conditions/budget.js";
import { isVerdict, type Unit, type Workflow } from "../types.js";
import { stagnationWarning } from "../stop-conditions/stuck.js";
import { lastRemembered, spentOnSummary, type Summariser } from "./summarise.js";

/**
 * Extends a workflow so that it also summarises its history. A summary is made after the state is loaded between two
 * iterations, when nothing else changes the state; a summary that a killed run did not write is made then too. Also
 * warns the user about repetitions. The cost of summaries counts toward the limits of the run.
 */
export function withHistory<State, U extends Unit, P, C>(
  workflow: Workflow<State, U, P, C>,
  summarise: Summariser,
): Workflow<State, U, P, C> {
  /**
   * The iteration whose summary could not be saved. It is not tried again, because the cause would still exist.
   */
  let failedIteration: number | undefined;
  /** The last iteration whose repetitions the user was warned about. */
  let warnedUpTo = 0;
  let summarySpending = zeroSpent;
  const { account } = workflow;
  return {
    ...workflow,
    ...(account === undefined ? {} : { account: (state) => ({ ...account(state), beside: summarySpending }) }),
    async load(tell, isAtWork) {
      const state = await workflow.load(tell, isAtWork);
      if (isVerdict(state) || workflow.memory === undefined || workflow.remember === undefined) return state;
      const memory = workflow.memory(state);
      const warning = lastRemembered(memory) > warnedUpTo ? stagnationWarning(memory) : undefined;
      warnedUpTo = Math.max(warnedUpTo, lastRemembered(memory));
      if (warning !== undefined) await tell({ type: "notice", level: "warning", message: warning });
      if (lastRemembered(memory) === failedIteration) return state;
      const compression = await summarise(memory);
      if (compression === undefined) return state;
      summarySpending = addSpent(summarySpending, spentOnSummary(compression));
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
