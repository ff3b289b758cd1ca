import { existsSync, realpathSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import { ExpectedError } from "../../engine/lib/errors.js";
import { parseReference } from "../../research/papers/reference.js";

/**
 * Refuses a reference that is a file or folder outside of `cwd`, for callers that others than a person may lead: a page
 * in a browser, a client's model.
 * @throws ExpectedError (exit code 2), which names `where` the reference was given.
 */
export function requireInside(reference: string, cwd: string, where: string): void {
  const named = parseReference(reference, cwd);
  const path = named.kind === "file" ? named.path : resolve(cwd, reference);
  if (existsSync(path) && relative(realpathSync(cwd), realpathSync(path)).split(sep)[0] === "..")
    throw new ExpectedError(
      `${reference} lies outside the folder that ${where} was started in; research-ralph in a terminal takes it.`,
      2,
    );
}
