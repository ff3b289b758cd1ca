import { configToRead } from "../../compose/config.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { pauseName, stopName } from "../../engine/lib/layout.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import {
  hold,
  type Hold,
  resume,
  steer,
  currentInstructions,
  instructionsOf,
} from "../../engine/storage/state/from-outside.js";
import type { Io } from "../../engine/ui/io.js";
import type { FolderOptions } from "../../research/overview/find-research.js";
import { findWork, type FoundWork, workIn } from "../kinds/find-work.js";
import { requirePerson } from "./require-person.js";
import { say } from "../../engine/ui/terminal/format.js";

interface SteerArguments {
  /** The name of a project or task; undefined: that of the current folder. */
  readonly folder: string | undefined;
  /** An instruction for the agents; undefined: the present instructions are shown. */
  readonly text: string | undefined;
  /** True if all earlier instructions are removed. */
  readonly clear: boolean;
  readonly json: boolean;
}

/**
 * Gives the agents of a project or task an instruction, also during a run. All later briefs contain it, until it is
 * cleared.
 */
export async function steerCommand(args: SteerArguments, io: Io): Promise<number> {
  const { clear, json } = args;
  const { work, text } = await workAndText(args, io.cwd);
  const { kind, folder, path } = work;
  const hasChange = instructionsOf({ text }) !== "" || clear;
  let result = "";
  if (hasChange) {
    requirePerson(io.env);
    const { stateDir } = await configToRead(io, {}, ["state_dir"]);
    result = await steer(kind.steeredWork(folder, path), { text, clear }, { now: io.clock.now(), stateDir });
  }
  const instructions = await currentInstructions(folder, await kind.readInstructions(folder));
  if (json) io.stdout(`${JSON.stringify({ folder, steering: instructions })}\n`);
  else if (hasChange) say(io, result);
  else if (instructions.length === 0)
    say(io, `There are no instructions; give some with 'research-ralph steer ${path} "…"'.`);
  else for (const instruction of instructions) io.stdout(`- ${oneLine(instruction)}\n`);
  return 0;
}

/** The work and the instruction. In the folder of a task, a single argument that names no work is the instruction. */
async function workAndText(
  { folder, text }: Pick<SteerArguments, "folder" | "text">,
  cwd: string,
): Promise<{ readonly work: FoundWork; readonly text: string | undefined }> {
  try {
    return { work: await findWork(cwd, folder), text };
  } catch (error) {
    if (text !== undefined || folder === undefined) throw error;
    const workHere = workIn(cwd, cwd);
    const isTaskHere = workHere !== undefined && workHere.kind.noun !== "project";
    if (!isTaskHere && /\s/.test(folder.trim()) && error instanceof ExpectedError)
      throw new ExpectedError('Name the project before the text: research-ralph steer <project> "…".', 2);
    if (!isTaskHere) throw error;
    return { work: await findWork(cwd, undefined), text: folder };
  }
}

/** Ends a run before its next iteration as blocked, and prevents other runs until `resume`. */
export const pauseCommand = (args: FolderOptions, io: Io): Promise<number> => holdWork(pauseName, args, io);

/** Ends a run before its next iteration like Ctrl+C, and prevents other runs until `resume`. */
export const stopCommand = (args: FolderOptions, io: Io): Promise<number> => holdWork(stopName, args, io);

async function holdWork(name: Hold, { folder: typedName, json }: FolderOptions, io: Io): Promise<number> {
  requirePerson(io.env);
  const { kind, folder, path } = await findWork(io.cwd, typedName);
  const work = kind.steeredWork(folder, path);
  const { file, running, says } = await hold(work, name);
  if (json) io.stdout(`${JSON.stringify({ folder, file, running })}\n`);
  else say(io, says);
  // The work is held in any case, but the user must learn of a state that can't be read.
  await kind.readInstructions(folder);
  return 0;
}

/** Allows runs again after a pause or stop. */
export async function resumeCommand({ folder: typedName, json }: FolderOptions, io: Io): Promise<number> {
  requirePerson(io.env);
  const { kind, folder, path } = await findWork(io.cwd, typedName);
  const { lifted, says } = await resume(kind.steeredWork(folder, path));
  if (json) io.stdout(`${JSON.stringify({ folder, lifted })}\n`);
  else say(io, says);
  return 0;
}
