import { testsText } from "../../code/team/rounds.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { shortCount, shortDuration, quantity } from "../../engine/lib/words.js";
import { currentInstructions } from "../../engine/storage/state/from-outside.js";
import type { Io } from "../../engine/ui/io.js";
import type { Standing } from "../../engine/ui/state-text.js";
import { costText, uncountedText } from "../../engine/ui/terminal/tally.js";
import { displayPath } from "../../research/overview/find-research.js";
import { taskRecords } from "../../task/project-files/steered-task.js";
import { withoutProgress } from "../../task/workflow/derived-state.js";
import { budgetOf, countMet } from "../../task/workflow/status.js";
import { countedAttempts, roundsOf, spentBy } from "../../task/plan/used.js";
import type { Status } from "./kind.js";

/** Maximum length of a check's finding in characters. */
const maxFindingChars = 160;

const shortened = (text: string): string =>
  text.length <= maxFindingChars ? text : `${text.slice(0, maxFindingChars - 1)}…`;

/** The status of a task: its criteria, its last attempts, and how much of its limits is used. */
export async function taskStatus(folder: string, io: Io, standing: Standing): Promise<Status> {
  const where = displayPath(io.cwd, folder);
  const { state } = await taskRecords(folder);
  const { id, task, checks, attempts, best, plan, status, loop, checked_at, tested } = state;
  const [spent, budget, criterionCount] = [spentBy(state), budgetOf(state), task.acceptance_criteria.length];
  const steering = await currentInstructions(folder, loop?.steering ?? []);
  const json = {
    folder,
    id,
    task: task.task,
    running: standing.running,
    status: status ?? "running",
    met: countMet(checks),
    criteria: criterionCount,
    checks,
    attempts,
    rounds: state.rounds,
    tests: tested,
    flaky: state.flaky,
    best,
    plan,
    checked_at,
    spent,
    budget,
    steering,
    held: standing.held,
    under_way: standing.underWay,
    last_run: loop?.last_run ?? null,
  };
  const rows: [string, string][] = [];
  const addRow = (label: string, text: string) => void rows.push([label, text]);
  for (const [index, { text, met, found }] of (standing.goals ?? []).entries())
    addRow(
      index === 0 ? "Criteria" : "",
      `${met === undefined ? "·" : met ? "✓" : "✗"} ${text}${found === undefined ? "" : `: ${shortened(found)}`}`,
    );
  if (tested !== undefined) addRow("Tests", testsText(state, tested));
  for (const { test } of (tested?.failures ?? []).slice(0, 5)) addRow("", `✗ ${oneLine(test)}`);
  const countedCount = countedAttempts(attempts).length;
  // An attempt does not count if no service answered.
  const uncountedCount = attempts.length - countedCount;
  const isTeam = state.task.team === true || state.rounds !== undefined;
  const runsText = isTeam ? `, ${quantity(countedCount, "run")} of agents` : "";
  const usageText = `${spent.iterations} of ${budget.iterations ?? "any number"}${runsText}${uncountedText(uncountedCount)}`;
  addRow(isTeam ? "Rounds" : "Iterations", usageText);
  for (const { round, steps } of isTeam ? roundsOf(state).slice(-5) : [])
    addRow("", `round ${round}: ${steps.map(({ role, event }) => `${role} ${event}`).join(", ") || "begun"}`);
  for (const { iteration, agent = "", role, outcome, failure, met: metAfter, undone } of attempts.slice(-5)) {
    const result = undone === true ? "undone" : `${outcome}${failure === undefined ? "" : ` (${failure})`}`;
    const agentText = role === undefined ? oneLine(agent) : `${role} (${oneLine(agent)})`;
    addRow(
      "",
      `#${iteration} ${agentText}: ${result}${metAfter === undefined ? "" : `, ${metAfter} of ${criterionCount} met`}`,
    );
  }
  if (attempts.length > 5) addRow("", `and ${attempts.length - 5} before; ${where}/whole.task.md has them all`);
  if (spent.minutes > 0) addRow("Time", `${shortDuration(spent.minutes * 60_000)} of agent time`);
  if (spent.tokens > 0)
    addRow(
      "Tokens",
      `${shortCount(spent.tokens)}${budget.tokens === undefined ? "" : ` of ${shortCount(budget.tokens)}`}`,
    );
  if (spent.usd > 0) addRow("Cost", costText({ cost_usd: spent.usd }));
  for (const instruction of steering) addRow("Steering", oneLine(instruction));
  const idleCount = withoutProgress(state).length;
  if (idleCount >= 2) addRow("", `no progress for ${quantity(idleCount, "iteration")} in a row`);
  const currentStep = plan?.tasks.find(({ id, kind }) => id === plan.current_task_id && kind === "step");
  if (currentStep !== undefined) addRow("Step", oneLine(currentStep.title));
  return { json, rows };
}
