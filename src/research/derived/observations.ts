import { createHash } from "node:crypto";
import { join } from "node:path";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { Rrd, Loop } from "../generated/rrd.js";
import { type RunAnswer, wasAtWork } from "../../engine/loop/run-record/observation.js";
import { type HistoryLimits } from "../../engine/lib/history-limits.js";
import { boundedObservations, lastRun, type LoopMemory, memoryFrom } from "../../engine/loop/run-record/loop-memory.js";
import { sketchOf } from "../../engine/lib/minhash.js";
import { longestRepetition } from "../../engine/loop/stop-conditions/stuck.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { AgentRun, Outcome, Verdict } from "../../engine/loop/types.js";
import { isAnswerUnit } from "../project-files/logs/answers-log.js";
import { readResult } from "../../engine/storage/result-file.js";
import { resultName } from "../../engine/lib/layout.js";
import { isObject } from "../../engine/lib/json-fields.js";

/**
 * Fingerprint and sketch of the result in a workspace, or of the agent's last message where the result is missing. An
 * empty answer counts too, as it may come again and again; but what failed had no time to give one. Nothing where it
 * was of use. It has to be asked for while the workspace still stands.
 */
export async function leftBy({ brief, message, failure }: AgentRun, { outcome }: Outcome): Promise<RunAnswer> {
  if (outcome === "accepted" || outcome === "noted") return {};
  const result = await readResult(join(brief.workspace, resultName));
  const value = "value" in result ? withoutUnit(result.value) : undefined;
  const answer = value === undefined ? message.replace(/\s+/g, " ").trim() : JSON.stringify(value);
  const left = value === undefined ? {} : { left: true as const };
  if (answer === "" && failure !== undefined) return left;
  const sketch = sketchOf(value === undefined ? answer : proseIn(value).join(" "));
  return {
    ...left,
    answer: createHash("sha256").update(answer).digest("hex").slice(0, 12),
    ...withoutUndefined({ sketch }),
  };
}

/** All texts in a value, without the names of its fields. */
function proseIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(proseIn) : [];
}

/** The same answer to another unit is the same answer. */
const withoutUnit = (value: unknown): unknown => (isObject(value) ? { ...value, unit: undefined } : value);

/** What the loop remembers, with everything that follows from its records computed again. Pure. */
export function deriveLoop(rrd: Rrd, ledger: readonly LedgerLine[], limits: HistoryLimits): NonNullable<Rrd["loop"]> {
  const { limits: _, ...loop } = rrd.loop ?? {};
  const observations = boundedObservations(loop.observations ?? [], limits, loop.rch_metrics);
  const since = countedSince(rrd);
  const without = withoutResult(rrd, ledger).length;
  const row = longestRepetition(observations, limits, since);
  // A finished folder from before any of this was kept stays as it is.
  if (observations.length + without === 0 && loop.loop_type === undefined && loop.stagnation_count === undefined)
    return loop;
  return {
    ...loop,
    observations,
    loop_type: row?.kind ?? null,
    stagnation_count: row?.length ?? 0,
    ...(since === 0 ? {} : { stagnation_since: since }),
    ...(without === 0 ? {} : { limits: limitsOf(rrd) }),
  };
}

/** What stop conditions and briefs learn of earlier iterations. */
export function memoryOf(rrd: Rrd, ledger: readonly LedgerLine[], limits: HistoryLimits): LoopMemory {
  return {
    ...memoryFrom(
      rrd.loop ?? undefined,
      ledger.filter(({ unit }) => !isAnswerUnit(unit)),
      limits,
    ),
    since: countedSince(rrd),
    withoutResult: withoutResult(rrd, ledger).length,
  };
}

/** Whether a run that ends so has begun anything: one of a project that was complete before changes nothing of it. */
export const isNews = ({ loop }: Rrd, { verdict }: Verdict): boolean =>
  verdict !== "complete" || (loop != null && loop.last_run?.verdict !== verdict);

/** The state once a run has ended so, at `now`, in milliseconds since the epoch. Pure. */
export function withEnd(rrd: Rrd, ended: Verdict, now: number): Rrd {
  const { verdict, reason } = ended;
  const isProblem = verdict === "stuck" || verdict === "blocked" || verdict === "failed";
  const last_run = lastRun(ended, now);
  return { ...rrd, loop: { ...rrd.loop, error: isProblem ? reason : null, last_run } };
}

type Limits = NonNullable<NonNullable<Loop>["limits"]>;

/** What a person allows: the budget, and how many papers are looked for. */
function limitsOf({ budget, requirements }: Rrd): Limits {
  const { max_usd, max_tokens, max_minutes, max_iterations } = budget ?? {};
  const all = { max_usd, max_tokens, max_minutes, max_iterations, target_papers: requirements.target_papers };
  return Object.fromEntries(Object.entries(all).filter(([, most]) => typeof most === "number"));
}

/** Whether more is allowed than before; a limit that is gone allows more. */
const isRaised = (before: Limits, now: Limits): boolean =>
  Object.entries(before).some(([name, most]) => typeof most === "number" && Number(now[name] ?? Infinity) > most);

/** The iteration after which it is counted: a person has acted since. */
function countedSince(rrd: Rrd): number {
  const { stagnation_since: since = 0, limits, iteration = 0 } = rrd.loop ?? {};
  return limits !== undefined && isRaised(limits, limitsOf(rrd)) ? Math.max(since, iteration) : since;
}

/**
 * The iterations in a row, up to the last, whose work was not accepted, of all runs since a person last acted. Those in
 * which no agent got to work do not count.
 */
export function withoutResult(rrd: Rrd, ledger: readonly LedgerLine[]): readonly LedgerLine[] {
  const since = countedSince(rrd);
  // A question, answered or not, is not work of the project.
  const work = ledger.filter(({ unit }) => !isAnswerUnit(unit));
  const row = work.slice(work.findLastIndex(({ outcome }) => outcome === "accepted" || outcome === "reset") + 1);
  return row.filter(
    ({ failure, iteration, outcome }) => iteration > since && outcome !== "noted" && wasAtWork(failure),
  );
}

/** The state once a person has acted, after iteration `last`: what brought nothing before counts no more. Pure. */
export const resetStagnation = (rrd: Rrd, last = rrd.loop?.iteration): Rrd =>
  last === undefined ? rrd : { ...rrd, loop: { ...rrd.loop, stagnation_since: last } };
