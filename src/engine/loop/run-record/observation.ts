import type { Observation } from "../../generated/memory.js";
import type { HistoryLimits } from "../../lib/history-limits.js";
import type { Redact } from "../../lib/redact.js";
import { signsOf } from "../stop-conditions/stuck.js";
import type { AgentRun, Failure, Outcome, Unit } from "../types.js";
import { digestText, emptyDigest } from "./digest.js";

const maxSaid = 300;

/**
 * What a run left, so that two runs can be compared: a fingerprint, a sketch of its words, whether it is a result.
 */
export type Left = Pick<Observation, "answer" | "sketch" | "left">;

/** What came of an iteration whose unit no other agent shares, so that nothing is only noted. */
export type OwnOutcome = Exclude<Outcome, { readonly outcome: "noted" }>;

/** An outcome in words. */
export function saidOf(outcome: OwnOutcome): string {
  if (outcome.outcome === "accepted") return outcome.summary;
  return outcome.outcome === "refused" ? outcome.reasons.join("; ") : outcome.failure.message;
}

/** The same in one line, at most 300 characters. */
function inOneLine(outcome: OwnOutcome): string {
  const line = saidOf(outcome).replace(/\s+/g, " ").trim();
  return line.length > maxSaid ? `${line.slice(0, maxSaid - 1)}…` : line;
}

/** What is remembered of a run; undefined where no agent got to work. `left` counts where it was not accepted. */
export function observationOf(
  unit: Unit,
  run: AgentRun,
  outcome: Outcome,
  { left, ...answer }: Left,
  { redact, memory: { observationChars } }: { readonly redact: Redact; readonly memory: HistoryLimits },
): Observation | undefined {
  // Where several share a unit, it counts once.
  if (outcome.outcome === "noted" || (outcome.outcome === "failed" && !wasAtWork(outcome.failure.kind)))
    return undefined;
  const said = inOneLine(outcome);
  const did = run.digest ?? emptyDigest;
  // Redacted whole: what is cut first might leave half of a secret.
  const digest = redact(digestText(did, observationChars)).slice(0, Math.max(0, observationChars - said.length));
  // An agent that reports no usage reports no tool calls either.
  const isWhole = outcome.outcome !== "failed" && run.usage.requests > 0;
  const signs = outcome.outcome === "accepted" ? [] : signsOf(did, left === true, isWhole);
  return {
    iteration: run.iteration,
    unit: unit.id,
    outcome: outcome.outcome,
    ...(outcome.outcome === "failed" ? { failure: outcome.failure.kind } : {}),
    said: redact(said),
    ...(digest === "" ? {} : { digest }),
    ...(left === undefined || outcome.outcome === "accepted" ? {} : { left }),
    ...(outcome.outcome === "accepted" ? {} : answer),
    ...(signs.length === 0 ? {} : { signs }),
  };
}

/** Failures in which no agent got to work: there is nothing to learn from them. */
const notAtWork: ReadonlySet<Failure["kind"]> = new Set([
  "rate-limit",
  "network",
  "auth",
  "missing",
  "unusable",
  "too-large",
  "aborted",
]);

/** Whether an agent got to work in an iteration that failed so, or did not fail. */
export const wasAtWork = (failure: string | undefined): boolean => !notAtWork.has(failure as Failure["kind"]);
