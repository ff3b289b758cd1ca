import { commandLineWords } from "../../engine/config/keys.js";
import type { Words } from "../../engine/loop/types.js";
import { ledgerName, hiddenName } from "../../engine/lib/layout.js";
import { codeReportName } from "./layout.js";

/** What the rules of a run say of a coding run. */
export const codeWords: Words = {
  noun: "coding run",
  budget: (unit) => (unit === "iterations" ? "--rounds" : `--max-${unit}`),
  look: `Look at ${codeReportName}`,
  reasons: `Read the reasons in ${hiddenName}/${ledgerName}`,
  steer: "give advice with 'research-ralph steer'",
  mend: "give advice with 'research-ralph steer'",
  ...commandLineWords,
};
