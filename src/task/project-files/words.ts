import { commandLineWords } from "../../engine/config/keys.js";
import type { Words } from "../../engine/loop/types.js";
import { stateName, taskLedger, taskName } from "./layout.js";

/** What the rules of a run say of a task. `name`: of its file; absent: the command line has given it in words. */
export function taskWords(name: string | undefined): Words {
  const file = name ?? `a ${taskName}, which --save writes`;
  const more = name === undefined ? "say more with research-ralph steer" : `say more in ${name}`;
  return {
    noun: "task",
    budget: (unit) => (unit === "iterations" ? `max_iterations in ${file}` : `budget.max_${unit} in ${file}`),
    look: `Look at loop.observations in ${stateName}`,
    reasons: `Read the reasons in ${taskLedger}`,
    steer: more,
    mend: name === undefined ? more : `${more}, or take a criterion out`,
    ...commandLineWords,
  };
}
