import type { LedgerLine } from "../../generated/ledger.js";
import type { HistoryLimits } from "../../lib/history-limits.js";
import type { Redact } from "../../lib/redact.js";
import type { AgentRun, Outcome, Unit } from "../types.js";
import { ledgerLine } from "./ledger-line.js";
import { type Left, observationOf } from "./observation.js";

/** What a workflow adds to the record of an outcome. */
interface Particulars<Change> {
  /** When it was judged. */
  readonly at: Date;
  /** Milliseconds for which its unit was prepared; absent: it was not. */
  readonly prepareMs?: number | undefined;
  /** Absent: nothing that could be compared. */
  readonly left?: Left;
  /** What the outcome changes in the state; absent: nothing. */
  readonly changes?: readonly Change[];
  /** What the ledger's line says besides. */
  readonly ledger?: Partial<LedgerLine>;
  readonly redact: Redact;
  readonly memory: HistoryLimits;
}

/**
 * What is folded of an agent's iteration, whatever its work is: the workflow's changes and the observation, and the
 * line of the ledger. Pure.
 */
export function outcomeRecord<Change>(
  unit: Unit,
  run: AgentRun,
  outcome: Outcome,
  { at, prepareMs, left = {}, changes = [], ledger, ...remembering }: Particulars<Change>,
) {
  const observation = observationOf(unit, run, outcome, left, remembering);
  const observed = observation && { in: "loop", set: {}, add: { observations: [observation] } };
  return {
    iteration: run.iteration,
    at: at.toISOString(),
    changes: observed === undefined ? changes : [...changes, observed],
    ledger: { ...ledgerLine(unit, run, at, outcome.outcome, prepareMs), ...ledger, ...whyNot(outcome) },
  };
}

function whyNot(outcome: Outcome): Pick<LedgerLine, "failure" | "reasons"> {
  if (outcome.outcome === "failed") return { failure: outcome.failure.kind, reasons: [outcome.failure.message] };
  return outcome.outcome === "refused" ? { reasons: [...outcome.reasons] } : {};
}
