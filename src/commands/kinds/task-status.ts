import { testsText } from "../../code/team/rounds.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { shortCount, shortDuration, quantity } from "../../engine/lib/words.js";
import { currentInstructions } from "../../engine/storage/state/from-outside.js";
import type { Io } from "../../engine/ui/io.js";
import type { Standing } from "../../engine/ui/state-text.js";
import { costText, idleText } from "../../engine/ui/terminal/tally.js";
import { displayPath } from "../../research/overview/find-research.js";
import { taskRecords } from "../../task/project-files/steered-task.js";
import { withoutProgress } from "../../task/workflow/derived-state.js";
import { budgetOf, metIn } from "../../task/workflow/status.js";
import { countedAttempts, roundsOf, spentBy } from "../../task/plan/used.js";
import type { Status } from "./kind.js";

/** Maximum length of a check's finding in characters. */
const maxFindingChars = 160;

const shortened = (text: string): string =>
  text.length <= maxFindingChars ? text : `${text.slice(0, maxFindingChars - 1)}…`;

/** Where a task stands: its criteria, its last attempts and what they used of its limits. */
export async function taskStatus(folder: string, io: Io, standing: Standing): Promise<Status> {
  const where = displayPath(io.cwd, folder);
  const { state } = await taskRecords(folder);
  const { id, task, checks, attempts, best, plan, status, loop, checked_at, tested } = state;
  const [spent, budget, total] = [spentBy(state), budgetOf(state), task.acceptance_criteria.length];
  const steering = await currentInstructions(folder, loop?.steering ?? []);
  const json = {
    folder,
    id,
    task: task.task,
    running: standing.running,
    status: status ?? "running",
    met: metIn(checks),
    criteria: total,
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
  const say = (label: string, text: string) => void rows.push([label, text]);
  for (const [index, { text, met, found }] of (standing.goals ?? []).entries())
    say(
      index === 0 ? "Criteria" : "",
      `${met === undefined ? "·" : met ? "✓" : "✗"} ${text}${found === undefined ? "" : `: ${shortened(found)}`}`,
    );
  if (tested !== undefined) say("Tests", testsText(state, tested));
  for (const { test } of (tested?.failures ?? []).slice(0, 5)) say("", `✗ ${oneLine(test)}`);
  const counted = countedAttempts(attempts).length;
  // Attempts in which no service answered do not count.
  const uncounted = attempts.length - counted;
  const isTeam = state.task.team === true || state.rounds !== undefined;
  const runs = isTeam ? `, ${quantity(counted, "run")} of agents` : "";
  const used = `${spent.iterations} of ${budget.iterations ?? "any number"}${runs}${idleText(uncounted)}`;
  say(isTeam ? "Rounds" : "Iterations", used);
  for (const { round, steps } of isTeam ? roundsOf(state).slice(-5) : [])
    say("", `round ${round}: ${steps.map(({ role, event }) => `${role} ${event}`).join(", ") || "begun"}`);
  for (const { iteration, agent = "", role, outcome, failure, met: after, undone } of attempts.slice(-5)) {
    const how = undone === true ? "undone" : `${outcome}${failure === undefined ? "" : ` (${failure})`}`;
    const who = role === undefined ? oneLine(agent) : `${role} (${oneLine(agent)})`;
    say("", `#${iteration} ${who}: ${how}${after === undefined ? "" : `, ${after} of ${total} met`}`);
  }
  if (attempts.length > 5) say("", `and ${attempts.length - 5} before; ${where}/whole.task.md has them all`);
  if (spent.minutes > 0) say("Time", `${shortDuration(spent.minutes * 60_000)} of agent time`);
  if (spent.tokens > 0)
    say(
      "Tokens",
      `${shortCount(spent.tokens)}${budget.tokens === undefined ? "" : ` of ${shortCount(budget.tokens)}`}`,
    );
  if (spent.usd > 0) say("Cost", costText({ cost_usd: spent.usd }));
  for (const words of steering) say("Steering", oneLine(words));
  const stuck = withoutProgress(state).length;
  if (stuck >= 2) say("", `no progress for ${quantity(stuck, "iteration")} in a row`);
  const current = plan?.tasks.find(({ id, kind }) => id === plan.current_task_id && kind === "step");
  if (current !== undefined) say("Step", oneLine(current.title));
  return { json, rows };
}
