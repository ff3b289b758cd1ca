import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { quantity } from "../../engine/lib/words.js";
import type { LoopMemory } from "../../engine/loop/run-record/loop-memory.js";
import type { Unit, Verdict } from "../../engine/loop/types.js";
import { roundsOf } from "../../task/plan/used.js";
import { taskPhase } from "../../task/project-files/state-file.js";
import type { Round, Step, TaskState, Tested } from "../../task/generated/ralph-state.js";

/** Number of rounds in a row with the same failing tests and errors after which the run ends as stuck. */
const maxRepeats = 3;

/** The next step of a team. `criteria`: the criteria are checked, before a round or before the adversary. */
export interface TeamUnit extends Unit {
  readonly kind: Step["role"] | "criteria";
  readonly round: number;
}

export const roundOf = ({ rounds = [] }: TaskState, round: number): Round | undefined =>
  rounds.find((candidate) => candidate.round === round);

/** The number of the next round. */
export const nextRoundNumber = ({ rounds = [] }: TaskState): number => (rounds.at(-1)?.round ?? 0) + 1;

/** The record of the unit's round with one more step, which ended at `at`. Pure. */
export function roundWithStep(
  state: TaskState,
  unit: TeamUnit,
  event: Step["event"],
  at: string,
  iteration?: number,
): Round {
  const round = roundOf(state, unit.round) ?? { id: `round-${unit.round}`, round: unit.round, steps: [] };
  const role = unit.kind as Step["role"];
  return { ...round, steps: [...round.steps, { role, event, at, ...withoutUndefined({ iteration }) }] };
}

/** The state with this record of a round added or replaced. Pure. */
export const withRound = (state: TaskState, round: Round): TaskState => ({
  ...state,
  rounds: [...(state.rounds ?? []).filter(({ id }) => id !== round.id), round].toSorted((a, b) => a.round - b.round),
});

/** The round whose change is not tested yet; undefined if every change is tested. */
export function untestedRound(state: TaskState): number | undefined {
  const { steps = [], tests, round } = roundsOf(state).at(-1) ?? {};
  return tests === undefined && steps.some(({ role, event }) => role === "artisan" && event === "ok")
    ? round
    : undefined;
}

/** The latest test results as text, with a note if a change was made after them. */
export function testsText(state: TaskState, { framework, passed, failing }: Tested): string {
  const round = untestedRound(state);
  const note = round === undefined ? "" : `, before the change of round ${round}, which is not tested yet`;
  // For a command, the number of tests is not known.
  const isSingleCommand = framework === "command" && passed === 0 && failing <= 1;
  return `${isSingleCommand ? `the command ${failing === 0 ? "passes" : "fails"}` : `${passed} passed, ${failing} failing`}${note}`;
}

const roleTitles: Readonly<Record<Step["role"], string>> = {
  librarian: "Librarian",
  artisan: "Artisan",
  critic: "Critic",
  tests: "Tests",
  adversary: "Adversary",
};

export function unitOf(kind: TeamUnit["kind"], round: number, { task }: TaskState): TeamUnit {
  const taskTitle =
    task.task
      .trim()
      .split(/\n|(?<=\.)\s/)[0]
      ?.slice(0, 60) ?? "";
  const roleTitle = kind === "criteria" ? "Criteria" : roleTitles[kind];
  return {
    kind,
    id: kind === "criteria" ? kind : `${kind}:${round}`,
    phase: taskPhase,
    title: `${roleTitle}, round ${round}: ${taskTitle}`,
    role: kind === "criteria" ? "tests" : kind,
    round,
  };
}

/** The verdict of the run if the last rounds failed in the same way; undefined if another round follows. */
export function stuckVerdict(state: TaskState): Verdict | undefined {
  const stagnationSince = state.loop?.stagnation_since ?? 0;
  // A round counts only if a role worked in it after the user last acted.
  const rounds = roundsOf(state).filter(({ steps }) => steps.some(({ iteration = 0 }) => iteration > stagnationSince));
  const lastRound = rounds.at(-1);
  const repeats = Math.min(lastRound?.repeats ?? 0, rounds.length);
  if (lastRound === undefined || repeats < maxRepeats) return undefined;
  const errors = (lastRound.tests?.signatures ?? []).slice(0, 3).join("; ") || "a criterion that is not met";
  return {
    verdict: "stuck",
    reason: `${quantity(repeats, "round")} in a row failed with the same errors: ${errors}. Look at the rounds with 'research-ralph report'; then give advice with 'research-ralph steer', use another agent, or run again with --force.`,
  };
}

/**
 * Advice for the next agent if iterations repeat themselves. Roles answer with JSON; the artisan also changes files.
 */
export const remedies: NonNullable<LoopMemory["remedies"]> = {
  "identical-answers": "Every one of them left the same. Find out why it did not help, and do something else.",
  oscillation: "They went back and forth between two versions. Read both failures, then satisfy both at once.",
  "redundant-writes": "They wrote the same file over and over. Think the change through and write it once.",
  "read-loop": "They kept reading and left nothing. Open each file at most once, then do what your role asks.",
  "planning-loop": "They announced what they would do and ended. Do it now; nobody answers you.",
  "command-loop": "They ran the same command again and again. Change something before you run it once more.",
};
