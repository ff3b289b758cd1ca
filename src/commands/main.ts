import { existsSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { messageOf, machineFault } from "../engine/lib/errors.js";
import { printThrough } from "../engine/ui/command-line.js";
import { oneLine } from "../engine/lib/sanitise.js";
import type { Io } from "../engine/ui/io.js";
import { researchesName, rrdFile, rrdName } from "../research/project-files/layout.js";
import { taskFile } from "../task/project-files/layout.js";
import { repairAfterKill } from "./heal.js";
import { withCommandFirst } from "./command-line/old-spelling.js";
import { buildProgram } from "./command-line/program.js";

/**
 * Runs a command and returns its exit code. `args`: the words after `research-ralph`. A command uses `io` for all input
 * and output, so that tests can run it in their process. Never throws.
 */
export async function main(args: readonly string[], io: Io, version: string): Promise<number> {
  let commandLine = args;
  try {
    let exitCode = 0;
    const isHelpAll = args[0] === "help" && args[1] === "all";
    const onExitCode = (code: number) => {
      exitCode = code;
    };
    const program = buildProgram(io, version, {
      setExitCode: onExitCode,
      run: (otherArgs, otherIo) => main(otherArgs, otherIo, version),
      all: isHelpAll,
    });
    program.hook("preAction", async () => {
      for (const sentence of await repairAfterKill(io)) io.stderr(`warning: ${oneLine(sentence)}\n`);
    });
    const commands = program.commands.flatMap((command) => [command.name(), ...command.aliases()]);
    const options = program.commands.flatMap((command) => command.options).filter(({ required }) => required);
    const optionsWithValue = new Set(options.flatMap(({ short, long }) => [short ?? "", long ?? ""]));
    commandLine = withCommandFirst(isHelpAll ? ["--help"] : withJsonLast(args), {
      commands: [...commands, "help"],
      optionsWithValue,
      kindOf: (word) => kindOf(word, io.cwd),
    });
    await printThrough(io, program).parseAsync(commandLine, { from: "user" });
    return exitCode;
  } catch (error) {
    return reportError(error, commandLine, io);
  }
}

/**
 * What a word names. "project": a project, a task, the folder of projects, or the file rrd.json. "documents": any other
 * folder or file. Undefined if it names nothing.
 */
function kindOf(word: string, cwd: string): "project" | "documents" | undefined {
  const path = resolve(cwd, word);
  if (existsSync(resolve(cwd, researchesName, word))) return "project";
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() === true) return basename(path) === rrdName ? "project" : "documents";
  if (stats?.isDirectory() !== true) return undefined;
  const isWork = [rrdFile(path), taskFile(path)].some((file) => existsSync(file)) || basename(path) === researchesName;
  return isWork ? "project" : "documents";
}

/** The arguments with a leading `--json` moved to the end: commander accepts it only after the command. */
const withJsonLast = (args: readonly string[]): string[] => {
  const commandIndex = args.findIndex((arg) => arg !== "--json");
  return commandIndex > 0 ? [...args.slice(commandIndex), "--json"] : [...args];
};

/** Prints an error as one sentence, and returns the exit code for it. Never throws. */
export async function reportError(error: unknown, args: readonly string[], io: Io): Promise<number> {
  try {
    const { printError } = await import("./explain.js");
    return printError(error, io, args, (option) => commandWithOption(option, io));
  } catch {
    // If this threw, the handler of uncaught errors would call this function again and again.
    io.stderr(`research-ralph: ${machineFault(error) ?? messageOf(error)}\n`);
    return 1;
  }
}

/** The first command that has the option. */
const commandWithOption = (option: string, io: Io): string | undefined =>
  buildProgram(io, "", { setExitCode: () => undefined, run: async () => 0 })
    .commands.find(({ options }) => options.some(({ long }) => long === option.split("=")[0]))
    ?.name();
