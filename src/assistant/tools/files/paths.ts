import { lstat, realpath } from "node:fs/promises";
import nodePath, { type PlatformPath } from "node:path";
import { ExpectedError, hasCode } from "../../../engine/lib/errors.js";
import { type ToolFailure, toolFailure } from "../../../engine/tools/tool.js";

/** Error codes for files. `INVALID_OPERATION`: a change that can't be made. The specification lists the other codes. */
export type FileError =
  | "NOT_FOUND"
  | "PERMISSION"
  | "TOO_LARGE"
  | "INVALID_PATH"
  | "MEMORY"
  | "IO"
  | "INVALID_OPERATION";

export const fileFailure = (code: FileError, error: string): ToolFailure => toolFailure(`FILE_ERROR_${code}`, error);

/** Maximum characters of a path. https://man7.org/linux/man-pages/man3/realpath.3.html (PATH_MAX) */
const maxPathChars = 4096;

/**
 * The absolute path for a name in a folder, without access to the file system. Undefined if it leads out of the folder,
 * contains `..` or a NUL. `path`: the path functions of the system, or of another system for a test.
 */
export function resolveWithin(root: string, name: string, path: PlatformPath = nodePath): string | undefined {
  if (name === "" || name.length > maxPathChars || name.includes("\0")) return undefined;
  if (name.split(/[\\/]/).includes("..")) return undefined;
  const absolutePath = path.resolve(root, name);
  // `C:file` means a file in another folder of that drive, `\\.\` is a device, and `file:stream` is a stream of a file.
  if (path.sep === "\\" && /^[\\/]{2}|:/.test(path.isAbsolute(name) ? name.slice(2) : name)) return undefined;
  return absolutePath === root || absolutePath.startsWith(root.endsWith(path.sep) ? root : root + path.sep)
    ? absolutePath
    : undefined;
}

/** The location of a file for which a model gave a name. */
export interface FileLocation {
  /** Absolute path without symbolic links. */
  readonly path: string;
  readonly exists: boolean;
}

/**
 * Finds the real path for a name in a folder. The file need not exist. Links are followed, but not out of the
 * folder.
 */
export async function locateFile(root: string, name: string): Promise<FileLocation | ToolFailure> {
  const outsideFailure = fileFailure("INVALID_PATH", `'${name.slice(0, 200)}' is not a path inside ${root}.`);
  const folder = await realpath(root);
  const path = resolveWithin(folder, name) ?? resolveWithin(root, name);
  if (path === undefined) return outsideFailure;
  const isInside = (realPath: string) => realPath === folder || realPath.startsWith(folder + nodePath.sep);
  try {
    const realPath = await realpath(path);
    return isInside(realPath) ? { path: realPath, exists: true } : outsideFailure;
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
  }
  // If the target of a link is missing, writing to the link would create it, perhaps outside the folder.
  if ((await lstat(path).catch(() => undefined)) !== undefined) return outsideFailure;
  const missingNames: string[] = [];
  for (let folderAbove = path; ; folderAbove = nodePath.dirname(folderAbove)) {
    const realPath = await realpath(folderAbove).catch(() => undefined);
    if (realPath !== undefined)
      return isInside(realPath) ? { path: nodePath.join(realPath, ...missingNames), exists: false } : outsideFailure;
    if (
      (await lstat(folderAbove).catch(() => undefined)) !== undefined ||
      folderAbove === nodePath.dirname(folderAbove)
    )
      return outsideFailure;
    missingNames.unshift(nodePath.basename(folderAbove));
  }
}

/** A system error about a file as a failure with the specification's code. Throws other errors again. */
export function fileFailureOf(thrownError: unknown, givenName: string): ToolFailure {
  const name = givenName.slice(0, 200);
  const error = thrownError instanceof ExpectedError ? (thrownError.cause ?? thrownError) : thrownError;
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
