import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { ExpectedError } from "../../engine/lib/errors.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { hiddenFolder } from "../../engine/lib/layout.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { withExplainedErrors } from "../../engine/storage/explain-system-error.js";
import { makeFolder, readRegularText } from "../../engine/storage/regular-file.js";
import { requireKnownFormats } from "../../engine/storage/state/format-version.js";
import type { Criterion, RalphTask } from "../generated/ralph.js";
import type { Attempt, Best, Round, TaskState, Tested } from "../generated/ralph-state.js";
import { stateFile } from "./layout.js";
import { taskFormat } from "./state-file.js";

/** Name of the state file of a coding run. In earlier versions, such runs were not tasks. */
export const oldCodeName = "ralph.code.json";
/** The prefix of the id of a coding run. */
export const carriedIdPrefix = "code-";

/** The text of a team's task if the user gives no text. */
export const repairTaskText =
  "Repair the failing tests of this project. What the tests ask for is right; the code is wrong.";

/** The fields of a coding run's state file that are read. */
interface CodingRunState {
  readonly id: string;
  readonly job: {
    readonly text?: string;
    readonly target?: string;
    readonly test_command?: string;
    readonly checks?: readonly string[];
    readonly rounds: number;
  };
  readonly begun?: number;
  readonly baseline?: CodingRunTested;
  readonly best?: { readonly failing: number; readonly unloaded?: number; readonly commit?: string };
  readonly rounds: readonly (Round & { readonly tests?: CodingRunTested; readonly veto?: unknown })[];
  readonly attempts: readonly Attempt[];
  readonly flaky?: string[];
  readonly tests_seen?: string[];
  readonly tests_before?: string[];
  readonly iteration?: number;
  readonly done?: boolean;
  readonly base?: string;
  readonly loop?: TaskState["loop"] & { readonly since?: number };
}

type CodingRunTested = Tested & { readonly unmet?: unknown };

/** Whether a folder contains the state of a coding run that was not converted into a task yet. */
export const hasCodingRun = (folder: string): boolean =>
  existsSync(join(folder, oldCodeName)) && !existsSync(stateFile(folder));

/**
 * Reads the state of a coding run of an earlier version as the state of a task with a team.
 * @throws ExpectedError if it can't be read.
 */
export async function readCodingRun(folder: string): Promise<TaskState> {
  const path = join(folder, oldCodeName);
  const unreadable = (reason: string) =>
    new ExpectedError(`${path} can't be read: ${reason}; move it away to start again.`);
  let value: unknown;
  try {
    value = JSON.parse(await readRegularText(path));
  } catch {
    throw unreadable("it is not JSON");
  }
  let state: TaskState;
  try {
    state = taskStateOf(value as CodingRunState);
  } catch {
    throw unreadable("it is not the state of a coding run");
  }
  const [problem] = taskFormat.problemsOf(state);
  if (problem !== undefined) throw unreadable(`${problem.pointer} ${problem.message}`);
  return state;
}

/**
 * Converts the state of a coding run, if there is one, into the state of a task. Moves the old file to the hidden
 * folder.
 * @throws ExpectedError if it can't be read; with exit code 5 if a later version wrote one of its files.
 */
export async function carryOverCodingRun(folder: string): Promise<void> {
  if (!hasCodingRun(folder)) return;
  await requireKnownFormats(folder, { ...taskFormat, file: oldCodeName });
  const state = await readCodingRun(folder);
  withExplainedErrors(hiddenFolder(folder), () => makeFolder(hiddenFolder(folder)));
  await writeFileAtomic(stateFile(folder), taskFormat.format(state));
  renameSync(join(folder, oldCodeName), join(hiddenFolder(folder), oldCodeName));
}

function taskStateOf(oldState: CodingRunState): TaskState {
  const { id, begun, base, flaky, tests_seen, tests_before, iteration, baseline, best: oldBest, done } = oldState;
  const { since: _, ...loop } = oldState.loop ?? {};
  const latestTests = [
    baseline,
    ...oldState.rounds.flatMap(({ tests, put_back }) => (put_back === undefined ? [tests] : [])),
  ]
    .flatMap((tests) => tests ?? [])
    .toSorted((a, b) => (a.at < b.at ? -1 : 1))
    .at(-1);
  const best: Best | undefined = oldBest && {
    met: 0,
    failing: oldBest.failing,
    iteration: 0,
    ...withoutUndefined({ unloaded: oldBest.unloaded, commit: oldBest.commit }),
  };
  return {
    id,
    task: taskOf(oldState.job),
    checks: [],
    attempts: [...oldState.attempts],
    rounds: oldState.rounds.map(({ veto: _veto, tests, ...round }) => ({
      ...round,
      ...withoutUndefined({ tests: withoutUnmet(tests) }),
    })),
    loop,
    ...(done === true ? { status: "success" as const } : {}),
    ...withoutUndefined({
      begun,
      base,
      flaky,
      tests_seen,
      tests_before,
      iteration,
      best,
      tested: withoutUnmet(latestTests),
    }),
  };
}

function withoutUnmet(tests: CodingRunTested | undefined): Tested | undefined {
  if (tests === undefined) return undefined;
  const { unmet: _, ...tested } = tests;
  return tested;
}

function taskOf({ text, target, test_command: command, checks = [], rounds }: CodingRunState["job"]): RalphTask {
  return {
    task: text ?? repairTaskText,
    acceptance_criteria: teamCriteria({ isRepair: text === undefined, checks, ...withoutUndefined({ command }) }),
    max_iterations: rounds,
    team: true,
    ...withoutUndefined({ target }),
  };
}

/**
 * The criteria of a team whose task is given in words: the tests pass and the checks succeed. Without checks, a new
 * test must show that the task is done, unless the task is to repair the tests.
 */
export function teamCriteria({
  isRepair,
  checks,
  command,
}: {
  readonly isRepair: boolean;
  readonly checks: readonly string[];
  readonly command?: string;
}): RalphTask["acceptance_criteria"] {
  const checkCriteria: Criterion[] = checks.map((command) => ({ type: "command_succeeds", command }));
  const proofCriteria: Criterion[] = isRepair || checks.length > 0 ? [] : [{ type: "new_test_passes" }];
  return [{ type: "tests_pass", ...withoutUndefined({ command }) }, ...checkCriteria, ...proofCriteria];
}
