import { existsSync } from "node:fs";
import { given } from "../../engine/lib/given.js";
import { readRecords } from "../../engine/storage/records/record-store.js";
import { sumOf } from "../../research/overview/costs.js";
import { brokenAt, seenFromOutside, type WatchedResearch } from "../../research/overview/watched-research.js";
import { stateFile } from "../../task/folder/layout.js";
import { taskFormat, taskPhase } from "../../task/folder/state-file.js";
import { progressOf, spentIn } from "../../task/workflow/status.js";

/** Looks at a task without its lock, as at a project; undefined where there is none any more. */
export async function lookAtTask(folder: string): Promise<WatchedResearch | undefined> {
  if (!existsSync(stateFile(folder))) return undefined;
  try {
    const { state, ledger } = await readRecords(folder, taskFormat);
    const { at, verdict, reason = "", cause } = state.loop?.last_run ?? {};
    const { minutes } = spentIn(state);
    return {
      ...(await seenFromOutside(folder)),
      phase: taskPhase,
      progress: progressOf(state),
      ...(at === undefined || verdict === undefined ? {} : { lastRun: { at, verdict, reason, ...given({ cause }) } }),
      ledger,
      spending: sumOf(ledger),
      ...(minutes > 0 ? { spentMs: minutes * 60_000 } : {}),
    };
  } catch (error) {
    return existsSync(stateFile(folder)) ? brokenAt(folder, error) : undefined;
  }
}
