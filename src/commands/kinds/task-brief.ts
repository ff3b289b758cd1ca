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
import { nextOfTeam } from "./team-brief.js";
import { taskIn, withAgentOf } from "../task/task.js";
import type { NextBrief } from "./kind.js";

/** What the next attempt of a task would be given, by the checks that were made last: none is made here. */
export async function taskBrief(
  folder: string,
  flags: ConfigFlags,
  io: Io,
): Promise<NextBrief | { readonly reason: string }> {
  const { named } = await taskIn(folder);
  const { task } = named;
  const config = await configToRead(io, withAgentOf(task, flags, io));
  const { state: read, ledger } = await taskRecords(folder);
  const known = isDeepStrictEqual(read.task, task) ? read : { ...read, task, checks: [] };
  const messages = await readMessages(folder);
  const at = new Date(io.clock.now()).toISOString();
  const state = messages.length === 0 ? known : withSteering(known, messages, at, redactorFor(config, io));
  const when = state.checked_at === undefined ? "last" : `at ${timeText(state.checked_at, io.clock.now())}`;
  if (isMet(state)) return { reason: `All acceptance criteria were met when they were checked ${when}.` };
  const { iterations: most = Number.POSITIVE_INFINITY } = budgetOf(state);
  if (spentBy(state).iterations >= most)
    return { reason: `The task has used up its ${quantity(most, "iteration")}; raise max_iterations in its file.` };
  const unchecked: TaskState["checks"] = task.acceptance_criteria.map((criterion) => ({
    criterion: criterionText(criterion),
    passed: false,
    detail: "",
    ms: 0,
  }));
  const isChecked = state.checks.length > 0;
  const shown = isChecked ? state : { ...state, checks: unchecked };
  const notes = memoryNotes(memoryOf(state, ledger, config.history.limits));
  const workspace = workspaceOf(named, config);
  const own =
    task.team === true
      ? await nextOfTeam({ state: shown, notes, workspace, folder, shell: await hasShell() }, config, io)
      : { ...attemptOf(state), text: briefText(shown, notes, { shell: await hasShell(), views: config.task.views }) };
  if ("reason" in own) return own;
  const text = `${await folderInstructions(workspace)}${own.text}`;
  const { id: unit, title } = own;
  const last = ledger.reduce((most, { iteration }) => Math.max(most, iteration), state.iteration ?? 0);
  const first = isChecked
    ? `A run checks the criteria first; what stands here was found ${when}.`
    : "A run checks the criteria first; here none is checked yet.";
  return { iteration: last + 1, unit, title, text, first: [first] };

  /** Whether the agent runs commands itself: in a sandbox, or unconfined. */
  async function hasShell(): Promise<boolean> {
    const settings = settingsFor({ ...config, unconfined: true }, io);
    if (crewFor(config, settings, {}).everyone.some(isUnconfined)) return true;
    const { sandbox } = await sandboxFor(config, io, settings, [], sandboxOf(named, config));
    await sandbox?.close();
    return sandbox !== undefined;
  }
}
