import { pauseName, stopName } from "../../engine/lib/layout.js";
import { hold, type Hold, resume } from "../../engine/storage/state/from-outside.js";
import type { FolderOptions } from "../../research/overview/find-research.js";
import { say } from "../../engine/ui/terminal/format.js";
import type { Io } from "../../engine/ui/io.js";
import { findWork } from "../kinds/find-work.js";
import { requirePerson } from "./require-person.js";

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
