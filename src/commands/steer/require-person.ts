import { type ConfigFlags, configToRead } from "../../compose/config.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { isStartedByAgent } from "../../engine/process/descendants.js";
import type { Io } from "../../engine/ui/io.js";
import { findResearch, nameFor } from "../../research/overview/find-research.js";

/**
 * Requires that a person started this command, because an agent must not give itself instructions in the user's name.
 * @throws ExpectedError (exit code 5) if an agent of research-ralph started it.
 */
export function requirePerson(env: NodeJS.ProcessEnv): void {
  if (isStartedByAgent(env))
    throw new ExpectedError(
      "An agent of research-ralph started this command, but only a person may use it; run it in a terminal of your own.",
      5,
    );
}

/** The project that a person changes by a command, and the settings for that. @throws as requirePerson */
export async function projectToChange(io: Io, typedName: string, flags: ConfigFlags) {
  requirePerson(io.env);
  const folder = await findResearch(io.cwd, typedName);
  const { git, stateDir } = await configToRead(io, flags, ["state_dir"]);
  return { folder, projectName: nameFor(io.cwd, folder), git, stateDir };
}
