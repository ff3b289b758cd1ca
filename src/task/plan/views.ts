import { join } from "node:path";
import { many } from "../../engine/lib/words.js";
import { inodeAt, writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { textNow } from "../../engine/storage/regular-file.js";
import type { TaskState } from "../generated/ralph-state.js";
import { isStepsHeading, stepsHeading, stepsIn, usualIterations } from "./plan.js";

/** Names of the files for people and agents that are written from the state, within the folder. */
export interface ViewNames {
  /** The plan: criteria and the agent's own steps. */
  readonly plan: string;
  /** The record of the whole task. */
  readonly record: string;
  /** Where it stands. */
  readonly current: string;
}

/** By this line a file is seen to be ours; one without it is the user's, and is left alone. */
const mark = "<!-- Written by research-ralph from ralph.state.json. -->";

const box = (done: boolean): string => (done ? "[x]" : "[ ]");

/** todo.md: the plan. Agents may change what stands under "Steps". */
export function planText({ plan, task }: TaskState): string {
  const tasks = plan?.tasks ?? [];
  const lines = (kind: "criterion" | "step") =>
    tasks
      .filter((each) => (each.kind ?? "criterion") === kind)
      .map(({ id, title, done }) => `- ${box(done)} ${title}${id === plan?.current_task_id ? " ←" : ""}`);
  const criteria = ["## Acceptance criteria", "", ...lines("criterion")];
  const steps = [stepsHeading, "", ...lines("step")];
  return [mark, `# ${titleOf(task.task)}`, "", ...criteria, "", ...steps, ""].join("\n");
}

/** whole.task.md: the record of the task, every attempt a line. */
export function recordText(state: TaskState): string {
  const { task, attempts, best, loop } = state;
  const rows = attempts.map(
    ({ iteration, at, agent = "", outcome, failure, met, failing, tokens, cost_usd, undone }) =>
      `- #${iteration} ${at} ${agent} ${undone === true ? "undone" : outcome}${failure === undefined ? "" : ` (${failure})`}: ${met} of ${task.acceptance_criteria.length} met${failing === undefined ? "" : `, ${many(failing, "test")} failing`}${tokens === undefined ? "" : `, ${tokens} tokens`}${cost_usd === undefined ? "" : `, $${cost_usd.toFixed(2)}`}`,
  );
  const history = loop?.history_summary;
  return [
    mark,
    `# ${titleOf(task.task)}`,
    "",
    task.task,
    "",
    "## Attempts",
    "",
    ...(rows.length === 0 ? ["None yet."] : rows),
    ...(best === undefined ? [] : ["", `Best so far: ${best.met} of ${task.acceptance_criteria.length} met.`]),
    ...(history === undefined ? [] : ["", "## History", "", history]),
    "",
  ].join("\n");
}

/** current.state.md: where the task stands now. */
export function currentText({ task, checks, attempts, iteration, loop, status }: TaskState): string {
  const met = checks.filter(({ passed }) => passed).length;
  const allowed = task.max_iterations ?? usualIterations;
  return [
    mark,
    `# ${titleOf(task.task)}`,
    "",
    `Status: ${status ?? "running"}${loop?.error == null ? "" : ` (${loop.error})`}`,
    `Iteration: ${iteration ?? 0}; ${attempts.length} of ${allowed} used`,
    `Criteria: ${met} of ${task.acceptance_criteria.length} met`,
    "",
    ...checks.map(
      ({ criterion, passed, detail }) =>
        `- ${passed ? "✓" : "✗"} ${criterion}${passed ? "" : `: ${detail.replace(/\s+/g, " ").slice(0, 300)}`}`,
    ),
    "",
  ].join("\n");
}

const titleOf = (text: string): string => {
  const line = text.split("\n")[0]?.trim() ?? "";
  return line.length > 100 ? `${line.slice(0, 99)}…` : line;
};

/** A larger file was not written by us, and no agent means it to be read. */
const maxBytes = 1_000_000;

/** The agent's own steps in the plan file; those of the state where the file is not there, or not ours. */
export function readSteps(folder: string, { plan }: ViewNames, state: TaskState) {
  const known = (state.plan?.tasks ?? []).filter(({ kind }) => kind === "step");
  const text = textNow(join(folder, plan), maxBytes);
  return text === undefined || !text.split("\n").some(isStepsHeading) ? known : stepsIn(text);
}

/**
 * Writes the three files from the state. One that stands there and was not written by us stays as it is, and is named
 * in the answer.
 */
export async function writeViews(
  folder: string,
  names: ViewNames,
  state: TaskState,
  owned: ReadonlySet<string>,
): Promise<{ readonly written: string[]; readonly foreign: string[] }> {
  const texts = [
    [names.plan, planText(state)],
    [names.record, recordText(state)],
    [names.current, currentText(state)],
  ] as const;
  const written: string[] = [];
  const foreign: string[] = [];
  for (const [name, text] of texts) {
    const path = join(folder, name);
    // Where something else than a text stands it is the agent's, or the user's.
    const before = inodeAt(path) === undefined ? undefined : (textNow(path, maxBytes) ?? "");
    if (before !== undefined && !before.startsWith(mark) && !owned.has(name)) {
      foreign.push(name);
      continue;
    }
    if (before !== text) await writeFileAtomic(path, text, { durable: false });
    written.push(name);
  }
  return { written, foreign };
}
