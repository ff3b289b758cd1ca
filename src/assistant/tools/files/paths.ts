import { lstat, realpath } from "node:fs/promises";
import nodePath, { type PlatformPath } from "node:path";
import { ExpectedError, hasCode } from "../../../engine/lib/errors.js";
import { type ToolFailure, toolFailure } from "../../../engine/tools/tool.js";

/** The specification's codes of what is wrong with a file, and one for a change that can't be made. */
export type FileError =
  | "NOT_FOUND"
  | "PERMISSION"
  | "TOO_LARGE"
  | "INVALID_PATH"
  | "MEMORY"
  | "IO"
  | "INVALID_OPERATION";

export const fileFailure = (code: FileError, error: string): ToolFailure => toolFailure(`FILE_ERROR_${code}`, error);

/** Longest path that is taken, in characters. https://man7.org/linux/man-pages/man3/realpath.3.html (PATH_MAX) */
const maxPath = 4096;

/**
 * The absolute path that a name means in a folder, by its letters alone: undefined where it leads out, climbs with `..`
 * or holds a NUL. `path`: that of the system, or of another for a test.
 */
export function lexicallyWithin(root: string, named: string, path: PlatformPath = nodePath): string | undefined {
  if (named === "" || named.length > maxPath || named.includes("\0")) return undefined;
  if (named.split(/[\\/]/).includes("..")) return undefined;
  const whole = path.resolve(root, named);
  // `C:file` means another folder of that drive, `\\.\` a device, and `file:stream` a second content of a file.
  if (path.sep === "\\" && /^[\\/]{2}|:/.test(path.isAbsolute(named) ? named.slice(2) : named)) return undefined;
  return whole === root || whole.startsWith(root.endsWith(path.sep) ? root : root + path.sep) ? whole : undefined;
}

/** Where a file that a model named really lies. */
export interface Placed {
  /** Absolute, without links. */
  readonly path: string;
  readonly exists: boolean;
}

/**
 * Finds the real path of a name in a folder, which may not be there yet. Links are followed; what they lead to outside
 * of the folder is not a path of it.
 */
export async function placed(root: string, named: string): Promise<Placed | ToolFailure> {
  const outside = fileFailure("INVALID_PATH", `'${named.slice(0, 200)}' is not a path inside ${root}.`);
  const folder = await realpath(root);
  const path = lexicallyWithin(folder, named) ?? lexicallyWithin(root, named);
  if (path === undefined) return outside;
  const within = (real: string) => real === folder || real.startsWith(folder + nodePath.sep);
  try {
    const real = await realpath(path);
    return within(real) ? { path: real, exists: true } : outside;
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
  }
  // A link whose end is missing would be written through.
  if ((await lstat(path).catch(() => undefined)) !== undefined) return outside;
  const missing: string[] = [];
  for (let at = path; ; at = nodePath.dirname(at)) {
    const real = await realpath(at).catch(() => undefined);
    if (real !== undefined) return within(real) ? { path: nodePath.join(real, ...missing), exists: false } : outside;
    if ((await lstat(at).catch(() => undefined)) !== undefined || at === nodePath.dirname(at)) return outside;
    missing.unshift(nodePath.basename(at));
  }
}

/** What the system said about a file, as the specification's code and one sentence. Rethrows any other error. */
export function fileProblem(thrown: unknown, named: string): ToolFailure {
  const name = named.slice(0, 200);
  const error = thrown instanceof ExpectedError ? (thrown.cause ?? thrown) : thrown;
  if (hasCode(error, "ENOENT", "ENOTDIR")) return fileFailure("NOT_FOUND", `There is no file or folder ${name}.`);
  if (hasCode(error, "EACCES", "EPERM", "EROFS", "ERR_ACCESS_DENIED"))
    return fileFailure("PERMISSION", `${name} may not be opened or changed (${error.code}).`);
  if (hasCode(error, "ENAMETOOLONG", "ELOOP", "EINVAL", "ERR_INVALID_ARG_VALUE"))
    return fileFailure("INVALID_PATH", `${name} is not a path (${error.code}).`);
  if (hasCode(error, "ENOMEM", "ERR_STRING_TOO_LONG", "ERR_MEMORY_ALLOCATION_FAILED"))
    return fileFailure("MEMORY", `${name} does not fit into memory.`);
  if (hasCode(error, "EISDIR")) return fileFailure("INVALID_PATH", `${name} is a folder.`);
  if (error instanceof ExpectedError) return fileFailure("IO", error.message);
  if (error instanceof Error && "code" in error)
    return fileFailure("IO", `${name} could not be read or written (${String(error.code)}).`);
  throw error;
}
