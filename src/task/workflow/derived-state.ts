import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { Redact } from "../../engine/lib/redact.js";
import { type ReceivedMessage, updateInstructions } from "../../engine/storage/state/steering-inbox.js";
import type { HistoryLimits } from "../../engine/lib/history-limits.js";
import { longestRepetition } from "../../engine/loop/stop-conditions/stuck.js";
import {
  boundedObservations,
  lastRunFields,
  type LoopMemory,
  memoryFrom,
} from "../../engine/loop/run-record/loop-memory.js";
import { hasWorked } from "../../engine/loop/run-record/observation.js";
import type { Verdict } from "../../engine/loop/types.js";
import type { Attempt, TaskState } from "../generated/ralph-state.js";
import { planOf } from "../plan/plan.js";
import { isMet, statusOf } from "./status.js";

/** Advice for the next agent if iterations repeat themselves. The agents of a task change files and give no result. */
const remedies: NonNullable<LoopMemory["remedies"]> = {
  "identical-answers":
    "Every one of them left the files as they were, or the same again, and no further criterion was met. Take the first criterion that fails, find out why it fails, and change that.",
  oscillation:
    "They went back and forth between two versions, and each broke what the other had corrected. Read both failures first, then make one change that satisfies both.",
  "redundant-writes":
    "They wrote the same file over and over. Think the change through, write it once, then check the criteria.",
  "read-loop":
    "They kept reading and changed nothing. Open each file at most once, and then write the change, however small.",
  "planning-loop": "They announced what they would do and ended before doing it. Change files now; nobody answers you.",
  "command-loop":
    "They ran the same command again and again. The same command gives the same output again: change something before you run it once more.",
};

/** The latest attempts in a row that were not accepted, since the user last acted. */
export function withoutProgress({ attempts, loop }: TaskState): readonly Attempt[] {
  const attemptsSinceSuccess = attempts.slice(
    attempts.findLastIndex(({ outcome, undone }) => outcome === "accepted" && undone !== true) + 1,
  );
  return attemptsSinceSuccess.filter(
    ({ iteration, failure }) => iteration > (loop?.stagnation_since ?? 0) && hasWorked(failure),
  );
}

/** The memory of earlier iterations, for stop conditions and briefs. */
export function memoryOf(state: TaskState, ledger: readonly LedgerLine[], limits: HistoryLimits): LoopMemory {
  return { ...memoryFrom(state.loop, ledger, limits), withoutResult: withoutProgress(state).length, remedies };
}

/** The state with all fields that follow from the records. They are computed again before every write. Pure. */
export function withDerivedFields(state: TaskState, ledger: readonly LedgerLine[], limits: HistoryLimits): TaskState {
  const { loop = {} } = state;
  const observations = boundedObservations(loop.observations ?? [], limits, loop.rch_metrics);
  const repetition = longestRepetition(observations, limits, loop.stagnation_since ?? 0);
  const steps = (state.plan?.tasks ?? []).filter(({ kind }) => kind === "step");
  const iteration = Math.max(state.iteration ?? 0, ...ledger.map((line) => line.iteration));
  return {
    ...state,
    plan: planOf(state.task, state.checks, steps),
    iteration,
    done: isMet(state),
    loop: { ...loop, observations, loop_type: repetition?.kind ?? null, stagnation_count: repetition?.length ?? 0 },
  };
}

/** The state after a run that ended with this verdict at `now`, in milliseconds since the epoch. Pure. */
export function withEnd(state: TaskState, verdict: Verdict, now: number): TaskState {
  const isProblem = verdict.verdict === "stuck" || verdict.verdict === "blocked" || verdict.verdict === "failed";
  const last_run = lastRunFields(verdict, now);
  const status = statusOf(verdict);
  return { ...state, status, loop: { ...state.loop, error: isProblem ? verdict.reason : null, last_run } };
}

/** The state with new messages of the user, which no agent has read yet. Pure. */
export function withSteering(
  state: TaskState,
  messages: readonly ReceivedMessage[],
  at: string,
  redact: Redact,
): TaskState {
  const steering = updateInstructions(state.loop?.steering ?? [], messages, at, redact);
  return withRestartedCount({ ...state, loop: { ...state.loop, steering } });
}

/** The state after the user has acted: earlier attempts without progress no longer count. Pure. */
export const withRestartedCount = (state: TaskState): TaskState => ({
  ...state,
  loop: { ...state.loop, stagnation_since: state.iteration ?? 0 },
});
