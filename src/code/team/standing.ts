import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { many } from "../../engine/lib/words.js";
import type { LoopMemory } from "../../engine/loop/run-record/loop-memory.js";
import type { Unit, Verdict } from "../../engine/loop/types.js";
import { roundsOf } from "../../task/plan/used.js";
import { taskPhase } from "../../task/project-files/state-file.js";
import type { Round, Step, TaskState, Tested } from "../../task/generated/ralph-state.js";

/** Rounds in a row that fail with the same tests and errors until the run ends as stuck. */
export const maxRepeats = 3;

/** What a team does next. `criteria`: they are checked before a round begins, or before the adversary does. */
export interface TeamUnit extends Unit {
  readonly kind: Step["role"] | "criteria";
  readonly round: number;
}

export const roundOf = ({ rounds = [] }: TaskState, round: number): Round | undefined =>
  rounds.find((each) => each.round === round);

/** The number of the round that would begin next. */
export const nextRound = ({ rounds = [] }: TaskState): number => (rounds.at(-1)?.round ?? 0) + 1;

/** The record of the unit's round with one more step, which ended `at`. Pure. */
export function stepped(state: TaskState, unit: TeamUnit, event: Step["event"], at: string, iteration?: number): Round {
  const round = roundOf(state, unit.round) ?? { id: `round-${unit.round}`, round: unit.round, steps: [] };
  const role = unit.kind as Step["role"];
  return { ...round, steps: [...round.steps, { role, event, at, ...withoutUndefined({ iteration }) }] };
}

/** The state with this record of a round. Pure. */
export const withRound = (state: TaskState, round: Round): TaskState => ({
  ...state,
  rounds: [...(state.rounds ?? []).filter(({ id }) => id !== round.id), round].toSorted((a, b) => a.round - b.round),
});

/** The round whose change the tests have not seen yet; undefined where they have seen all that the run has done. */
export function untestedRound(state: TaskState): number | undefined {
  const { steps = [], tests, round } = roundsOf(state).at(-1) ?? {};
  return tests === undefined && steps.some(({ role, event }) => role === "artisan" && event === "ok")
    ? round
    : undefined;
}

/** The tests as they stood last, in words, and whether a change came after them. */
export function testsText(state: TaskState, { framework, passed, failing }: Tested): string {
  const round = untestedRound(state);
  const since = round === undefined ? "" : `, before the change of round ${round}, which is not tested yet`;
  // Of a command nobody knows how many tests it runs.
  const isAlone = framework === "command" && passed === 0 && failing <= 1;
  return `${isAlone ? `the command ${failing === 0 ? "passes" : "fails"}` : `${passed} passed, ${failing} failing`}${since}`;
}

const titles: Readonly<Record<Step["role"], string>> = {
  librarian: "Librarian",
  artisan: "Artisan",
  critic: "Critic",
  tests: "Tests",
  adversary: "Adversary",
};

export function unitOf(kind: TeamUnit["kind"], round: number, { task }: TaskState): TeamUnit {
  const about =
    task.task
      .trim()
      .split(/\n|(?<=\.)\s/)[0]
      ?.slice(0, 60) ?? "";
  const own = kind === "criteria" ? "Criteria" : titles[kind];
  return {
    kind,
    id: kind === "criteria" ? kind : `${kind}:${round}`,
    phase: taskPhase,
    title: `${own}, round ${round}: ${about}`,
    role: kind === "criteria" ? "tests" : kind,
    round,
  };
}

/** How the run ends where the last rounds have failed alike; undefined: another round follows. */
export function stuckAfter(state: TaskState): Verdict | undefined {
  const since = state.loop?.stagnation_since ?? 0;
  // A round whose roles were all at work before a person acted counts no more.
  const rounds = roundsOf(state).filter(({ steps }) => steps.some(({ iteration = 0 }) => iteration > since));
  const last = rounds.at(-1);
  const repeats = Math.min(last?.repeats ?? 0, rounds.length);
  if (last === undefined || repeats < maxRepeats) return undefined;
  const named = (last.tests?.signatures ?? []).slice(0, 3).join("; ") || "a criterion that is not met";
  return {
    verdict: "stuck",
    reason: `${many(repeats, "round")} in a row failed with the same errors: ${named}. Look at the rounds with 'research-ralph report'; then give advice with 'research-ralph steer', use another agent, or run again with --force.`,
  };
}

/** What the next agent does otherwise; a role answers with its JSON, and the artisan changes files before. */
export const remedies: NonNullable<LoopMemory["remedies"]> = {
  "identical-answers": "Every one of them left the same. Find out why it did not help, and do something else.",
  oscillation: "They went back and forth between two versions. Read both failures, then satisfy both at once.",
  "redundant-writes": "They wrote the same file over and over. Think the change through and write it once.",
  "read-loop": "They kept reading and left nothing. Open each file at most once, then do what your role asks.",
  "planning-loop": "They announced what they would do and ended. Do it now; nobody answers you.",
  "command-loop": "They ran the same command again and again. Change something before you run it once more.",
};
