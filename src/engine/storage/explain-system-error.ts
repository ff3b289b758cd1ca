import { lstatSync } from "node:fs";
import { dirname } from "node:path";
import { diskFault, ExpectedError, hasCode } from "../lib/errors.js";

/**
 * What a failed file operation on `path` means to a person, as an ExpectedError; an error that a person cannot correct
 * comes back unchanged.
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
  const inTheWay = hasCode(error, "ENOTDIR") ? noFolder(path) : undefined;
  if (inTheWay !== undefined) return `${inTheWay} is a file where a folder belongs; move it away.`;
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

/** The part of a path that exists and is not a folder. */
function noFolder(path: string): string | undefined {
  try {
    return lstatSync(path).isDirectory() ? undefined : path;
  } catch {
    return noFolder(dirname(path));
  }
}

/**
 * Runs `work`; a failure that a person can mend is thrown, or rejects what it promises, as an ExpectedError about
 * `path`.
 */
export function explaining<T>(path: string, work: () => T): T {
  const explain = (error: unknown): never => {
    throw explainSystemError(error, path);
  };
  try {
    const done = work();
    return done instanceof Promise ? (done.catch(explain) as T) : done;
  } catch (error) {
    return explain(error);
  }
}
