/**
 * An error that the user can correct: a wrong flag, a broken file, a full disk. Its message is one sentence that says
 * what is wrong, where, and what to do. Any other error that is thrown is a bug.
 */
export class ExpectedError extends Error {
  override readonly name = "ExpectedError";
  constructor(
    message: string,
    /** The exit code: 1 if the program failed, 2 for wrong usage, 5 if the user must act first, 6 if it is in use. */
    readonly exitCode: 1 | 2 | 5 | 6 = 1,
  ) {
    super(message);
  }
}

/** A state file can't be used. The message names absolute paths, which the command shortens. */
export class InvalidStateError extends ExpectedError {}

/** Whether `error` is a system error of Node with one of these codes, such as ENOENT. */
export const hasCode = (error: unknown, ...codes: string[]): error is NodeJS.ErrnoException =>
  error instanceof Error && "code" in error && codes.includes(String(error.code));

/** The message of any thrown value. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * The sentence for an error of a disk: it is full, fails, was removed, or its server does not answer. Undefined for any
 * other error. `path`: the affected file, if the error does not name it.
 */
export function diskFault(error: unknown, path?: string): string | undefined {
  if (hasCode(error, "ENOSPC", "EDQUOT")) {
    const affectedPath = path ?? error.path;
    return `There is no space left on the disk${affectedPath === undefined ? "" : ` for ${affectedPath}`}; free some space and run again.`;
  }
  if (!hasCode(error, "EIO", "ESTALE", "ENODEV", "ENXIO", "ENOTCONN", "EHOSTDOWN", "EREMOTEIO")) return undefined;
  const file = path ?? error.path;
  return `The disk${file === undefined ? "" : ` of ${file}`} fails or is gone (${error.code}); check it and its connection, and run again.`;
}

/**
 * The sentence for an error of the machine that can occur in any operation: an error of the disk, too many open files,
 * an update of this program while it ran, or a package that is missing on this system. Undefined for any other error.
 */
export function machineFault(error: unknown): string | undefined {
  if (hasCode(error, "EMFILE", "ENFILE"))
    return "The limit of open files is too low; raise it with 'ulimit -n 1024', or end other programs, and run again.";
  if (hasCode(error, "ERR_MODULE_NOT_FOUND"))
    return "Files of this program are missing, as after an update while it ran; run again, or install it again.";
  // Libraries with native code are packages of their own for each system, and each library reports it in other words.
  if (hasCode(error, "MODULE_NOT_FOUND") || /native binding|unsupported system/.test(messageOf(error)))
    return `A package of this program for ${process.platform} ${process.arch} is not installed; npm has it for Linux, macOS and Windows, unless optional packages are left out.`;
  return diskFault(error);
}
