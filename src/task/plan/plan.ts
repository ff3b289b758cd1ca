import { oneLine } from "../../engine/lib/sanitise.js";
import { wordsOf } from "../criteria/words.js";
import type { RalphTask } from "../generated/ralph.js";
import type { Check, Plan } from "../generated/ralph-state.js";

/** Attempts in the life of a task that names no other number. */
export const usualIterations = 10;

/** Most steps of an agent that are kept, and most characters of one. */
const maxSteps = 30;
const maxTitle = 200;

/** Under this heading of the plan file agents keep their own steps. */
export const stepsHeading = "## Steps";

interface Step {
  readonly title: string;
  readonly done: boolean;
}

/** The agent's own steps in the text of a plan file: the boxes under its heading "Steps". */
export function stepsIn(text: string): readonly Step[] {
  const lines = text.split("\n").map((line) => line.trim());
  const from = lines.findIndex(isStepsHeading);
  if (from === -1) return [];
  const rest = lines.slice(from + 1);
  const to = rest.findIndex((line) => line.startsWith("# ") || line.startsWith("## "));
  return (to === -1 ? rest : rest.slice(0, to))
    .flatMap((line) => {
      const [, mark, title = ""] = /^[-*] \[([ xX])\] (.+)$/.exec(line) ?? [];
      return mark === undefined ? [] : [{ title: oneLine(title).slice(0, maxTitle), done: mark !== " " }];
    })
    .filter(({ title }) => title !== "")
    .slice(0, maxSteps);
}

export const isStepsHeading = (line: string): boolean => line.trim().toLowerCase() === stepsHeading.toLowerCase();

/** The plan: the criteria as they were checked last, then the agent's own steps. Pure. */
export function planOf(task: RalphTask, checks: readonly Check[], steps: readonly Step[]): Plan {
  const tasks = [
    ...task.acceptance_criteria.map((criterion, index) => ({
      id: `criterion-${index + 1}`,
      title: wordsOf(criterion),
      done: checks[index]?.passed === true,
      kind: "criterion" as const,
    })),
    ...steps.map(({ title, done }, index) => ({ id: `step-${index + 1}`, title, done, kind: "step" as const })),
  ];
  // What an agent is at are its own steps; the criteria follow from them.
  const open = tasks.filter(({ done }) => !done);
  const current = open.find(({ kind }) => kind === "step") ?? open[0];
  return { tasks, current_task_id: current?.id ?? null };
}
