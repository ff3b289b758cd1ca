import type { LedgerLine } from "../../engine/generated/ledger.js";
import { given } from "../../engine/lib/given.js";
import type { HistoryLimits } from "../../engine/lib/history-limits.js";
import { many } from "../../engine/lib/words.js";
import { usesAllowance } from "../../engine/loop/stop-conditions/limits.js";
import { bounded, lastRun, type LoopMemory, rememberedIn } from "../../engine/loop/run-record/loop-memory.js";
import { type Received, wordsAfter } from "../../engine/storage/state/steering-inbox.js";
import type { Redact } from "../../engine/lib/redact.js";
import { wasAtWork } from "../../engine/loop/run-record/observation.js";
import type { Progress, Spent, Unit, Verdict } from "../../engine/loop/types.js";
import { codePhase, roundsOf } from "../project-files/state-file.js";
import { codeReportName } from "../project-files/layout.js";
import type { CodeState, Job, Round, RoleRun, Step, Tested } from "../generated/ralph-code.js";
import { spentOnAttempts } from "../../engine/loop/stop-conditions/budget.js";

/** Rounds of a job that names no other number. */
export const usualRounds = 10;
/** Rounds in a row that fail with the same signatures until the run ends as stuck. */
export const maxRepeats = 3;

/** What a coding run does next. `baseline`: the tests before the first round. */
export interface CodeUnit extends Unit {
  readonly kind: Step["role"] | "baseline";
  readonly round: number;
}

export const roundOf = (state: CodeState, round: number): Round | undefined =>
  state.rounds.find((each) => each.round === round);

/** The record of the unit's round with one more step, which ended `at`. Pure. */
export function stepped(state: CodeState, unit: CodeUnit, event: Step["event"], at: string, iteration?: number): Round {
  const round = roundOf(state, unit.round) ?? { id: `round-${unit.round}`, round: unit.round, steps: [] };
  const role = unit.kind as Step["role"];
  return { ...round, steps: [...round.steps, { role, event, at, ...given({ iteration }) }] };
}

/** The state with this record of a round. Pure. */
export const withRound = (state: CodeState, round: Round): CodeState => ({
  ...state,
  rounds: [...state.rounds.filter(({ id }) => id !== round.id), round].toSorted((a, b) => a.round - b.round),
});

/** The tests as they stood last. */
export const latestTests = (state: CodeState): Tested | undefined =>
  [
    state.baseline,
    ...roundsOf(state).flatMap(({ tests, put_back }) => (tests === undefined || put_back !== undefined ? [] : [tests])),
  ].reduce(
    (latest, each) => (each === undefined || (latest !== undefined && latest.at > each.at) ? latest : each),
    undefined,
  );

/** The round whose change the tests have not seen yet; undefined where they have seen all that the run has done. */
export function untestedRound(state: CodeState): number | undefined {
  const last = roundsOf(state).at(-1);
  const { steps = [], tests, round } = last ?? {};
  return tests === undefined && steps.some(({ role, event }) => role === "artisan" && event === "ok")
    ? round
    : undefined;
}

/** The tests as they stood last, in words, and whether a change came after them. */
export function testsText(state: CodeState, { passed, failing }: Tested): string {
  const round = untestedRound(state);
  const since = round === undefined ? "" : `, before the change of round ${round}, which is not tested yet`;
  return `${passed} passed, ${failing} failing${since}`;
}

const titles: Readonly<Record<CodeUnit["kind"], string>> = {
  baseline: "Tests before the first round",
  librarian: "Librarian",
  artisan: "Artisan",
  critic: "Critic",
  tests: "Tests",
  adversary: "Adversary",
};

export function unitOf(kind: CodeUnit["kind"], round: number, job: Job): CodeUnit {
  const about = job.text?.split("\n")[0]?.slice(0, 60) ?? "repair the tests";
  return {
    kind,
    id: kind === "baseline" ? "baseline" : `${kind}:${round}`,
    phase: codePhase,
    title: kind === "baseline" ? titles[kind] : `${titles[kind]}, round ${round}: ${about}`,
    role: kind === "baseline" ? "tests" : kind,
    round,
  };
}

/** Whether what ends the job is reached by the tests as they are. */
export const isReached = ({ failing, unmet = [] }: Tested): boolean => failing === 0 && unmet.length === 0;

/**
 * The verdict once a round is over; undefined: another round follows. `isPast`: the tests were taken anew since, and do
 * not all pass.
 */
export function verdictAfter(state: CodeState, round: Round, isPast: boolean): Verdict | undefined {
  const { job, flaky = [] } = state;
  const isDone = !isPast && round.steps.some(({ event }) => event === "pass") && (round.veto ?? []).length === 0;
  if (isDone) {
    const unsteady = flaky.length === 0 ? "" : ` Flaky, and not counted: ${flaky.slice(0, 3).join(", ")}.`;
    return {
      verdict: "complete",
      reason: `All tests pass after ${many(round.round - (state.begun ?? 0), "round")}.${unsteady}`,
    };
  }
  const since = state.loop?.since ?? 0;
  const repeats = Math.min(round.repeats ?? 0, round.round - since);
  if (repeats >= maxRepeats) {
    const named = (round.tests?.signatures ?? []).slice(0, 3).join("; ");
    return {
      verdict: "stuck",
      reason: `${repeats} rounds in a row failed with the same errors: ${named}. Look at ${codeReportName}; then give advice with 'research-ralph steer', use another agent, or run again with --force.`,
    };
  }
  const done = roundsOf(state).length;
  if (done >= job.rounds)
    return {
      verdict: "limit",
      cause: "iterations",
      reason: `${many(job.rounds, "round")} of this job are used up; allow more with --rounds.`,
    };
  return undefined;
}

export const progressOf = (state: CodeState): Progress => {
  const all = state.baseline?.failing ?? 0;
  const now = latestTests(state)?.failing ?? all;
  return { done: Math.max(0, all - now), total: all };
};

/** Runs of agents that got to work: those that only met a closed service, or never started, are free. */
const countedIn = (attempts: readonly RoleRun[]): readonly RoleRun[] =>
  attempts.filter(({ failure }) => usesAllowance(failure));

/** Runs of agents that are not counted. */
export const notCounted = ({ attempts }: CodeState): number => attempts.length - countedIn(attempts).length;

export const spentIn = ({ attempts, loop }: CodeState): Spent => spentOnAttempts(attempts, loop?.rch_metrics);

/** What stop conditions and briefs learn of earlier iterations. */
export function memoryOf(state: CodeState, ledger: readonly LedgerLine[], limits: HistoryLimits): LoopMemory {
  const { loop, attempts } = state;
  const row = attempts
    .slice(attempts.findLastIndex(({ outcome }) => outcome === "accepted") + 1)
    .filter(({ iteration, failure }) => iteration > (loop?.stagnation_since ?? 0) && wasAtWork(failure));
  return { ...rememberedIn(loop, ledger, limits), withoutResult: row.length, remedies };
}

/** What the next agent does otherwise; a role answers with its JSON, and the artisan changes files before. */
const remedies: NonNullable<LoopMemory["remedies"]> = {
  "identical-answers": "Every one of them left the same. Find out why it did not help, and do something else.",
  oscillation: "They went back and forth between two versions. Read both failures, then satisfy both at once.",
  "redundant-writes": "They wrote the same file over and over. Think the change through and write it once.",
  "read-loop": "They kept reading and left nothing. Open each file at most once, then do what your role asks.",
  "planning-loop": "They announced what they would do and ended. Do it now; nobody answers you.",
  "command-loop": "They ran the same command again and again. Change something before you run it once more.",
};

/** What follows from the records, computed again before every write. Pure. */
export function derive(state: CodeState, ledger: readonly LedgerLine[], limits: HistoryLimits): CodeState {
  const { loop = {} } = state;
  const observations = bounded(loop.observations ?? [], limits, loop.rch_metrics);
  const iteration = Math.max(state.iteration ?? 0, ...ledger.map((line) => line.iteration));
  return { ...state, iteration, loop: { ...loop, observations } };
}

/** The state with what a person said meanwhile: rounds that brought nothing before count no more. Pure. */
export const steered = (state: CodeState, messages: readonly Received[], at: string, redact: Redact): CodeState =>
  countedAnew({
    ...state,
    loop: { ...state.loop, steering: wordsAfter(state.loop?.steering ?? [], messages, at, redact) },
  });

/** The state once a person has acted: what brought nothing before counts no more. Pure. */
export const countedAnew = (state: CodeState): CodeState => ({
  ...state,
  loop: { ...state.loop, since: state.rounds.at(-1)?.round ?? 0, stagnation_since: state.iteration ?? 0 },
});

/** The state once a run has ended so, at `now`, in milliseconds since the epoch. Pure. */
export function withEnd(state: CodeState, verdict: Verdict, now: number): CodeState {
  const last_run = lastRun(verdict, now);
  return { ...state, done: verdict.verdict === "complete", loop: { ...state.loop, last_run } };
}
