import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Redact } from "../../engine/lib/redact.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { workedMs } from "../../engine/loop/run-record/agent-run.js";
import type { OwnOutcome } from "../../engine/loop/run-record/observation.js";
import type { AgentRun } from "../../engine/loop/types.js";

/** Most characters that are kept of what an agent said at its end. */
const maxSaid = 300;

/** The closing sentence of an agent: the last lines of its final message; undefined where it said nothing. */
export function closingOf(message: string, redact: Redact): string | undefined {
  const paragraph =
    redact(message)
      .trim()
      .split(/\n\s*\n/)
      .at(-1) ?? "";
  const line = oneLine(paragraph);
  return line === "" ? undefined : line.length > maxSaid ? `…${line.slice(1 - maxSaid)}` : line;
}

/** What the state keeps of every attempt, of a task and of a role. `at`: when it was judged. */
export function keptAttempt(run: AgentRun, outcome: OwnOutcome, at: string) {
  const { iteration, agent, usage, cost_usd } = run;
  return {
    id: `attempt-${iteration}`,
    iteration,
    at,
    agent,
    outcome: outcome.outcome,
    ...(outcome.outcome === "failed" ? { failure: outcome.failure.kind } : {}),
    duration_seconds: workedMs(run) / 1000,
    tokens: usage.input + usage.output,
    ...withoutUndefined({ cost_usd }),
  };
}

/** The line of an iteration in the log, and what its agent said at its end. */
export function progressLine({ iteration, message }: AgentRun, at: string, what: string, redact: Redact): string {
  const said = closingOf(message, redact);
  return `${at} #${iteration} ${what}\n${said === undefined ? "" : `  said: ${said}\n`}`;
}
