import type { LedgerLine } from "../../engine/generated/ledger.js";
import { given } from "../../engine/lib/given.js";
import type { AgentRun, Outcome } from "../../engine/loop/types.js";

/** What came of an attempt: one agent works at a time, so nothing is only noted. */
export type AttemptOutcome = Exclude<Outcome, { readonly outcome: "noted" }>;

/** What the state keeps of every attempt, of a task and of a role. `at`: when it was judged. */
export function keptAttempt(
  { iteration, agent, usage, cost_usd, startedAt, endedAt }: AgentRun,
  outcome: AttemptOutcome,
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

/** The same for the log that people read. */
export function sentenceOf(outcome: AttemptOutcome): string {
  if (outcome.outcome === "accepted") return `accepted: ${outcome.summary}`;
  return outcome.outcome === "refused"
    ? `refused: ${outcome.reasons.join("; ")}`
    : `failed: ${outcome.failure.message}`;
}

/** The same for the ledger: why nothing was accepted. */
export function whyNot(outcome: AttemptOutcome): Pick<LedgerLine, "failure" | "reasons"> {
  if (outcome.outcome === "failed") return { failure: outcome.failure.kind, reasons: [outcome.failure.message] };
  return outcome.outcome === "refused" ? { reasons: [...outcome.reasons] } : {};
}
