import { ExpectedError } from "../../engine/lib/errors.js";
import { isStartedByAgent } from "../../engine/process/descendants.js";

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
