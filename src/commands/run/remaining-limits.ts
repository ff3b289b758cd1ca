import type { ResolvedConfig } from "../../compose/config.js";
import type { Spending } from "../../engine/loop/types.js";

/**
 * The configuration with the remaining limits, for a command that does several pieces of work one after the other;
 * undefined if a limit is reached. `elapsedMs`: the time since the command started.
 */
export function remainingLimits(
  config: ResolvedConfig,
  spent: Pick<Spending, "usd" | "tokens" | "iterations">,
  elapsedMs: number,
): ResolvedConfig | undefined {
  const { budget, iterations, maxMs } = config;
  const subtract = (max: number | undefined, used: number) => (max === undefined ? undefined : max - used);
  const [usd, tokens] = [subtract(budget.usd, spent.usd), subtract(budget.tokens, spent.tokens)];
  const [remainingIterations, remainingMs] = [subtract(iterations, spent.iterations), subtract(maxMs, elapsedMs)];
  if ([usd, tokens, remainingIterations, remainingMs].some((limit) => limit !== undefined && limit <= 0))
    return undefined;
  return { ...config, budget: { usd, tokens }, iterations: remainingIterations, maxMs: remainingMs };
}
