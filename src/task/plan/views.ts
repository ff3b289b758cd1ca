import { join } from "node:path";
import { oneLine } from "../../engine/lib/sanitise.js";
import { quantity } from "../../engine/lib/words.js";
import { inodeAt, writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { readTextSync } from "../../engine/storage/regular-file.js";
import type { Round, TaskState, Tested } from "../generated/ralph-state.js";
import { spentBy } from "./used.js";
import { isStepsHeading, stepsHeading, stepsIn, defaultIterations } from "./plan.js";

/** Names of the files, within the folder, that are written from the state for people and agents. */
export interface ViewNames {
  /** The plan: criteria and the agent's own steps. */
  readonly plan: string;
  /** The record of the whole task. */
  readonly record: string;
  /** The current state. */
  readonly current: string;
}

/** The first line of every file that research-ralph wrote. A file without it is the user's and is not changed. */
const firstLine = "<!-- Written by research-ralph from ralph.state.json. -->";

const checkbox = (done: boolean): string => (done ? "[x]" : "[ ]");

/** Content of todo.md: the plan. Agents may change the lines under "Steps". */
function planText({ plan, task }: TaskState): string {
  const tasks = plan?.tasks ?? [];
  const lines = (kind: "criterion" | "step") =>
    tasks
      .filter((item) => (item.kind ?? "criterion") === kind)
      .map(({ id, title, done }) => `- ${checkbox(done)} ${title}${id === plan?.current_task_id ? " ←" : ""}`);
  const criteria = ["## Acceptance criteria", "", ...lines("criterion")];
  const steps = [stepsHeading, "", ...lines("step")];
  return [firstLine, `# ${titleOf(task.task)}`, "", ...criteria, "", ...steps, ""].join("\n");
}

/**
 * Content of whole.task.md: the record of the task, with a line for each attempt and the results of a team's rounds.
 */
export function recordText(state: TaskState): string {
  const { task, attempts, best, loop, rounds = [], flaky = [] } = state;
  const total = task.acceptance_criteria.length;
  const attemptLines = attempts.flatMap(
    ({ iteration, at, agent = "", role, outcome, failure, met, failing, tokens, cost_usd, undone, said }) => [
      `- #${iteration} ${at} ${role === undefined ? "" : `${role}, `}${agent} ${undone === true ? "undone" : outcome}${failure === undefined ? "" : ` (${failure})`}${met === undefined ? "" : `: ${met} of ${total} met`}${failing === undefined ? "" : `, ${quantity(failing, "test")} failing`}${tokens === undefined ? "" : `, ${tokens} tokens`}${cost_usd === undefined ? "" : `, $${cost_usd.toFixed(2)}`}`,
      ...(said === undefined || role !== undefined ? [] : [`  - ${said}`]),
    ],
  );
  const history = loop?.history_summary;
  return [
    firstLine,
    `# ${titleOf(task.task)}`,
    "",
    task.task,
    "",
    ...endLines(state),
    "## Attempts",
    "",
    ...(attemptLines.length === 0 ? ["None yet."] : attemptLines),
    ...(best === undefined ? [] : ["", `Best so far: ${best.met} of ${total} met.`]),
    ...(flaky.length === 0 ? [] : ["", `Flaky tests, which are not counted: ${flaky.map(oneLine).join(", ")}`]),
    ...rounds.flatMap(roundLines),
    ...(history === undefined ? [] : ["", "## History", "", history]),
    "",
  ].join("\n");
}

/** How the last run ended; empty while a run is under way. */
function endLines({ loop, status }: TaskState): string[] {
  const { verdict, reason = "" } = loop?.last_run ?? {};
  return verdict === undefined || status === "running" ? [] : [`Last run: ${verdict}. ${oneLine(reason)}`, ""];
}

function testsLine({ framework, passed, failing, coverage }: Tested): string {
  const { line_coverage: lines, branch_coverage: branches } = coverage ?? {};
  const coverageText = [
    ...(lines === undefined ? [] : [`${lines} % of lines`]),
    ...(branches === undefined ? [] : [`${branches} % of branches`]),
  ].join(", ");
  return `${framework}, ${quantity(passed, "test")} passed, ${failing} failing${coverageText === "" ? "" : `, ${coverageText} covered`}.`;
}

function roundLines({ round, plan, hypothesis, action_taken, changed, review, tests, ...others }: Round): string[] {
  const { put_back, left_alone, findings, undone } = others;
  const line = (label: string, text: string | undefined) =>
    text === undefined || text === "" ? [] : [`- ${label}: ${oneLine(text)}`];
  const reviewLines = review?.findings.map(({ file = "", reason }) => `${file} ${reason}`) ?? [];
  return [
    "",
    `## Round ${round}${undone === true ? ", which was undone" : ""}`,
    "",
    ...line("Cause", plan?.cause),
    ...line("Hypothesis", hypothesis),
    ...line("Action", action_taken),
    ...line("Changed", changed?.join(", ")),
    ...line("Critic", review && [review.decision, ...reviewLines].join("; ")),
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

/** Content of current.state.md: the current state of the task. */
function currentText(state: TaskState): string {
  const { task, checks, iteration, status } = state;
  const met = checks.filter(({ passed }) => passed).length;
  const maxIterations = task.max_iterations ?? defaultIterations;
  return [
    firstLine,
    `# ${titleOf(task.task)}`,
    "",
    `Status: ${status ?? "running"}`,
    ...endLines(state).slice(0, 1),
    `Iteration: ${iteration ?? 0}; ${spentBy(state).iterations} of ${maxIterations} used`,
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

/** A larger file is not read: neither research-ralph nor an agent with a plan has written it. */
const maxBytes = 1_000_000;

/** The agent's own steps in the plan file; the steps of the state if the file is missing or is the user's. */
export function readSteps(folder: string, { plan }: ViewNames, state: TaskState) {
  const currentSteps = (state.plan?.tasks ?? []).filter(({ kind }) => kind === "step");
  const text = readTextSync(join(folder, plan), maxBytes);
  return text === undefined || !text.split("\n").some(isStepsHeading) ? currentSteps : stepsIn(text);
}

/**
 * Writes the three files from the state. Files that the user wrote are not changed; `userFiles` contains their names.
 */
export async function writeViews(
  folder: string,
  names: ViewNames,
  state: TaskState,
  ourFiles: ReadonlySet<string>,
): Promise<{ readonly written: string[]; readonly userFiles: string[] }> {
  const texts = [
    [names.plan, planText(state)],
    [names.record, recordText(state)],
    [names.current, currentText(state)],
  ] as const;
  const written: string[] = [];
  const foreign: string[] = [];
  for (const [name, text] of texts) {
    const path = join(folder, name);
    // If it is not a text file, the agent or the user has made it.
    const textBefore = inodeAt(path) === undefined ? undefined : (readTextSync(path, maxBytes) ?? "");
    if (textBefore !== undefined && !textBefore.startsWith(firstLine) && !ourFiles.has(name)) {
      foreign.push(name);
      continue;
    }
    if (textBefore !== text) await writeFileAtomic(path, text, { isDurable: false });
    written.push(name);
  }
  return { written, userFiles: foreign };
}
