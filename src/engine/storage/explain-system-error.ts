import { lstatSync } from "node:fs";
import { dirname } from "node:path";
import { diskFault, ExpectedError, hasCode } from "../lib/errors.js";

/**
 * Turns the error of a file operation on `path` into an ExpectedError with a sentence for a person. An error that a
 * person can't correct is returned unchanged.
 */
export function explainSystemError(error: unknown, path: string): unknown {
  const sentence = sentenceFor(error, path);
  return sentence === undefined ? error : Object.assign(new ExpectedError(sentence), { cause: error });
}

function sentenceFor(error: unknown, path: string): string | undefined {
  if (hasCode(error, "EROFS"))
    return `${path} is on a read-only file system; make it writable, or copy the project folder elsewhere.`;
  if (hasCode(error, "EACCES", "EPERM"))
    return `There is no permission for ${path}; check who owns it with 'ls -ld', or run as that user.`;
  const obstacle = hasCode(error, "ENOTDIR") ? fileAmongFolders(path) : undefined;
  if (obstacle !== undefined) return `${obstacle} is a file where a folder belongs; move it away.`;
  if (hasCode(error, "ENOENT", "ENOTDIR"))
    return `${path} cannot be reached: its folder does not exist; it may have been moved or deleted.`;
  if (hasCode(error, "EISDIR")) return `${path} is a folder where a file belongs; move it away.`;
  if (hasCode(error, "ELOOP", "EMLINK"))
    return `${path} is a symbolic link, which is not followed here; put a file in its place.`;
  if (hasCode(error, "EFBIG"))
    return `${path} is larger than this shell or file system allows; 'ulimit -f' shows the shell's limit.`;
  if (hasCode(error, "ENAMETOOLONG"))
    return `The path ${path} is longer than the system allows; move it to a shorter one.`;
  return diskFault(error, path);
}

/** The first part of a path that exists and is not a folder. */
function fileAmongFolders(path: string): string | undefined {
  try {
    return lstatSync(path).isDirectory() ? undefined : path;
  } catch {
    return fileAmongFolders(dirname(path));
  }
}

/**
 * Runs `work`. A failure that a person can correct is thrown as an ExpectedError about `path`; if `work` returns a
 * promise, the promise is rejected with it.
 */
export function withExplainedErrors<T>(path: string, work: () => T): T {
  const explain = (error: unknown): never => {
    throw explainSystemError(error, path);
  };
  try {
    const result = work();
    return result instanceof Promise ? (result.catch(explain) as T) : result;
  } catch (error) {
    return explain(error);
  }
}
