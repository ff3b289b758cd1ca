import { ExpectedError } from "../../engine/lib/errors.js";
import { isStartedByAgent } from "../../engine/process/descendants.js";

/**
 * Only a person steers: an agent that calls the command would say what it is to do in the person's name.
 * @throws ExpectedError (exit code 5) where an agent of research-ralph started this command.
 */
export function requirePerson(env: NodeJS.ProcessEnv): void {
  if (isStartedByAgent(env))
    throw new ExpectedError(
      "An agent of research-ralph started this command, and only a person steers a project; call it from a terminal of your own.",
      5,
    );
}
