import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { requireKnownFormats } from "../../engine/storage/records/format-version.js";
import type { Io } from "../../engine/ui/io.js";
import { findResearch, shown } from "../../research/overview/find-research.js";
import { workStateOf } from "../../research/overview/work-state.js";
import { researchFormat } from "../../research/folder/rrd-file.js";
import { requirePerson } from "./require-person.js";
import { pauseName, stopName } from "../../engine/lib/layout.js";

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

async function put(
  name: typeof pauseName | typeof stopName,
  { folder: argument, json }: PauseArguments,
  io: Io,
): Promise<number> {
  requirePerson(io.env);
  const folder = await findResearch(io.cwd, argument);
  await requireKnownFormats(folder, researchFormat);
  if (!existsSync(join(folder, name))) await writeFileAtomic(join(folder, name), "");
  const { running, finished } = await workStateOf(folder);
  if (json) io.stdout(`${JSON.stringify({ folder, file: join(folder, name), running })}\n`);
  else io.stderr(`${sentence(shown(io.cwd, folder), running, finished)}\n`);
  return 0;
}

function sentence(where: string, running: boolean, finished: boolean): string {
  const until = `until research-ralph resume ${where}`;
  if (running) return `The run of ${where} ends before its next iteration; no run can start ${until}.`;
  if (finished) return `${where} is finished, so a run would start no agent; no run can start ${until}.`;
  return `${where} is not running; no run can start ${until}.`;
}

/** Lets a project that was paused or stopped be run again. */
export async function resumeCommand({ folder: argument, json }: PauseArguments, io: Io): Promise<number> {
  requirePerson(io.env);
  requirePerson(io.env);
  const folder = await findResearch(io.cwd, argument);
  await requireKnownFormats(folder, researchFormat);
  const present = [pauseName, stopName].filter((name) => existsSync(join(folder, name)));
  for (const name of present) await rm(join(folder, name), { force: true });
  const where = shown(io.cwd, folder);
  if (json) io.stdout(`${JSON.stringify({ folder, lifted: present })}\n`);
  else if (present.length === 0) io.stderr(`${where} was neither paused nor stopped.\n`);
  else if ((await workStateOf(folder)).finished) io.stderr(`${where} can run again; it is finished.\n`);
  else io.stderr(`${where} can run again: research-ralph run ${where}\n`);
  return 0;
}
