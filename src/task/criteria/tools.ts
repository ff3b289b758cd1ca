import type { LintClean, NoTypeErrors, TestsPass } from "../generated/ralph.js";
import { checkCommand, type Found, type Place } from "./run.js";

/** What a project's own tool says: its type checker, its linter. */
export async function checkTool(criterion: LintClean | NoTypeErrors | TestsPass, place: Place): Promise<Found> {
  if (criterion.command !== undefined) return await checkCommand(criterion.command, criterion, place);
  return { passed: false, detail: `No tool was detected for ${criterion.type}; name it in the criterion's "command".` };
}
