import { commandLineWords } from "../../engine/config/keys.js";
import type { Words } from "../../engine/loop/types.js";
import { stateName, taskLedger, taskName } from "./layout.js";

/** The phrases for a task in messages about a run. `name`: its file; undefined for a task of the command line. */
export function taskWords(name: string | undefined): Words {
  const fileName = name ?? `a ${taskName}, which --save writes`;
  const steerAdvice = name === undefined ? "say more with research-ralph steer" : `say more in ${name}`;
  return {
    noun: "task",
    budget: (unit) => (unit === "iterations" ? `max_iterations in ${fileName}` : `budget.max_${unit} in ${fileName}`),
    look: `Look at loop.observations in ${stateName}`,
    reasons: `Read the reasons in ${taskLedger}`,
    steer: steerAdvice,
    mend: name === undefined ? steerAdvice : `${steerAdvice}, or take a criterion out`,
    ...commandLineWords,
  };
}
