import type { ResolvedConfig } from "../../compose/config.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Spending } from "../../engine/loop/types.js";

/**
 * The settings with what is left of a command's limits, where it does one piece of work after the other; undefined
 * where one is reached. `ms`: since the command began.
 */
export function remainingLimits(
  config: ResolvedConfig,
  spent: Pick<Spending, "usd" | "tokens" | "iterations">,
  ms: number,
): ResolvedConfig | undefined {
  const { budget, iterations, maxMs } = config;
  const left = (most: number | undefined, used: number) => (most === undefined ? undefined : most - used);
  const [usd, tokens] = [left(budget.usd, spent.usd), left(budget.tokens, spent.tokens)];
  const [more, time] = [left(iterations, spent.iterations), left(maxMs, ms)];
  if ([usd, tokens, more, time].some((each) => each !== undefined && each <= 0)) return undefined;
  return { ...config, budget: { usd, tokens }, ...withoutUndefined({ iterations: more, maxMs: time }) };
}
