import { existsSync } from "node:fs";
import { join } from "node:path";
import { lockFile, pauseName, stopName } from "../../engine/lib/layout.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { isHeldByRun } from "../../engine/storage/lock.js";
import { wordsInForce } from "../../engine/storage/state/from-outside.js";
import { readRecords } from "../../engine/storage/state/record-store.js";
import { count, duration, many, timeText } from "../../engine/lib/words.js";
import { bar, statusRow, wrap } from "../../engine/ui/terminal/format.js";
import { costText, idleText } from "../../engine/ui/terminal/tally.js";
import type { Io } from "../../engine/ui/io.js";
import { shown } from "../../research/overview/find-research.js";
import { stateFile, taskFile, taskName } from "../../task/project-files/layout.js";
import { newState, taskFormat } from "../../task/project-files/state-file.js";
import { readTask } from "../../task/project-files/task-file.js";
import type { TaskState } from "../../task/generated/ralph-state.js";
import { withoutProgress } from "../../task/workflow/derived-state.js";
import { budgetOf, countedIn, metIn, spentIn } from "../../task/workflow/status.js";

/** Prints where a task stands; reads only. */
export async function taskStatus(folder: string, json: boolean, io: Io): Promise<number> {
  const state = existsSync(stateFile(folder))
    ? (await readRecords(folder, taskFormat)).state
    : newState((await readTask(taskFile(folder))).task, folder, taskName);
  const running = await isHeldByRun(lockFile(folder));
  const spent = spentIn(state);
  const budget = budgetOf(state);
  if (json) {
    const { id, task, checks, attempts, best, plan, status, loop, checked_at } = state;
    const report = {
      folder,
      id,
      task: task.task,
      running,
      status: status ?? "running",
      met: metIn(checks),
      criteria: task.acceptance_criteria.length,
      checks,
      attempts,
      best,
      plan,
      checked_at,
      spent,
      budget,
      steering: await wordsInForce(folder, loop?.steering ?? []),
      held: heldIn(folder),
      last_run: loop?.last_run ?? null,
    };
    io.stdout(`${JSON.stringify(report, null, 2)}\n`);
    return 0;
  }
  const steering = await wordsInForce(folder, state.loop?.steering ?? []);
  for (const line of lines(state, folder, { running, steering }, io)) io.stdout(`${line}\n`);
  return 0;
}

/** Files that keep a run from its next iteration. */
export const heldIn = (folder: string): string[] =>
  [pauseName, stopName].filter((name) => existsSync(join(folder, name)));

/** Most characters of what a check has found. */
const maxFound = 160;

const shortened = (text: string): string => (text.length <= maxFound ? text : `${text.slice(0, maxFound - 1)}…`);

interface Around {
  readonly running: boolean;
  /** What the next brief carries of a person's words. */
  readonly steering: readonly string[];
}

/** The first lines of the status of a task or a coding run: what it is, its folder, and how its runs stand. */
export function headLines(
  what: string,
  folder: string,
  {
    running,
    lastRun,
  }: { readonly running: boolean; readonly lastRun: NonNullable<TaskState["loop"]>["last_run"] | undefined },
  io: Io,
): string[] {
  const [held] = heldIn(folder);
  const by = held === pauseName ? "paused" : "stopped";
  const state =
    held === undefined
      ? "a run is under way"
      : `${running ? "a run ends before its next iteration, " : ""}${by}; research-ralph resume lets it run`;
  const { verdict, at = "", reason = "" } = lastRun ?? {};
  return [
    ...wrap(oneLine(what), Math.max(20, io.columns - 1)).slice(0, 3),
    shown(io.cwd, folder),
    "",
    ...(held === undefined && !running ? [] : statusRow("State", state, io.columns)),
    ...(running || verdict === undefined
      ? []
      : statusRow("Last run", `${oneLine(verdict)}, ${timeText(at, io.clock.now())}: ${oneLine(reason)}`, io.columns)),
  ];
}

function lines(state: TaskState, folder: string, { running, steering }: Around, io: Io): string[] {
  const { task, checks, attempts, loop, plan } = state;
  const spent = spentIn(state);
  const budget = budgetOf(state);
  const out = headLines(task.task, folder, { running, lastRun: loop?.last_run }, io);
  const say = (label: string, text: string) => void out.push(...statusRow(label, text, io.columns));
  const total = task.acceptance_criteria.length;
  const met = metIn(checks);
  say("Criteria", checks.length === 0 ? `${total}, not checked yet` : `${bar(met, total, 20)} ${met} of ${total} met`);
  for (const { criterion, passed, detail } of checks) {
    const found = passed ? "" : `: ${shortened(oneLine(detail.split("\n")[0] ?? ""))}`;
    say("", `${passed ? "✓" : "✗"} ${oneLine(criterion)}${found}`);
  }
  const idle = attempts.length - countedIn(attempts).length;
  say("Iterations", `${spent.iterations} of ${budget.iterations ?? "any number"}${idleText(idle)}`);
  for (const { iteration, agent = "", outcome, failure, met: after, undone } of attempts.slice(-5)) {
    const how = undone === true ? "undone" : `${outcome}${failure === undefined ? "" : ` (${failure})`}`;
    say("", `#${iteration} ${oneLine(agent)}: ${how}, ${after} of ${total} met`);
  }
  if (attempts.length > 5)
    say("", `and ${attempts.length - 5} before; ${shown(io.cwd, folder)}/whole.task.md has them all`);
  if (spent.minutes > 0) say("Time", `${duration(spent.minutes * 60_000)} of work`);
  if (spent.tokens > 0)
    say("Tokens", `${count(spent.tokens)}${budget.tokens === undefined ? "" : ` of ${count(budget.tokens)}`}`);
  if (spent.usd > 0) say("Cost", costText({ cost_usd: spent.usd }));
  for (const words of steering) say("Steering", oneLine(words));
  const stuck = withoutProgress(state).length;
  if (stuck >= 2) say("Progress", `none for ${many(stuck, "iteration")} in a row`);
  const current = plan?.tasks.find(({ id, kind }) => id === plan.current_task_id && kind === "step");
  if (current !== undefined) say("Step", oneLine(current.title));
  return out;
}
