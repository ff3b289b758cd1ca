import { createHash } from "node:crypto";
import { join } from "node:path";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { Rrd, Loop } from "../generated/rrd.js";
import { type RunAnswer, hasWorked } from "../../engine/loop/run-record/observation.js";
import { type HistoryLimits } from "../../engine/lib/history-limits.js";
import {
  boundedObservations,
  lastRunFields,
  type LoopMemory,
  memoryFrom,
} from "../../engine/loop/run-record/loop-memory.js";
import { sketchOf } from "../../engine/lib/minhash.js";
import { longestRepetition } from "../../engine/loop/stop-conditions/stuck.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { AgentRun, Outcome, Verdict } from "../../engine/loop/types.js";
import { isAnswerUnit } from "../project-files/logs/answers-log.js";
import { readResult } from "../../engine/storage/result-file.js";
import { resultName } from "../../engine/lib/layout.js";
import { isObject } from "../../engine/lib/json-fields.js";

/**
 * Fingerprint and sketch of the result in a workspace, or of the agent's last message if there is no result. An empty
 * answer counts too, because it may be repeated, but not if the agent failed. Empty if the iteration was useful. Must
 * be called before the workspace is deleted.
 */
export async function answerOfRun({ brief, message, failure }: AgentRun, { outcome }: Outcome): Promise<RunAnswer> {
  if (outcome === "accepted" || outcome === "noted") return {};
  const result = await readResult(join(brief.workspace, resultName));
  const value = "value" in result ? withoutUnit(result.value) : undefined;
  const answer = value === undefined ? message.replace(/\s+/g, " ").trim() : JSON.stringify(value);
  const resultField = value === undefined ? {} : { left: true as const };
  if (answer === "" && failure !== undefined) return resultField;
  const sketch = sketchOf(value === undefined ? answer : proseIn(value).join(" "));
  return {
    ...resultField,
    answer: createHash("sha256").update(answer).digest("hex").slice(0, 12),
    ...withoutUndefined({ sketch }),
  };
}

/** All texts in a value, without field names. */
function proseIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(proseIn) : [];
}

/** Without the unit, equal answers to different units are equal. */
const withoutUnit = (value: unknown): unknown => (isObject(value) ? { ...value, unit: undefined } : value);

/** Computes the derived fields of `loop` again. Pure. */
export function deriveLoop(rrd: Rrd, ledger: readonly LedgerLine[], limits: HistoryLimits): NonNullable<Rrd["loop"]> {
  const { limits: _, ...loop } = rrd.loop ?? {};
  const observations = boundedObservations(loop.observations ?? [], limits, loop.rch_metrics);
  const countedFrom = countStart(rrd);
  const withoutResultCount = iterationsWithoutResult(rrd, ledger).length;
  const repetition = longestRepetition(observations, limits, countedFrom);
  // A project that was finished before these fields existed stays unchanged.
  if (
    observations.length + withoutResultCount === 0 &&
    loop.loop_type === undefined &&
    loop.stagnation_count === undefined
  )
    return loop;
  return {
    ...loop,
    observations,
    loop_type: repetition?.kind ?? null,
    stagnation_count: repetition?.length ?? 0,
    ...(countedFrom === 0 ? {} : { stagnation_since: countedFrom }),
    ...(withoutResultCount === 0 ? {} : { limits: limitsOf(rrd) }),
  };
}

/** The memory of earlier iterations, for stop conditions and briefs. */
export function memoryOf(rrd: Rrd, ledger: readonly LedgerLine[], limits: HistoryLimits): LoopMemory {
  return {
    ...memoryFrom(
      rrd.loop ?? undefined,
      ledger.filter(({ unit }) => !isAnswerUnit(unit)),
      limits,
    ),
    since: countStart(rrd),
    withoutResult: iterationsWithoutResult(rrd, ledger).length,
  };
}

/**
 * Whether the end of this run changes the state. A run of a project that was already complete and that had nothing to
 * do changes nothing.
 */
export function isStateChangedByEnd({ loop }: Rrd, ledger: readonly LedgerLine[], { verdict }: Verdict): boolean {
  if (verdict !== "complete") return true;
  if (loop == null) return false;
  const lastWorkAt = ledger.findLast(({ unit }) => !isAnswerUnit(unit))?.at ?? "";
  return loop.last_run?.verdict !== verdict || lastWorkAt > loop.last_run.at;
}

/** The state after a run has ended. `nowMs`: milliseconds since the epoch. Pure. */
export function withEnd(rrd: Rrd, end: Verdict, nowMs: number): Rrd {
  const { verdict, reason } = end;
  const isProblem = verdict === "stuck" || verdict === "blocked" || verdict === "failed";
  const last_run = lastRunFields(end, nowMs);
  return { ...rrd, loop: { ...rrd.loop, error: isProblem ? reason : null, last_run } };
}

type Limits = NonNullable<NonNullable<Loop>["limits"]>;

/** The user's limits: the budget and the number of wanted papers. */
function limitsOf({ budget, requirements }: Rrd): Limits {
  const { max_usd, max_tokens, max_minutes, max_iterations } = budget ?? {};
  const limits = { max_usd, max_tokens, max_minutes, max_iterations, target_papers: requirements.target_papers };
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => typeof limit === "number"));
}

/** Whether a limit was raised or removed. */
const isRaised = (earlierLimits: Limits, currentLimits: Limits): boolean =>
  Object.entries(earlierLimits).some(
    ([name, limit]) => typeof limit === "number" && Number(currentLimits[name] ?? Infinity) > limit,
  );

/** Only iterations after this one count: since then the user has acted. */
function countStart(rrd: Rrd): number {
  const { stagnation_since: resetIteration = 0, limits, iteration = 0 } = rrd.loop ?? {};
  return limits !== undefined && isRaised(limits, limitsOf(rrd)) ? Math.max(resetIteration, iteration) : resetIteration;
}

/**
 * The last iterations in a row whose work was not accepted, over all runs since the user's last action. Iterations in
 * which no agent could start work do not count.
 */
export function iterationsWithoutResult(rrd: Rrd, ledger: readonly LedgerLine[]): readonly LedgerLine[] {
  const countedFrom = countStart(rrd);
  // Answering the user's question is not work on the project.
  const workLines = ledger.filter(({ unit }) => !isAnswerUnit(unit));
  const sinceAccepted = workLines.slice(
    workLines.findLastIndex(({ outcome }) => outcome === "accepted" || outcome === "reset") + 1,
  );
  return sinceAccepted.filter(
    ({ failure, iteration, outcome }) => iteration > countedFrom && outcome !== "noted" && hasWorked(failure),
  );
}

/** The state after the user has acted: only iterations after `lastIteration` count as stagnation. Pure. */
export const resetStagnation = (rrd: Rrd, lastIteration = rrd.loop?.iteration): Rrd =>
  lastIteration === undefined ? rrd : { ...rrd, loop: { ...rrd.loop, stagnation_since: lastIteration } };
