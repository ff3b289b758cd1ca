import type { Command } from "commander";
import { ExpectedError, faultOfMachine } from "../lib/errors.js";
import { bugSentence } from "./bug-report.js";
import type { Io } from "./io.js";

/** Lets a program and its commands print their help through `io`, and throw where commander would end the process. */
export function printThrough({ stdout }: Io, program: Command): Command {
  const output = { writeOut: stdout, writeErr: () => {}, outputError: () => {} };
  for (const command of [program, ...program.commands]) command.exitOverride().configureOutput(output);
  return program;
}

/** The program whose error is reported. */
interface ErrorContext {
  /** The name that users type to start it. */
  readonly name: string;
  /** What it was started with, as far as that may stand in a bug report. */
  readonly args: readonly string[];
  /**
   * One sentence for what commander says of wrong arguments, such as "unknown option '--agnet'". `hint`: its second
   * line, such as "(Did you mean --agent?)", else empty.
   */
  usage(said: string, hint: string): string;
}

/** One sentence for the error that ended a program, and its exit code; none where help or version was printed. */
export function judgeError(error: unknown, io: Io, program: ErrorContext): { message?: string; exitCode: number } {
  if (error instanceof ExpectedError) return { message: error.message, exitCode: error.exitCode };
  if (isCommanderError(error)) {
    if (error.exitCode === 0) return { exitCode: 0 };
    const [usageError = "", ...hint] = error.message.replace(/^error: /, "").split("\n");
    return { message: program.usage(usageError.replace(/\.$/, ""), hint.join(" ")), exitCode: 2 };
  }
  return { message: faultOfMachine(error) ?? bugSentence(error, io, program.name, program.args), exitCode: 1 };
}

/** Whether an error comes from commander; does not import commander. */
const isCommanderError = (error: unknown): error is Error & { exitCode: number } =>
  error instanceof Error && "code" in error && String(error.code).startsWith("commander.") && "exitCode" in error;
