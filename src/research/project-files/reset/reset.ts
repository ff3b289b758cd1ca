import { rm } from "node:fs/promises";
import { resetRecords } from "../../../engine/storage/state/reset.js";
import { candidatesFile, searchFile } from "../layout.js";
import type { ResearchOptions } from "../research.js";
import { researchFormat } from "../rrd-file.js";
import { asksAgain, type ResetTarget, stateAfter } from "./reset-targets.js";

export type { ResetTarget };

interface ResetOptions {
  readonly derive: ResearchOptions["derive"];
  readonly git: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Takes results of a project back, as resetRecords does; where the search is to be asked again, its kept answers go
 * too.
 * @throws ExpectedError when another process holds the project, the paper is unknown, or there is no version to go back
 * to.
 */
export async function resetResearch(folder: string, target: ResetTarget, options: ResetOptions): Promise<string[]> {
  const done = await resetRecords(
    folder,
    researchFormat,
    ({ state, ledger }) => stateAfter(folder, target, state, ledger),
    { ...options, everything: "all" in target, ...("to" in target ? { to: target.to } : {}) },
  );
  if (asksAgain(target)) for (const file of [candidatesFile, searchFile]) await rm(file(folder), { force: true });
  return done;
}
