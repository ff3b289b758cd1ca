import { type ConfigFlags, resolveConfig } from "../../compose/config.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { readLedger } from "../../engine/storage/records/ledger.js";
import { resetResearch, type ResetTarget } from "../../research/folder/reset/reset.js";
import { signState } from "../../research/folder/tamper/other-projects.js";
import type { ResetUnit } from "../../research/folder/reset/reset-targets.js";
import type { Io } from "../../engine/ui/io.js";
import { derive } from "../../research/workflow/derived/statistics.js";
import { requirePerson } from "./require-person.js";
import { findResearch } from "../../research/overview/find-research.js";

interface ResetArguments {
  readonly folder: string;
  readonly paper?: string | undefined;
  readonly unit?: ResetUnit | undefined;
  readonly to?: number | undefined;
  /** Take the last reset back. */
  readonly undo: boolean;
  readonly flags: ConfigFlags;
  readonly json: boolean;
}

/**
 * Takes work back: all of it, one paper, the search, report or ideas, or everything after an iteration. A backup comes
 * first.
 */
export async function resetCommand(
  { folder: argument, paper, unit, to: iteration, undo, flags, json }: ResetArguments,
  io: Io,
): Promise<number> {
  requirePerson(io.env);
  const folder = await findResearch(io.cwd, argument);
  const { git, stateDir } = await resolveConfig({ flags, env: io.env, cwd: io.cwd });
  const to = undo ? await beforeLastReset(folder) : iteration;
  const target: ResetTarget =
    paper !== undefined ? { paper } : unit !== undefined ? { unit } : to !== undefined ? { to } : { all: true };
  const done = await resetResearch(folder, target, { derive, git, now: io.clock.now });
  await signState(folder, stateDir);
  if (json) io.stdout(`${JSON.stringify({ done })}\n`);
  else for (const sentence of done) io.stdout(`${sentence}\n`);
  return 0;
}

/**
 * The last iteration before the last reset: going back to it undoes the reset too. @throws ExpectedError where nothing
 * was reset.
 */
async function beforeLastReset(folder: string): Promise<number> {
  const last = (await readLedger(folder)).lines.findLast(({ outcome }) => outcome === "reset");
  if (last === undefined)
    throw new ExpectedError(`Nothing of ${folder} was reset, so there is nothing to take back.`, 2);
  return last.iteration - 1;
}
