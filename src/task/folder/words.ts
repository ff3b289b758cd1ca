import type { Words } from "../../engine/loop/types.js";
import { stateName, taskLedger, taskName } from "./layout.js";

/** What the rules of a run say of a task. */
export const taskWords: Words = {
  noun: "task",
  budget: (unit) => (unit === "iterations" ? `max_iterations in ${taskName}` : `budget.max_${unit} in ${taskName}`),
  look: `Look at loop.observations in ${stateName}`,
  reasons: `Read the reasons in ${taskLedger}`,
  steer: `say more in ${taskName}`,
  mend: `say more in ${taskName}, or take a criterion out`,
};
