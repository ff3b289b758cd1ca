import { existsSync, realpathSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import { ExpectedError } from "../../engine/lib/errors.js";
import { parseReference } from "../../research/papers/reference.js";

/**
 * Requires that a reference is not a file or folder outside `cwd`. This is for references that the user may not have
 * typed: those from a page in a browser, and from the model of a client. `place`: the name of the page or server, for
 * the message.
 * @throws ExpectedError (exit code 2) for a path outside.
 */
export function requireInside(reference: string, cwd: string, place: string): void {
  const parsedReference = parseReference(reference, cwd);
  const path = parsedReference.kind === "file" ? parsedReference.path : resolve(cwd, reference);
  if (existsSync(path) && relative(realpathSync(cwd), realpathSync(path)).split(sep)[0] === "..")
    throw new ExpectedError(
      `${reference} lies outside the folder in which ${place} was started; use research-ralph in a terminal for it.`,
      2,
    );
}
