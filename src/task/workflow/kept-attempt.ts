import { given } from "../../engine/lib/given.js";
import type { OwnOutcome } from "../../engine/loop/run-record/observation.js";
import type { AgentRun } from "../../engine/loop/types.js";

/** What the state keeps of every attempt, of a task and of a role. `at`: when it was judged. */
export function keptAttempt(
  { iteration, agent, usage, cost_usd, startedAt, endedAt }: AgentRun,
  outcome: OwnOutcome,
  at: string,
) {
  return {
    ...{ id: `attempt-${iteration}`, iteration, at, agent, outcome: outcome.outcome },
    ...(outcome.outcome === "failed" ? { failure: outcome.failure.kind } : {}),
    duration_seconds: Math.max(0, endedAt - startedAt) / 1000,
    tokens: usage.input + usage.output,
    ...given({ cost_usd }),
  };
}
