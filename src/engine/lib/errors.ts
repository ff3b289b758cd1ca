/**
 * A failure that a person can meet and mend: a wrong flag, a broken file, a full disk. Its message is one sentence that
 * says what is wrong, where, and what to do. Anything else that is thrown is our own bug.
 */
export class ExpectedError extends Error {
  override readonly name = "ExpectedError";
  constructor(
    message: string,
    /** Which exit code it deserves: 1 failed, 2 wrong usage, 5 a person is needed. */
    readonly exitCode: 1 | 2 | 5 = 1,
  ) {
    super(message);
  }
}

/** Whether `error` is a system error of Node's with this code, such as ENOENT. */
export const hasCode = (error: unknown, ...codes: string[]): error is NodeJS.ErrnoException =>
  error instanceof Error && "code" in error && codes.includes(String(error.code));

/** The message of whatever was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * For a person, where a disk is full, fails, was pulled out, or belongs to a server that is gone; undefined for any
 * other error. `path`: the file that was meant, where the error names none.
 */
export function diskFault(error: unknown, path?: string): string | undefined {
  if (hasCode(error, "ENOSPC", "EDQUOT")) {
    const full = path ?? error.path;
    return `There is no space left on the disk${full === undefined ? "" : ` for ${full}`}; free some and run again.`;
  }
  if (!hasCode(error, "EIO", "ESTALE", "ENODEV", "ENXIO", "ENOTCONN", "EHOSTDOWN", "EREMOTEIO")) return undefined;
  const file = path ?? error.path;
  return `The disk${file === undefined ? "" : ` of ${file}`} fails or is gone (${error.code}); check it and its connection, and run again.`;
}

/**
 * For a person, where the machine is at fault whatever was being done: its disk, the number of files that may be open,
 * or a new version that took the place of this one while it ran; undefined for any other error.
 */
export function faultOfMachine(error: unknown): string | undefined {
  if (hasCode(error, "EMFILE", "ENFILE"))
    return "The limit of open files is too low; raise it with 'ulimit -n 1024', or end other programs, and run again.";
  if (hasCode(error, "ERR_MODULE_NOT_FOUND"))
    return "Files of this program are missing, as after an update while it ran; run again, or install it again.";
  return diskFault(error);
}
