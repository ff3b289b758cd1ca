import { type ConfigFlags, configToRead } from "../../compose/config.js";
import type { Io } from "../../engine/ui/io.js";
import { findResearch, nameFor } from "../../research/overview/find-research.js";
import { recordDecision, type EligibilityDecision } from "../../research/overview/decide.js";
import { requirePerson } from "./require-person.js";
import { say } from "../../engine/ui/terminal/format.js";

interface DecideArguments extends EligibilityDecision {
  readonly folder: string;
  readonly flags: ConfigFlags;
  readonly json: boolean;
}

/** Writes a person's decision on the eligibility of a paper, which beats the criteria. */
export async function decideCommand(
  { folder: argument, flags, json, ...said }: DecideArguments,
  io: Io,
): Promise<number> {
  requirePerson(io.env);
  const folder = await findResearch(io.cwd, argument);
  const { git, stateDir } = await configToRead(io, flags, ["state_dir"]);
  const notify = (_: string, message: string) => say(io, message);
  const where = nameFor(io.cwd, folder);
  const { says, next, ...decided } = await recordDecision(folder, said, {
    where,
    now: io.clock.now(),
    stateDir,
    git,
    notify,
  });
  const { decision, why } = said;
  if (json) io.stdout(`${JSON.stringify({ folder, ...decided, decision, why: why.trim() })}\n`);
  else {
    io.stdout(`${says}\n`);
    if (next !== undefined) say(io, next);
  }
  return 0;
}
