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

/** The state of a coding run, as earlier versions kept it beside tasks. */
export const oldCodeName = "ralph.code.json";
/** With this the id of such a state begins. */
export const carriedId = "code-";

/** What a team is asked for where nobody says anything else. */
export const repairWords =
  "Repair the failing tests of this project. What the tests ask for is right; the code is wrong.";

/** What is read of it. */
interface OldState {
  readonly id: string;
  readonly job: {
    readonly text?: string;
    readonly target?: string;
    readonly test_command?: string;
    readonly checks?: readonly string[];
    readonly rounds: number;
  };
  readonly begun?: number;
  readonly baseline?: OldTested;
  readonly best?: { readonly failing: number; readonly unloaded?: number; readonly commit?: string };
  readonly rounds: readonly (Round & { readonly tests?: OldTested; readonly veto?: unknown })[];
  readonly attempts: readonly Attempt[];
  readonly flaky?: string[];
  readonly tests_seen?: string[];
  readonly tests_before?: string[];
  readonly iteration?: number;
  readonly done?: boolean;
  readonly base?: string;
  readonly loop?: TaskState["loop"] & { readonly since?: number };
}

type OldTested = Tested & { readonly unmet?: unknown };

/** Whether a folder holds the state of a coding run that no task has taken over yet. */
export const isToCarry = (folder: string): boolean =>
  existsSync(join(folder, oldCodeName)) && !existsSync(stateFile(folder));

/**
 * The state of a coding run of an earlier version as that of a task with a team.
 * @throws ExpectedError where it can't be read.
 */
export async function carried(folder: string): Promise<TaskState> {
  const path = join(folder, oldCodeName);
  const broken = (why: string) => new ExpectedError(`${path} can't be read: ${why}; move it away to begin anew.`);
  let value: unknown;
  try {
    value = JSON.parse(await readRegularText(path));
  } catch {
    throw broken("it is not JSON");
  }
  let state: TaskState;
  try {
    state = asTask(value as OldState);
  } catch {
    throw broken("it is not the state of a coding run");
  }
  const [problem] = taskFormat.problemsOf(state);
  if (problem !== undefined) throw broken(`${problem.pointer} ${problem.message}`);
  return state;
}

/**
 * Writes the state of such a coding run as that of a task, once; the old file is kept in the folder of the records.
 * @throws ExpectedError where it can't be read, and with exit code 5 where a later version wrote a file of it.
 */
export async function carryOver(folder: string): Promise<void> {
  if (!isToCarry(folder)) return;
  await requireKnownFormats(folder, { ...taskFormat, file: oldCodeName });
  const state = await carried(folder);
  withExplainedErrors(hiddenFolder(folder), () => makeFolder(hiddenFolder(folder)));
  await writeFileAtomic(stateFile(folder), taskFormat.format(state));
  renameSync(join(folder, oldCodeName), join(hiddenFolder(folder), oldCodeName));
}

function asTask(old: OldState): TaskState {
  const { id, begun, base, flaky, tests_seen, tests_before, iteration, baseline, best, done } = old;
  const { since: _, ...loop } = old.loop ?? {};
  const latest = [baseline, ...old.rounds.flatMap(({ tests, put_back }) => (put_back === undefined ? [tests] : []))]
    .flatMap((tests) => tests ?? [])
    .toSorted((a, b) => (a.at < b.at ? -1 : 1))
    .at(-1);
  const kept: Best | undefined = best && {
    met: 0,
    failing: best.failing,
    iteration: 0,
    ...withoutUndefined({ unloaded: best.unloaded, commit: best.commit }),
  };
  return {
    id,
    task: taskOf(old.job),
    checks: [],
    attempts: [...old.attempts],
    rounds: old.rounds.map(({ veto: _veto, tests, ...round }) => ({
      ...round,
      ...withoutUndefined({ tests: plain(tests) }),
    })),
    loop,
    ...(done === true ? { status: "success" as const } : {}),
    ...withoutUndefined({ begun, base, flaky, tests_seen, tests_before, iteration, best: kept, tested: plain(latest) }),
  };
}

function plain(tests: OldTested | undefined): Tested | undefined {
  if (tests === undefined) return undefined;
  const { unmet: _, ...rest } = tests;
  return rest;
}

function taskOf({ text, target, test_command: command, checks = [], rounds }: OldState["job"]): RalphTask {
  return {
    task: text ?? repairWords,
    acceptance_criteria: teamCriteria({ isRepair: text === undefined, checks, ...withoutUndefined({ command }) }),
    max_iterations: rounds,
    team: true,
    ...withoutUndefined({ target }),
  };
}

/**
 * When a team is done that is told so in words: the tests pass, and the checks succeed; without checks a new test
 * shows it, unless the tests are what is to be repaired.
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
  const more: Criterion[] = checks.map((each) => ({ type: "command_succeeds", command: each }));
  const proof: Criterion[] = isRepair || checks.length > 0 ? [] : [{ type: "new_test_passes" }];
  return [{ type: "tests_pass", ...withoutUndefined({ command }) }, ...more, ...proof];
}
