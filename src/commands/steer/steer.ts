import { configToRead } from "../../compose/config.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { steer, currentInstructions, instructionsOf } from "../../engine/storage/state/from-outside.js";
import type { Io } from "../../engine/ui/io.js";
import { findWork, type FoundWork, workIn } from "../kinds/find-work.js";
import { requirePerson } from "./require-person.js";
import { say } from "../../engine/ui/terminal/format.js";

interface SteerArguments {
  /** A project or task; undefined: that of the current folder. */
  readonly folder: string | undefined;
  /** What the agents should do; without it the messages in force are shown. */
  readonly text: string | undefined;
  /** Whether all that was said before is taken back. */
  readonly clear: boolean;
  readonly json: boolean;
}

/**
 * Tells the agents of a project or a task something, also while it runs elsewhere: every brief from the
 * next one on carries it until it is cleared.
 */
export async function steerCommand(args: SteerArguments, io: Io): Promise<number> {
  const { clear, json } = args;
  const { led, text } = await meant(args, io.cwd);
  const { kind, folder, path } = led;
  const isWish = instructionsOf({ text }) !== "" || clear;
  let says = "";
  if (isWish) {
    requirePerson(io.env);
    const { stateDir } = await configToRead(io, {}, ["state_dir"]);
    says = await steer(kind.steeredWork(folder, path), { text, clear }, { now: io.clock.now(), stateDir });
  }
  const steering = await currentInstructions(folder, await kind.readInstructions(folder));
  if (json) io.stdout(`${JSON.stringify({ folder, steering: steering })}\n`);
  else if (isWish) say(io, says);
  else if (steering.length === 0)
    say(io, `There are no instructions; give some with 'research-ralph steer ${path} "…"'.`);
  else for (const each of steering) io.stdout(`- ${oneLine(each)}\n`);
  return 0;
}

/**
 * In the folder of a task a single argument that names nothing else is what its agents are to be told.
 */
async function meant(
  { folder, text }: Pick<SteerArguments, "folder" | "text">,
  cwd: string,
): Promise<{ readonly led: FoundWork; readonly text: string | undefined }> {
  try {
    return { led: await findWork(cwd, folder), text };
  } catch (error) {
    if (text !== undefined || folder === undefined) throw error;
    const here = workIn(cwd, cwd);
    const isHere = here !== undefined && here.kind.noun !== "project";
    if (!isHere && /\s/.test(folder.trim()) && error instanceof ExpectedError)
      throw new ExpectedError('Name the project before the text: research-ralph steer <project> "…".', 2);
    if (!isHere) throw error;
    return { led: await findWork(cwd, undefined), text: folder };
  }
}
