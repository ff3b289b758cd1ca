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

/** For a person, where the system lets a process open too few files; undefined for any other error. */
export const tooFewFiles = (error: unknown): string | undefined =>
  hasCode(error, "EMFILE", "ENFILE")
    ? "The limit of open files is too low; raise it with 'ulimit -n 1024', or end other programs, and run again."
    : undefined;
