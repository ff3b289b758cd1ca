import { existsSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { messageOf, machineFault } from "../engine/lib/errors.js";
import { printThrough } from "../engine/ui/command-line.js";
import { oneLine } from "../engine/lib/sanitise.js";
import type { Io } from "../engine/ui/io.js";
import { ownListIn } from "../research/papers/records/own-list.js";
import { researchesName, rrdFile, rrdName } from "../research/project-files/layout.js";
import { taskFile } from "../task/project-files/layout.js";
import { healAfterKill } from "./heal.js";
import { withCommandFirst } from "./command-line/old-spelling.js";
import { buildProgram } from "./command-line/program.js";

/**
 * Runs the command that `args` name, as typed behind `research-ralph`; returns its exit code. Everything a command
 * reads of its surroundings and everything it prints goes through `io`, so it runs in a test's own process too. Never
 * throws.
 */
export async function main(args: readonly string[], io: Io, version: string): Promise<number> {
  let line = args;
  try {
    let exitCode = 0;
    const isForAll = args[0] === "help" && args[1] === "all";
    const ended = (code: number) => {
      exitCode = code;
    };
    const program = buildProgram(io, version, {
      setExitCode: ended,
      run: (other, outside) => main(other, outside, version),
      all: isForAll,
    });
    program.hook("preAction", async () => {
      for (const sentence of await healAfterKill(io)) io.stderr(`warning: ${oneLine(sentence)}\n`);
    });
    const commands = program.commands.flatMap((command) => [command.name(), ...command.aliases()]);
    const options = program.commands.flatMap((command) => command.options).filter(({ required }) => required);
    const optionsWithValue = new Set(options.flatMap(({ short, long }) => [short ?? "", long ?? ""]));
    line = withCommandFirst(isForAll ? ["--help"] : jsonLast(args), {
      commands: [...commands, "help"],
      optionsWithValue,
      kindOf: (word) => kindOf(word, io.cwd),
    });
    await printThrough(io, program).parseAsync(line, { from: "user" });
    return exitCode;
  } catch (error) {
    return fail(error, line, io);
  }
}

/** A folder without a project, and a file that lists works, are documents to read. */
function kindOf(word: string, cwd: string): "project" | "documents" | undefined {
  const path = resolve(cwd, word);
  if (existsSync(resolve(cwd, researchesName, word))) return "project";
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() === true)
    return ownListIn(word) === undefined || basename(path) === rrdName ? "project" : "documents";
  if (found?.isDirectory() !== true) return undefined;
  const isOurs = [rrdFile(path), taskFile(path)].some((file) => existsSync(file)) || basename(path) === researchesName;
  return isOurs ? "project" : "documents";
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
    return explain(error, io, args, (option) => ownerOf(option, io));
  } catch {
    // Thrown on, it would come back as an uncaught error without end.
    io.stderr(`research-ralph: ${machineFault(error) ?? messageOf(error)}\n`);
    return 1;
  }
}

const ownerOf = (option: string, io: Io): string | undefined =>
  buildProgram(io, "", { setExitCode: () => undefined, run: async () => 0 })
    .commands.find(({ options }) => options.some(({ long }) => long === option.split("=")[0]))
    ?.name();
