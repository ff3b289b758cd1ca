import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Redact } from "../../engine/lib/redact.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { workedMs } from "../../engine/loop/run-record/agent-run.js";
import type { FinalOutcome } from "../../engine/loop/run-record/observation.js";
import type { AgentRun } from "../../engine/loop/types.js";

/** Maximum characters of the stored closing sentence. */
const maxSentenceChars = 300;

/** The closing sentence of an agent: the last paragraph of its final message; undefined if the message is empty. */
export function closingSentence(message: string, redact: Redact): string | undefined {
  const paragraph =
    redact(message)
      .trim()
      .split(/\n\s*\n/)
      .at(-1) ?? "";
  const line = oneLine(paragraph);
  return line === "" ? undefined : line.length > maxSentenceChars ? `…${line.slice(1 - maxSentenceChars)}` : line;
}

/** The fields that the state stores for every attempt, of a task and of a role. `at`: when the attempt was judged. */
export function recordOfAttempt(run: AgentRun, outcome: FinalOutcome, at: string) {
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

/** The line of an iteration in the log, with the closing sentence of its agent. */
export function progressLine({ iteration, message }: AgentRun, at: string, summary: string, redact: Redact): string {
  const sentence = closingSentence(message, redact);
  return `${at} #${iteration} ${summary}\n${sentence === undefined ? "" : `  said: ${sentence}\n`}`;
}
