import { messageOf, faultOfMachine } from "../lib/errors.js";
import { oneLine } from "../lib/sanitise.js";
import { type Io, processIo } from "./io.js";

/** A program of this package. */
interface Program {
  /** What people type to start it; it stands before each of its messages. */
  readonly name: string;
  /** What it does; answers with the exit code. */
  run(io: Io): Promise<number>;
  /** Tells of an error that nobody awaited; answers with the exit code. */
  fail(error: unknown, io: Io): Promise<number>;
}

/**
 * Runs a program in this process; answers with its exit code. What no program can do anything about is reported here,
 * in a sentence: a current folder that was deleted, a full disk under stdout, an error that nobody expected.
 */
export async function runProgram({ name, run, fail }: Program): Promise<number> {
  if (!cwdExists()) {
    console.error(`${name}: The current folder no longer exists; change to another folder.`);
    return 1;
  }
  const io = processIo(name);
  // Node tells of a full disk under stdout only after the write, so at the end it is asked for once more.
  process.once("exit", () => {
    if (io.readerGone.reason === "ENOSPC") process.exitCode ||= 1;
  });
  try {
    // What nobody awaited would otherwise print a stack trace and leave no report.
    process.on("uncaughtException", (error) => void fail(error, io).then((exitCode) => process.exit(exitCode)));
    return await run(io);
  } catch (error) {
    io.stderr(`${name}: ${faultOfMachine(error) ?? oneLine(messageOf(error))}\n`);
    return 1;
  }
}

/** Everything asks for the current folder, and Node throws where that was deleted. */
function cwdExists(): boolean {
  try {
    process.cwd();
    return true;
  } catch {
    return false;
  }
}
