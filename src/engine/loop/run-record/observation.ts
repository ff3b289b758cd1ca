import type { Observation } from "../../generated/memory.js";
import type { HistoryLimits } from "../../lib/history-limits.js";
import type { Redact } from "../../lib/redact.js";
import { loopSignsOf } from "../stop-conditions/stuck.js";
import type { AgentRun, Failure, Outcome, Unit } from "../types.js";
import { digestText, emptyDigest } from "./digest.js";

const maxOutcomeChars = 300;

/**
 * The answer of a run, in a form that can be compared: a fingerprint, a sketch of its words, and whether it is a result
 * (`left`).
 */
export type RunAnswer = Pick<Observation, "answer" | "sketch" | "left">;

/** The outcome of an iteration whose unit is not shared by several agents; never `noted`. */
export type FinalOutcome = Exclude<Outcome, { readonly outcome: "noted" }>;

/** The text of an outcome. */
export function outcomeText(outcome: FinalOutcome): string {
  if (outcome.outcome === "accepted") return outcome.summary;
  return outcome.outcome === "refused" ? outcome.reasons.join("; ") : outcome.failure.message;
}

/** The text of an outcome in one line, at most 300 characters. */
function outcomeLine(outcome: FinalOutcome): string {
  const line = outcomeText(outcome).replace(/\s+/g, " ").trim();
  return line.length > maxOutcomeChars ? `${line.slice(0, maxOutcomeChars - 1)}…` : line;
}

/** The observation of a run; undefined if no agent worked. `left` is stored only if the result was not accepted. */
export function observationOf(
  unit: Unit,
  run: AgentRun,
  outcome: Outcome,
  { left, ...answer }: RunAnswer,
  { redact, memory: { observationChars } }: { readonly redact: Redact; readonly memory: HistoryLimits },
): Observation | undefined {
  // A unit that several agents share counts only once.
  if (outcome.outcome === "noted" || (outcome.outcome === "failed" && !hasWorked(outcome.failure.kind)))
    return undefined;
  const sentence = outcomeLine(outcome);
  const runDigest = run.digest ?? emptyDigest;
  // Redacted before it is truncated, because a truncated secret would not be recognised.
  const digest = redact(digestText(runDigest, observationChars)).slice(
    0,
    Math.max(0, observationChars - sentence.length),
  );
  // An agent that reports no usage reports no tool calls either.
  const isComplete = outcome.outcome !== "failed" && run.usage.requests > 0;
  const signs = outcome.outcome === "accepted" ? [] : loopSignsOf(runDigest, left === true, isComplete);
  return {
    iteration: run.iteration,
    unit: unit.id,
    outcome: outcome.outcome,
    ...(outcome.outcome === "failed" ? { failure: outcome.failure.kind } : {}),
    said: redact(sentence),
    ...(digest === "" ? {} : { digest }),
    ...(left === undefined || outcome.outcome === "accepted" ? {} : { left }),
    ...(outcome.outcome === "accepted" ? {} : answer),
    ...(signs.length === 0 ? {} : { signs }),
  };
}

/** Failures before the agent began to work. Such an iteration says nothing about the work. */
const failuresBeforeWork: ReadonlySet<Failure["kind"]> = new Set([
  "rate-limit",
  "network",
  "auth",
  "missing",
  "unusable",
  "too-large",
  "aborted",
]);

/** Whether an agent worked in an iteration with this failure, or without a failure. */
export const hasWorked = (failure: string | undefined): boolean => !failuresBeforeWork.has(failure as Failure["kind"]);
