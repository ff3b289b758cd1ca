import { type ConfigFlags, configToRead } from "../../compose/config.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { readLedger } from "../../engine/storage/state/ledger.js";
import { resetResearch, type ResetTarget } from "../../research/units/reset.js";
import { signState } from "../../research/project-files/guarded/signed-state.js";
import type { Io } from "../../engine/ui/io.js";
import { derive } from "../../research/workflow/derive.js";
import { requirePerson } from "./require-person.js";
import { many } from "../../engine/lib/words.js";
import { say, wrap } from "../../engine/ui/terminal/format.js";
import { readResearch } from "../../research/project-files/research.js";
import { recordsNamed, severalMatch } from "../../research/overview/which-record.js";
import { findResearch, nameFor } from "../../research/overview/find-research.js";

interface ResetArguments {
  readonly folder: string;
  readonly paper?: string;
  readonly unit?: string;
  readonly to?: number;
  /** Take the last reset back. */
  readonly undo: boolean;
  readonly flags: ConfigFlags;
  readonly json: boolean;
}

/**
 * Takes work back: all of it, one paper, the units of a kind, or everything after an iteration. A backup comes
 * first.
 */
export async function resetCommand(
  { folder: argument, paper, unit, to: iteration, undo, flags, json }: ResetArguments,
  io: Io,
): Promise<number> {
  requirePerson(io.env);
  const folder = await findResearch(io.cwd, argument);
  const { git, stateDir } = await configToRead(io, flags, ["state_dir"]);
  const last = undo ? await lastReset(folder) : undefined;
  const to = last === undefined ? iteration : last.iteration - 1;
  const target: ResetTarget =
    paper !== undefined
      ? { paper: await paperMeant(folder, paper) }
      : unit !== undefined
        ? { unit }
        : to !== undefined
          ? { to }
          : { all: true };
  const resets = await resetResearch(folder, target, { derive, git, now: io.clock.now });
  await signState(folder, stateDir);
  const done = last === undefined ? resets : [takenBack(last), ...resets];
  if (json) io.stdout(`${JSON.stringify({ done })}\n`);
  else for (const sentence of done) io.stdout(`${wrap(sentence, io.tableWidth - 1).join("\n")}\n`);
  if (!json) say(io, `'research-ralph reset ${nameFor(io.cwd, folder)} --undo' takes this back.`);
  return 0;
}

/** The id of the paper that a person means; what names none is refused by the reset itself. */
async function paperMeant(folder: string, typed: string): Promise<string> {
  const [only, ...others] = recordsNamed((await readResearch(folder)).rrd, typed);
  if (only !== undefined && others.length > 0) throw severalMatch(typed, [only, ...others]);
  return only?.id ?? typed;
}

interface LastReset {
  readonly iteration: number;
  /** Iterations after it. */
  readonly since: number;
}

/** Going back to before it undoes the reset too. @throws ExpectedError where nothing was reset. */
async function lastReset(folder: string): Promise<LastReset> {
  const { lines } = await readLedger(folder);
  const last = lines.findLast(({ outcome }) => outcome === "reset");
  if (last === undefined)
    throw new ExpectedError(`No reset of ${folder} is recorded, so there is nothing to take back.`, 2);
  return { iteration: last.iteration, since: lines.filter(({ iteration }) => iteration > last.iteration).length };
}

const takenBack = ({ iteration, since }: LastReset): string =>
  `The last reset (iteration ${iteration}) is taken back${since === 0 ? "" : `, and the ${many(since, "iteration")} after it`}.`;
