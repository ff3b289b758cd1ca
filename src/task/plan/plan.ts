import { oneLine } from "../../engine/lib/sanitise.js";
import { criterionText } from "../criteria/words.js";
import type { RalphTask } from "../generated/ralph.js";
import type { Check, Plan } from "../generated/ralph-state.js";

/** Maximum number of attempts of a task that sets no limit. */
export const defaultIterations = 10;

/** Maximum number of steps that agents add to the plan. */
const maxSteps = 30;
const maxTitleChars = 200;

/** The heading in the plan file under which agents write their own steps. */
export const stepsHeading = "## Steps";

interface Step {
  readonly title: string;
  readonly done: boolean;
}

/** The agent's own steps in the text of a plan file: the checkboxes under its heading "Steps". */
export function stepsIn(text: string): readonly Step[] {
  const lines = text.split("\n").map((line) => line.trim());
  const headingIndex = lines.findIndex(isStepsHeading);
  if (headingIndex === -1) return [];
  const linesAfter = lines.slice(headingIndex + 1);
  const endIndex = linesAfter.findIndex((line) => line.startsWith("# ") || line.startsWith("## "));
  return (endIndex === -1 ? linesAfter : linesAfter.slice(0, endIndex))
    .flatMap((line) => {
      const [, mark, title = ""] = /^[-*] \[([ xX])\] (.+)$/.exec(line) ?? [];
      return mark === undefined ? [] : [{ title: oneLine(title).slice(0, maxTitleChars), done: mark !== " " }];
    })
    .filter(({ title }) => title !== "")
    .slice(0, maxSteps);
}

export const isStepsHeading = (line: string): boolean => line.trim().toLowerCase() === stepsHeading.toLowerCase();

/** The plan: the criteria with the result of the latest check, then the agent's own steps. Pure. */
export function planOf(task: RalphTask, checks: readonly Check[], steps: readonly Step[]): Plan {
  const tasks = [
    ...task.acceptance_criteria.map((criterion, index) => ({
      id: `criterion-${index + 1}`,
      title: criterionText(criterion),
      done: checks[index]?.passed === true,
      kind: "criterion" as const,
    })),
    ...steps.map(({ title, done }, index) => ({ id: `step-${index + 1}`, title, done, kind: "step" as const })),
  ];
  // The agent works on its own steps first; the criteria follow from them.
  const openTasks = tasks.filter(({ done }) => !done);
  const current = openTasks.find(({ kind }) => kind === "step") ?? openTasks[0];
  return { tasks, current_task_id: current?.id ?? null };
}
