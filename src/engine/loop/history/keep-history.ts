import { ExpectedError } from "../../lib/errors.js";
import { nothingSpent, plus } from "../stop-conditions/budget.js";
import { isVerdict, type Unit, type Workflow } from "../types.js";
import { stagnationWarning } from "../stop-conditions/stuck.js";
import { lastRemembered, spentOnSummary, type Summariser } from "./summarise.js";

/**
 * The workflow, which then also summarises its history where that is due: after its state was loaded between two
 * iterations, when nothing else changes it. A summary that a killed run still owed is made first. The person is warned
 * of repetitions in the same place. What summaries took in this run counts for its limits.
 */
export function withHistory<State, U extends Unit, P, C>(
  workflow: Workflow<State, U, P, C>,
  summarise: Summariser,
): Workflow<State, U, P, C> {
  /**
   * The iteration after which a summary could not be kept. It is not tried again for this one: the cause would still
   * be there.
   */
  let failedAt: number | undefined;
  /** The iteration up to which the person has been warned of repetitions. */
  let warnedAt = 0;
  let beside = nothingSpent;
  const { account } = workflow;
  return {
    ...workflow,
    ...(account === undefined ? {} : { account: (state) => ({ ...account(state), beside }) }),
    async load(tell, isAtWork) {
      const state = await workflow.load(tell, isAtWork);
      if (isVerdict(state) || workflow.memory === undefined || workflow.remember === undefined) return state;
      const memory = workflow.memory(state);
      const warning = lastRemembered(memory) > warnedAt ? stagnationWarning(memory) : undefined;
      warnedAt = Math.max(warnedAt, lastRemembered(memory));
      if (warning !== undefined) await tell({ type: "notice", level: "warning", message: warning });
      if (lastRemembered(memory) === failedAt) return state;
      const compression = await summarise(memory);
      if (compression === undefined) return state;
      beside = plus(beside, spentOnSummary(compression));
      try {
        await workflow.remember(compression);
      } catch (error) {
        // The loop meets the same problem next, and reports it.
        if (!(error instanceof ExpectedError)) throw error;
        failedAt = compression.upTo;
      }
      return await workflow.load(tell, isAtWork);
    },
  };
}
