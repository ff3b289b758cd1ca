import type { Io } from "../../engine/ui/io.js";
import { pauseName, stopName } from "../../engine/lib/layout.js";
import { readResearch } from "../../research/folder/research.js";
import { findResearch, shown } from "../../research/overview/find-research.js";
import { hold, type Hold, resume } from "../../research/steering/hold.js";
import { requirePerson } from "./require-person.js";

interface PauseArguments {
  readonly folder: string;
  readonly json: boolean;
}

/** Ends the run of a project before its next iteration, as blocked, and keeps others from starting until `resume`. */
export const pauseCommand = (args: PauseArguments, io: Io): Promise<number> => put(pauseName, args, io);

/**
 * Ends the run of a project before its next iteration, as Ctrl+C would, and keeps others from starting until `resume`.
 */
export const stopCommand = (args: PauseArguments, io: Io): Promise<number> => put(stopName, args, io);

async function put(name: Hold, { folder: argument, json }: PauseArguments, io: Io): Promise<number> {
  requirePerson(io.env);
  const folder = await findResearch(io.cwd, argument);
  const { file, running, says } = await hold(folder, name, shown(io.cwd, folder));
  // It is held all the same, but a person has to know that no run could have gone on.
  await readResearch(folder);
  if (json) io.stdout(`${JSON.stringify({ folder, file, running })}\n`);
  else io.stderr(`${says}\n`);
  return 0;
}

/** Lets a project that was paused or stopped be run again. */
export async function resumeCommand({ folder: argument, json }: PauseArguments, io: Io): Promise<number> {
  requirePerson(io.env);
  const folder = await findResearch(io.cwd, argument);
  const { lifted, says } = await resume(folder, shown(io.cwd, folder));
  if (json) io.stdout(`${JSON.stringify({ folder, lifted })}\n`);
  else io.stderr(`${says}\n`);
  return 0;
}
