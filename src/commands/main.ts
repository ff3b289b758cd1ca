import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { messageOf, faultOfMachine } from "../engine/lib/errors.js";
import { printThrough } from "../engine/ui/command-line.js";
import { oneLine } from "../engine/lib/sanitise.js";
import type { Io } from "../engine/ui/io.js";
import { researchesName } from "../research/project-files/layout.js";
import { healAfterKill } from "./heal.js";
import { summaries } from "./help-text.js";
import { withCommandFirst } from "./old-spelling.js";
import { buildProgram } from "./program.js";

/**
 * Runs the command that `args` name, as typed behind `research-ralph`; returns its exit code. Everything a command
 * reads of its surroundings and everything it prints goes through `io`, so it runs in a test's own process too. Never
 * throws.
 */
export async function main(args: readonly string[], io: Io, version: string): Promise<number> {
  try {
    let exitCode = 0;
    const program = buildProgram(io, version, (code) => {
      exitCode = code;
    });
    program.hook("preAction", async () => {
      for (const sentence of await healAfterKill(io)) io.stderr(`warning: ${oneLine(sentence)}\n`);
    });
    const isFolder = (word: string) =>
      existsSync(resolve(io.cwd, word)) || existsSync(resolve(io.cwd, researchesName, word));
    await printThrough(io, program).parseAsync(
      withCommandFirst(jsonLast(args), { commands: [...Object.keys(summaries), "create", "help"], isFolder }),
      { from: "user" },
    );
    return exitCode;
  } catch (error) {
    return fail(error, args, io);
  }
}

/** People write it anywhere; commander takes it behind the command. */
const jsonLast = (args: readonly string[]): string[] => {
  const at = args.findIndex((arg) => arg !== "--json");
  return at > 0 ? [...args.slice(at), "--json"] : [...args];
};

/** Tells what went wrong in one sentence and returns the exit code it deserves. Never throws. */
export async function fail(error: unknown, args: readonly string[], io: Io): Promise<number> {
  try {
    const { explain } = await import("./explain.js");
    return explain(error, io, args);
  } catch {
    // Thrown on, it would come back as an uncaught error without end.
    io.stderr(`research-ralph: ${faultOfMachine(error) ?? messageOf(error)}\n`);
    return 1;
  }
}
