import type { LedgerLine } from "../../generated/ledger.js";
import type { HistoryLimits } from "../../lib/history-limits.js";
import type { Redact } from "../../lib/redact.js";
import type { AgentRun, Outcome, Unit } from "../types.js";
import { ledgerLine } from "./ledger-line.js";
import { type RunAnswer, observationOf } from "./observation.js";

/** The data that a workflow provides for the record of an outcome. */
interface RecordDetails<Change> {
  /** The time of the decision. */
  readonly at: Date;
  /** Duration of the preparation in milliseconds; absent: none. */
  readonly prepareMs?: number;
  /** The answer of the run, in a form that can be compared; absent: it has none. */
  readonly answer?: RunAnswer;
  /** The changes of the state; absent: none. */
  readonly changes?: readonly Change[];
  /** Additional fields of the ledger line. */
  readonly ledger?: Partial<LedgerLine>;
  readonly redact: Redact;
  readonly memory: HistoryLimits;
}

/**
 * The part of a fold that every kind of work has: the changes of the workflow, the observation and the ledger line.
 * Pure.
 */
export function outcomeRecord<Change>(
  unit: Unit,
  run: AgentRun,
  outcome: Outcome,
  { at, prepareMs, answer = {}, changes = [], ledger, ...observationOptions }: RecordDetails<Change>,
) {
  const observation = observationOf(unit, run, outcome, answer, observationOptions);
  const observationChange = observation && { in: "loop", set: {}, add: { observations: [observation] } };
  return {
    iteration: run.iteration,
    at: at.toISOString(),
    changes: observationChange === undefined ? changes : [...changes, observationChange],
    ledger: { ...ledgerLine(unit, run, at, outcome.outcome, prepareMs), ...ledger, ...failureFields(outcome) },
  };
}

function failureFields(outcome: Outcome): Pick<LedgerLine, "failure" | "reasons"> {
  if (outcome.outcome === "failed") return { failure: outcome.failure.kind, reasons: [outcome.failure.message] };
  return outcome.outcome === "refused" ? { reasons: [...outcome.reasons] } : {};
}
