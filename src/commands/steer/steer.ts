import { resolveConfig } from "../../compose/config.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { homeOf, type Io } from "../../engine/ui/io.js";
import { readResearch } from "../../research/folder/research.js";
import { findResearch, shown } from "../../research/overview/find-research.js";
import { steer, wordsInForce, wordsOf } from "../../research/steering/steer.js";
import { requirePerson } from "./require-person.js";

interface SteerArguments {
  readonly folder: string;
  /** What the agents should do; without it the messages in force are shown. */
  readonly text?: string;
  /** Whether all that was said before is taken back. */
  readonly clear: boolean;
  readonly json: boolean;
}

/**
 * Tells the agents of a project something, also while it runs elsewhere: every brief from the next one on carries it
 * until it is cleared.
 */
export async function steerCommand({ folder: argument, text, clear, json }: SteerArguments, io: Io): Promise<number> {
  const folder = await findResearch(io.cwd, argument);
  const where = shown(io.cwd, folder);
  const isWish = wordsOf({ text }) !== "" || clear;
  let says = "";
  if (isWish) {
    requirePerson(io.env);
    const { stateDir } = await resolveConfig({ flags: {}, env: io.env, cwd: io.cwd, home: homeOf(io.env) });
    says = await steer(folder, { text, clear }, { where, now: io.clock.now(), stateDir });
  }
  const steering = await wordsInForce(folder, (await readResearch(folder)).rrd);
  if (json) io.stdout(`${JSON.stringify({ folder, steering: steering })}\n`);
  else if (isWish) io.stderr(`${says}\n`);
  else if (steering.length === 0)
    io.stderr(`There are no instructions; give some with research-ralph steer ${where} "…".\n`);
  else for (const each of steering) io.stdout(`- ${oneLine(each)}\n`);
  return 0;
}
