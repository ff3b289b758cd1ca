import type { ConfigFlags } from "../../compose/config.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { readLedger } from "../../engine/storage/state/ledger.js";
import { resetResearch, type ResetTarget } from "../../research/units/reset.js";
import { signState } from "../../research/project-files/guarded/signed-state.js";
import type { Io } from "../../engine/ui/io.js";
import { derive } from "../../research/workflow/derive.js";
import { projectToChange } from "./require-person.js";
import { quantity } from "../../engine/lib/words.js";
import { say, wrap } from "../../engine/ui/terminal/format.js";
import { readResearch } from "../../research/project-files/research.js";
import { recordsNamed, severalMatchError } from "../../research/overview/which-record.js";

interface ResetArguments {
  readonly folder: string;
  readonly paper?: string;
  readonly unit?: string;
  /** True to reset what other criteria than the present ones have decided. */
  readonly criteria?: boolean;
  readonly to?: number;
  /** True to undo the last reset. */
  readonly undo: boolean;
  readonly flags: ConfigFlags;
  readonly json: boolean;
}

/** Resets all work, one paper, the units of a kind, or everything after an iteration. Makes a backup first. */
export async function resetCommand(
  { folder: typedName, paper, unit, criteria, to: iteration, undo, flags, json }: ResetArguments,
  io: Io,
): Promise<number> {
  const { folder, projectName, git, stateDir } = await projectToChange(io, typedName, flags);
  const resetToUndo = undo ? await lastReset(folder) : undefined;
  const targetIteration = resetToUndo === undefined ? iteration : resetToUndo.iteration - 1;
  const target: ResetTarget =
    paper !== undefined
      ? { paper: await paperIdFor(folder, paper) }
      : unit !== undefined
        ? { unit }
        : criteria === true
          ? { criteria }
          : targetIteration !== undefined
            ? { to: targetIteration, ...(resetToUndo === undefined ? {} : { undoes: resetToUndo.iteration }) }
            : { all: true };
  const resetTexts = await resetResearch(folder, target, { derive, git, now: io.clock.now });
  await signState(folder, stateDir);
  const sentences = resetToUndo === undefined ? resetTexts : [undoText(resetToUndo), ...resetTexts];
  if (json) io.stdout(`${JSON.stringify({ done: sentences })}\n`);
  else for (const sentence of sentences) io.stdout(`${wrap(sentence, io.tableWidth - 1).join("\n")}\n`);
  const nextUndo =
    resetToUndo !== undefined && resetToUndo.tookBack === undefined ? "resets it again" : "takes this back";
  if (!json) say(io, `'research-ralph reset ${projectName} --undo' ${nextUndo}.`);
  return 0;
}

/** The id of the paper that the user named. An unknown name is returned unchanged; the reset then rejects it. */
async function paperIdFor(folder: string, typed: string): Promise<string> {
  const [only, ...others] = recordsNamed((await readResearch(folder)).rrd, typed);
  if (only !== undefined && others.length > 0) throw severalMatchError(typed, [only, ...others]);
  return only?.id ?? typed;
}

interface LastReset {
  readonly iteration: number;
  /** The reset that it has taken back; absent if it is no --undo, or takes an --undo back. */
  readonly tookBack: number | undefined;
  /** Number of iterations after it. */
  readonly laterCount: number;
}

/**
 * The last reset, which is undone by a return to the state before its iteration.
 * @throws ExpectedError (exit code 2) if nothing was reset.
 */
async function lastReset(folder: string): Promise<LastReset> {
  const { lines } = await readLedger(folder);
  const resets = new Map(lines.flatMap((line) => (line.outcome === "reset" ? [[line.iteration, line] as const] : [])));
  const last = [...resets.values()].at(-1);
  if (last === undefined)
    throw new ExpectedError(`No reset of ${folder} is recorded, so there is nothing to take back.`, 2);
  const { iteration, undoes } = last;
  // Each --undo of an --undo resets again, so the parity decides.
  const undoneBy = (undone: number | undefined): number =>
    undone === undefined ? 0 : 1 + undoneBy(resets.get(undone)?.undoes);
  return {
    iteration,
    tookBack: undoneBy(undoes) % 2 === 1 ? undoes : undefined,
    laterCount: lines.filter((line) => line.iteration > iteration).length,
  };
}

function undoText({ iteration, tookBack, laterCount }: LastReset): string {
  const later = laterCount === 0 ? "" : `, and the ${quantity(laterCount, "iteration")} after it`;
  return tookBack === undefined
    ? `The last reset (iteration ${iteration}) is taken back${later}.`
    : `The last --undo (iteration ${iteration}) is taken back${later}, so the reset of iteration ${tookBack} is done again.`;
}
