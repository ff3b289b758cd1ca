import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { AgentCheck, AgentContext, AgentDefinition, Invocation } from "./definition.js";
import { programIn, realPathOf } from "../process/search-path.js";
import { readPlainText } from "./shared/plain-text.js";
import { runProbe, configuredAccess } from "./program.js";

/**
 * Any other command. It gets the brief on stdin and runs in the workspace; stdout is plain text, and the exit code
 * shows success or failure. Nothing confines it.
 */
export const command: AgentDefinition = {
  name: "command",
  confinement: "unconfined",
  reportsNoUsage: true,
  takesTemperature: true,
  invoke({ temperature }, context): Invocation {
    return {
      command: "sh",
      args: ["-c", withArgs(lineOf(context), context.options.args ?? []), "sh", ...(context.options.args ?? [])],
      ...(temperature === undefined ? {} : { env: { RALPH_TEMPERATURE: String(temperature) } }),
    };
  },
  /** The files that the command line names. Hosts and other files must be set in the config. */
  processAccess(context) {
    const { options, settings } = context;
    const optionAccess = configuredAccess(options);
    return { ...optionAccess, read: [...filesIn(lineOf(context), settings.cwd), ...optionAccess.read] };
  },
  reader: readPlainText,
  async check(context): Promise<AgentCheck> {
    const commandLine = lineOf(context);
    const programName = firstWord(commandLine);
    if (programName === undefined)
      return { ok: true, detail: `Runs \`${commandLine}\`; its requirements are unknown.` };
    const probe = await runProbe(context, "sh", ["-c", 'command -v -- "$1"', "sh", programName]);
    if (probe.exitCode === 0) return { ok: true, detail: `Runs ${probe.stdout.trim()}.` };
    return {
      ok: false,
      detail: `There is no executable program ${programName}.`,
      fix: "Correct the command, or make its file executable with `chmod +x`.",
    };
  },
};

/**
 * The configured command line. Its program and scripts get absolute paths if they are relative to the user's folder,
 * because the command runs in another folder. This covers `python3 agent.py` and `./agent.sh`.
 */
export function lineOf({ options, settings }: AgentContext): string {
  const commandLine = (options.command ?? "").trim();
  const programName = firstWord(commandLine);
  if (programName === undefined) return commandLine;
  const { length: wordLength } = commandLine.startsWith("'") ? `'${programName}'` : programName;
  const absoluteProgram =
    programName.includes("/") && !programName.startsWith("/") ? resolve(settings.cwd, programName) : undefined;
  const programPath = absoluteProgram ?? hiddenProgram(programName, settings);
  const program = programPath === undefined ? commandLine.slice(0, wordLength) : shellQuoted(programPath);
  const otherWords = commandLine
    .slice(wordLength)
    .replace(/(?<=\s)[^\s'"$`;&|<>()=~/-][^\s'"$`;&|<>()=]*(?=\s|$)/g, (argument) => {
      const path = resolve(settings.cwd, argument);
      return /[./]/.test(argument) && isFile(path) ? shellQuoted(path) : argument;
    });
  return `${program}${otherWords}`;
}

/** The path of a program in PATH that bubblewrap shows only if it is named; undefined for others. */
function hiddenProgram(programName: string, { sandbox, env }: AgentContext["settings"]): string | undefined {
  if (sandbox?.name !== "bubblewrap" || programName.includes("/")) return undefined;
  const path = programIn(env["PATH"] ?? "", programName);
  return path === undefined || realPathOf(path).startsWith("/usr/") ? undefined : path;
}

const shellQuoted = (path: string): string => `'${path.replaceAll("'", String.raw`'\''`)}'`;

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/**
 * The program of a command line, if it is a plain word or in single quotes; undefined after an assignment or an
 * expansion.
 */
export const firstWord = (line: string): string | undefined =>
  /^'([^']+)'(?=\s|$)/.exec(line)?.[1] ?? /^[^\s'"$`;&|<>()~=\\*?#]+(?=\s|$)/.exec(line)?.[0];

/** The existing files among the words of a command line; a relative path is resolved against `cwd`. */
export const filesIn = (line: string, cwd: string): string[] =>
  [...line.matchAll(/'([^']+)'|"([^"$`]+)"|([^\s'"$`;&|<>()]+)/g)]
    .map(([, single, double, unquoted]) => resolve(cwd, single ?? double ?? unquoted ?? ""))
    .filter(isFile);

/** The command line, followed by the arguments that the shell gets separately. */
export const withArgs = (line: string, args: readonly string[]): string => (args.length === 0 ? line : `${line} "$@"`);
