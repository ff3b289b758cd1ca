import { isDeepStrictEqual } from "node:util";
import { crewFor, isUnconfined, redactorFor, settingsFor } from "../../compose/agents.js";
import { type ConfigFlags, configToRead } from "../../compose/config.js";
import { sandboxOf, workspaceOf } from "../../compose/open-task.js";
import { sandboxFor } from "../../compose/sandbox.js";
import { folderInstructions } from "../../engine/config/folder-instructions.js";
import { quantity, timeText } from "../../engine/lib/words.js";
import { memoryNotes } from "../../engine/loop/notes.js";
import { readMessages } from "../../engine/storage/state/steering-inbox.js";
import type { Io } from "../../engine/ui/io.js";
import { criterionText } from "../../task/criteria/words.js";
import { taskRecords } from "../../task/project-files/steered-task.js";
import type { TaskState } from "../../task/generated/ralph-state.js";
import { briefText } from "../../task/workflow/brief.js";
import { memoryOf, withSteering } from "../../task/workflow/derived-state.js";
import { attemptOf, budgetOf, isMet } from "../../task/workflow/status.js";
import { spentBy } from "../../task/plan/used.js";
import { teamBrief } from "./team-brief.js";
import { taskIn, withAgentOf } from "../task/task.js";
import type { NextBrief } from "./kind.js";

/** The brief for the next attempt of a task. It is made from the results of the last checks; no check is run here. */
export async function taskBrief(
  folder: string,
  flags: ConfigFlags,
  io: Io,
): Promise<NextBrief | { readonly reason: string }> {
  const { namedTask } = await taskIn(folder);
  const { task } = namedTask;
  const config = await configToRead(io, withAgentOf(task, flags, io));
  const { state: storedState, ledger } = await taskRecords(folder);
  const currentState = isDeepStrictEqual(storedState.task, task) ? storedState : { ...storedState, task, checks: [] };
  const messages = await readMessages(folder);
  const at = new Date(io.clock.now()).toISOString();
  const state =
    messages.length === 0 ? currentState : withSteering(currentState, messages, at, redactorFor(config, io));
  const checkTime = state.checked_at === undefined ? "last" : `at ${timeText(state.checked_at, io.clock.now())}`;
  if (isMet(state)) return { reason: `All acceptance criteria were met when they were checked ${checkTime}.` };
  const { iterations: maxIterations = Number.POSITIVE_INFINITY } = budgetOf(state);
  if (spentBy(state).iterations >= maxIterations)
    return {
      reason: `The task has used up its ${quantity(maxIterations, "iteration")}; raise max_iterations in its file.`,
    };
  const unchecked: TaskState["checks"] = task.acceptance_criteria.map((criterion) => ({
    criterion: criterionText(criterion),
    passed: false,
    detail: "",
    ms: 0,
  }));
  const isChecked = state.checks.length > 0;
  const shownState = isChecked ? state : { ...state, checks: unchecked };
  const notes = memoryNotes(memoryOf(state, ledger, config.history.limits));
  const workspace = workspaceOf(namedTask, config);
  const attempt =
    task.team === true
      ? await teamBrief({ state: shownState, notes, workspace, folder, hasShell: await hasShell() }, config, io)
      : {
          ...attemptOf(state),
          text: briefText(shownState, notes, { shell: await hasShell(), views: config.task.views }),
        };
  if ("reason" in attempt) return attempt;
  const text = `${await folderInstructions(workspace)}${attempt.text}`;
  const { id: unit, title } = attempt;
  const lastIteration = ledger.reduce((max, { iteration }) => Math.max(max, iteration), state.iteration ?? 0);
  const firstStep = isChecked
    ? `A run checks the criteria first; the results shown here were found ${checkTime}.`
    : "A run checks the criteria first; no criterion has been checked yet.";
  return { iteration: lastIteration + 1, unit, title, text, firstSteps: [firstStep] };

  /** Whether the agent can run commands itself: it is unconfined, or there is a sandbox. */
  async function hasShell(): Promise<boolean> {
    const settings = settingsFor({ ...config, unconfined: true }, io);
    if (crewFor(config, settings, {}).everyone.some(isUnconfined)) return true;
    const { sandbox } = await sandboxFor(config, io, settings, [], sandboxOf(namedTask, config));
    await sandbox?.close();
    return sandbox !== undefined;
  }
}
