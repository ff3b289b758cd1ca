import { messageOf, machineFault } from "../lib/errors.js";
import { oneLine } from "../lib/sanitise.js";
import { type Io, processIo } from "./io.js";

/** A program of this package. */
interface Program {
  /** The name that users type; it begins each message of the program. */
  readonly name: string;
  /** Runs the program; returns the exit code. */
  run(io: Io): Promise<number>;
  /** Reports an error that no code caught; returns the exit code. */
  fail(error: unknown, io: Io): Promise<number>;
}

/**
 * Runs a program in this process and returns its exit code. Reports the errors that can occur in every program, in one
 * sentence each: a current folder that was deleted, a full disk under stdout, an unexpected error.
 */
export async function runProgram({ name, run, fail }: Program): Promise<number> {
  if (!cwdExists()) {
    console.error(`${name}: The current folder no longer exists; change to another folder.`);
    return 1;
  }
  const io = processIo(name);
  // Node reports a full disk under stdout only after the write, so it is checked again at the end.
  process.once("exit", () => {
    if (io.readerGone.reason === "ENOSPC") process.exitCode ||= 1;
  });
  try {
    // Without this handler, Node would print a stack trace, and there would be no bug report.
    process.on("uncaughtException", (error) => void fail(error, io).then((exitCode) => process.exit(exitCode)));
    return await run(io);
  } catch (error) {
    io.stderr(`${name}: ${machineFault(error) ?? oneLine(messageOf(error))}\n`);
    return 1;
  }
}

/** Whether the current folder exists. Node throws an error if it was deleted. */
function cwdExists(): boolean {
  try {
    process.cwd();
    return true;
  } catch {
    return false;
  }
}
