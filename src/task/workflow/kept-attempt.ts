import { given } from "../../engine/lib/given.js";
import { workedMs } from "../../engine/loop/run-record/agent-run.js";
import type { OwnOutcome } from "../../engine/loop/run-record/observation.js";
import type { AgentRun } from "../../engine/loop/types.js";

/** What the state keeps of every attempt, of a task and of a role. `at`: when it was judged. */
export function keptAttempt(run: AgentRun, outcome: OwnOutcome, at: string) {
  const { iteration, agent, usage, cost_usd } = run;
  return {
    ...{ id: `attempt-${iteration}`, iteration, at, agent, outcome: outcome.outcome },
    ...(outcome.outcome === "failed" ? { failure: outcome.failure.kind } : {}),
    duration_seconds: workedMs(run) / 1000,
    tokens: usage.input + usage.output,
    ...given({ cost_usd }),
  };
}
