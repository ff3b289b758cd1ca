import { join } from "node:path";
import { oneLine } from "../../engine/lib/sanitise.js";
import { many } from "../../engine/lib/words.js";
import { inodeAt, writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { readTextSync } from "../../engine/storage/regular-file.js";
import type { Round, TaskState, Tested } from "../generated/ralph-state.js";
import { spentIn } from "./used.js";
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

/** whole.task.md: the record of the task, every attempt a line, and what the rounds of a team found and did. */
export function recordText(state: TaskState): string {
  const { task, attempts, best, loop, rounds = [], flaky = [] } = state;
  const all = task.acceptance_criteria.length;
  const rows = attempts.flatMap(
    ({ iteration, at, agent = "", role, outcome, failure, met, failing, tokens, cost_usd, undone, said }) => [
      `- #${iteration} ${at} ${role === undefined ? "" : `${role}, `}${agent} ${undone === true ? "undone" : outcome}${failure === undefined ? "" : ` (${failure})`}${met === undefined ? "" : `: ${met} of ${all} met`}${failing === undefined ? "" : `, ${many(failing, "test")} failing`}${tokens === undefined ? "" : `, ${tokens} tokens`}${cost_usd === undefined ? "" : `, $${cost_usd.toFixed(2)}`}`,
      ...(said === undefined || role !== undefined ? [] : [`  - ${said}`]),
    ],
  );
  const history = loop?.history_summary;
  return [
    mark,
    `# ${titleOf(task.task)}`,
    "",
    task.task,
    "",
    ...endLines(state),
    "## Attempts",
    "",
    ...(rows.length === 0 ? ["None yet."] : rows),
    ...(best === undefined ? [] : ["", `Best so far: ${best.met} of ${all} met.`]),
    ...(flaky.length === 0 ? [] : ["", `Flaky tests, which are not counted: ${flaky.map(oneLine).join(", ")}`]),
    ...rounds.flatMap(roundLines),
    ...(history === undefined ? [] : ["", "## History", "", history]),
    "",
  ].join("\n");
}

/** How the last run ended; nothing while one is under way. */
function endLines({ loop, status }: TaskState): string[] {
  const { verdict, reason = "" } = loop?.last_run ?? {};
  return verdict === undefined || status === "running" ? [] : [`Last run: ${verdict}. ${oneLine(reason)}`, ""];
}

function testsLine({ framework, passed, failing, coverage }: Tested): string {
  const { line_coverage: lines, branch_coverage: branches } = coverage ?? {};
  const covered = [
    ...(lines === undefined ? [] : [`${lines} % of lines`]),
    ...(branches === undefined ? [] : [`${branches} % of branches`]),
  ].join(", ");
  return `${framework}, ${many(passed, "test")} passed, ${failing} failing${covered === "" ? "" : `, ${covered} covered`}.`;
}

function roundLines({ round, plan, hypothesis, action_taken, changed, review, tests, ...rest }: Round): string[] {
  const { put_back, left_alone, findings, undone } = rest;
  const line = (label: string, text: string | undefined) =>
    text === undefined || text === "" ? [] : [`- ${label}: ${oneLine(text)}`];
  const judged = review?.findings.map(({ file = "", reason }) => `${file} ${reason}`) ?? [];
  return [
    "",
    `## Round ${round}${undone === true ? ", which was undone" : ""}`,
    "",
    ...line("Cause", plan?.cause),
    ...line("Hypothesis", hypothesis),
    ...line("Action", action_taken),
    ...line("Changed", changed?.join(", ")),
    ...line("Critic", review && [review.decision, ...judged].join("; ")),
    ...line("Tests", tests && testsLine(tests)),
    ...(tests?.failures ?? [])
      .slice(0, 10)
      .map(({ test, message }) => `  - ${oneLine(test)}: ${oneLine(message).slice(0, 200)}`),
    ...line("Put back, because more tests failed than before", put_back?.join(", ")),
    ...line("Left alone, because somebody changed it meanwhile", left_alone?.join(", ")),
    ...(findings === undefined || findings.length === 0 ? [] : ["", "What the adversary found:", ""]),
    ...(findings ?? []).map(
      ({ title, detail, file, test }) =>
        `- ${oneLine(title)}${file === undefined ? "" : ` (${oneLine(file)})`}${test === undefined ? "" : `, shown by the test ${oneLine(test)}`}${detail === undefined ? "" : `: ${oneLine(detail)}`}`,
    ),
  ];
}

/** current.state.md: where the task stands now. */
export function currentText(state: TaskState): string {
  const { task, checks, iteration, status } = state;
  const met = checks.filter(({ passed }) => passed).length;
  const allowed = task.max_iterations ?? usualIterations;
  return [
    mark,
    `# ${titleOf(task.task)}`,
    "",
    `Status: ${status ?? "running"}`,
    ...endLines(state).slice(0, 1),
    `Iteration: ${iteration ?? 0}; ${spentIn(state).iterations} of ${allowed} used`,
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
  const text = readTextSync(join(folder, plan), maxBytes);
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
    const before = inodeAt(path) === undefined ? undefined : (readTextSync(path, maxBytes) ?? "");
    if (before !== undefined && !before.startsWith(mark) && !owned.has(name)) {
      foreign.push(name);
      continue;
    }
    if (before !== text) await writeFileAtomic(path, text, { durable: false });
    written.push(name);
  }
  return { written, foreign };
}
