import { commandLineWords } from "../../engine/config/keys.js";
import type { Words } from "../../engine/loop/types.js";
import { ledgerName } from "../../engine/lib/layout.js";
import { rrdName } from "./layout.js";

/** The phrases for a research project in messages about a run. */
export const researchWords: Words = {
  noun: "project",
  budget: (unit) => `budget.max_${unit} in its ${rrdName}`,
  look: `Look at loop.observations in ${rrdName}`,
  reasons: `Read the reasons in ${ledgerName}`,
  mend: `give advice with 'research-ralph steer', raise a limit in ${rrdName}`,
  steer: "give advice with 'research-ralph steer'",
  ...commandLineWords,
};
