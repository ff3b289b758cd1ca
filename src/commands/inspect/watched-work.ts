import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { codeStateName } from "../../code/project-files/layout.js";
import { codeFormat, codePhase } from "../../code/project-files/state-file.js";
import * as code from "../../code/workflow/status.js";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import { given } from "../../engine/lib/given.js";
import type { Progress, Spent } from "../../engine/loop/types.js";
import { readRecords } from "../../engine/storage/state/record-store.js";
import { sumOf } from "../../research/overview/costs.js";
import { brokenAt, seenFromOutside, type WatchedResearch } from "../../research/overview/watched-research.js";
import { stateName } from "../../task/project-files/layout.js";
import { taskFormat, taskPhase } from "../../task/project-files/state-file.js";
import * as task from "../../task/workflow/status.js";

interface Read {
  readonly phase: string;
  readonly ledger: readonly LedgerLine[];
  readonly progress: Progress;
  readonly spent: Spent;
  readonly lastRun:
    | { readonly at?: string; readonly verdict?: string; readonly reason?: string; readonly cause?: string }
    | undefined;
}

async function readWork(folder: string, name: string): Promise<Read> {
  if (name === stateName) {
    const { state, ledger } = await readRecords(folder, taskFormat);
    const lastRun = state.loop?.last_run;
    return { phase: taskPhase, ledger, progress: task.progressOf(state), spent: task.spentIn(state), lastRun };
  }
  const { state, ledger } = await readRecords(folder, codeFormat);
  const lastRun = state.loop?.last_run;
  return { phase: codePhase, ledger, progress: code.progressOf(state), spent: code.spentIn(state), lastRun };
}

const timeOf = (folder: string, name: string): number =>
  statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** The state file of the task or the coding run of a folder; of both, the one that was written last. */
const stateIn = (folder: string): string | undefined =>
  [stateName, codeStateName]
    .filter((name) => existsSync(join(folder, name)))
    .toSorted((a, b) => timeOf(folder, b) - timeOf(folder, a))[0];

/** Whether a task or a coding run is in this folder. */
export const isWatchedWork = (folder: string): boolean => stateIn(folder) !== undefined;

/** Looks at a task or a coding run without its lock, as at a project; undefined where it is gone. */
export async function lookAtWork(folder: string): Promise<WatchedResearch | undefined> {
  const name = stateIn(folder);
  if (name === undefined) return undefined;
  try {
    const { phase, ledger, progress, spent, lastRun } = await readWork(folder, name);
    const { at, verdict, reason = "", cause } = lastRun ?? {};
    return {
      ...(await seenFromOutside(folder)),
      ...{ phase, progress, ledger, spending: sumOf(ledger) },
      ...(at === undefined || verdict === undefined ? {} : { lastRun: { at, verdict, reason, ...given({ cause }) } }),
      ...(spent.minutes > 0 ? { spentMs: spent.minutes * 60_000 } : {}),
    };
  } catch (error) {
    return existsSync(join(folder, name)) ? brokenAt(folder, error) : undefined;
  }
}
