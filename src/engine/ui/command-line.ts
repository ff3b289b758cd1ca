import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { defaultStateDir } from "../config/state-dir.js";
import { timeForName } from "../lib/clock.js";
import { ExpectedError, machineFault, messageOf } from "../lib/errors.js";
import { bugsFolder } from "../lib/layout.js";
import { packageVersion } from "../lib/package-root.js";
import { oneLine } from "../lib/sanitise.js";
import { labelledLines } from "./terminal/format.js";
import { homeOf, type Io } from "./io.js";

/** Makes a program and its commands print their help through `io`, and throw an error instead of ending the process. */
export function printThrough(io: Pick<Io, "stdout" | "columns">, program: Command): Command {
  const { columns } = io;
  const output = {
    writeOut: (text: string) => io.stdout(wrapHelp(text, columns)),
    writeErr: () => {},
    outputError: () => {},
    getOutHelpWidth: () => columns,
  };
  for (const command of [program, ...program.commands]) command.exitOverride().configureOutput(output);
  return program;
}

/**
 * Wraps the lines of a help text to at most `columns` columns. In a line that is too long, the explanation of an option
 * or a command moves to the next line; other lines continue in the column of their first word.
 */
function wrapHelp(help: string, columns: number): string {
  const lines = help.split("\n").flatMap((line) => {
    if (line.length <= columns) return [line];
    const indent = " ".repeat(/^(Usage: |\s*)/.exec(line)?.[0].length ?? 0);
    const [usage = "", ...explanation] = line.slice(indent.length).split(/ {2,}/);
    const beginning = line.slice(0, indent.length);
    const rows = [
      ...labelledLines(beginning, usage, columns),
      ...(explanation.length === 0 ? [] : labelledLines(`${indent}    `, explanation.join(" "), columns)),
    ];
    return rows;
  });
  return lines.join("\n");
}

/** The program in which the error occurred. */
interface ErrorContext {
  /** The name that users type to start the program. */
  readonly name: string;
  /** The arguments of the program, without those that must not appear in a bug report. */
  readonly args: readonly string[];
  /**
   * One sentence for an error of commander, such as "unknown option '--agnet'". `hint`: the second line of that error,
   * such as "(Did you mean --agent?)", or empty.
   */
  usage(problem: string, hint: string): string;
}

/** The message and the exit code for an error that ended a program. No message if help or the version was printed. */
export function errorReport(error: unknown, io: Io, program: ErrorContext): { message?: string; exitCode: number } {
  if (error instanceof ExpectedError) return { message: error.message, exitCode: error.exitCode };
  if (isCommanderError(error)) {
    if (error.exitCode === 0) return { exitCode: 0 };
    const [usageError = "", ...hint] = error.message.replace(/^error: /, "").split("\n");
    return { message: program.usage(usageError.replace(/\.$/, ""), hint.join(" ")), exitCode: 2 };
  }
  return { message: machineFault(error) ?? bugSentence(error, io, program.name, program.args), exitCode: 1 };
}

/** Whether commander threw the error. Works without an import of commander. */
const isCommanderError = (error: unknown): error is Error & { exitCode: number } =>
  error instanceof Error && "code" in error && String(error.code).startsWith("commander.") && "exitCode" in error;

/**
 * Saves the details of an unexpected error for a bug report, and returns the message: one sentence with the version,
 * the platform and the place of the details. `name` and `args`: the program and its arguments.
 */
export function bugSentence(error: unknown, io: Io, name: string, args: readonly string[]): string {
  const program = `${name} ${packageVersion()} (Node ${process.version}, ${process.platform} ${process.arch})`;
  const details = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const report = saveReport(`${program}\n\n${name} ${args.join(" ")}\n\n${details}\n`, details, io);
  return `${oneLine(messageOf(error))}; this is a bug in ${program}, ${report}.`;
}

function saveReport(text: string, details: string, io: Io): string {
  if (io.env["RESEARCH_RALPH_DEBUG"] === "1") {
    io.stderr(`${details}\n`);
    return "see the details above";
  }
  const folder = bugsFolder(defaultStateDir(io.env, homeOf(io.env)));
  const file = join(folder, `${timeForName(io.clock.now())}.txt`);
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, text);
    return `the details are in ${file}`;
  } catch {
    return "RESEARCH_RALPH_DEBUG=1 shows the details";
  }
}
