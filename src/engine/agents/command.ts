import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { AgentCheck, AgentContext, AgentDefinition, Invocation } from "./definition.js";
import { programIn, realPathOf } from "../process/search-path.js";
import { readPlainText } from "./shared/plain-text.js";
import { ask, ownReach } from "./program.js";

/**
 * Any other command: the brief on stdin, the workspace as its folder, plain text on stdout, the exit code as its
 * verdict. Nothing confines it.
 */
export const command: AgentDefinition = {
  name: "command",
  confinement: "unconfined",
  takesTemperature: true,
  invoke({ temperature }, context): Invocation {
    return {
      command: "sh",
      args: ["-c", withArgs(lineOf(context), context.options.args ?? []), "sh", ...(context.options.args ?? [])],
      ...(temperature === undefined ? {} : { env: { RALPH_TEMPERATURE: String(temperature) } }),
    };
  },
  /** The files that its command line names; hosts and whatever else it needs are for the config to say. */
  reach(context) {
    const { options, settings } = context;
    const configuredReach = ownReach(options);
    return { ...configuredReach, read: [...filesIn(lineOf(context), settings.cwd), ...configuredReach.read] };
  },
  reader: readPlainText,
  async check(context): Promise<AgentCheck> {
    const line = lineOf(context);
    const word = firstWord(line);
    if (word === undefined) return { ok: true, detail: `Runs \`${line}\`; its requirements are unknown.` };
    const probe = await ask(context, "sh", ["-c", 'command -v -- "$1"', "sh", word]);
    if (probe.exitCode === 0) return { ok: true, detail: `Runs ${probe.stdout.trim()}.` };
    return {
      ok: false,
      detail: `There is no executable program ${word}.`,
      fix: "Correct the command, or make its file executable with `chmod +x`.",
    };
  },
};

/**
 * The command line, its program and the scripts that it names made absolute where they are given relative to the user's
 * folder: it runs in another one. `python3 agent.py` is found so, and `./agent.sh`.
 */
export function lineOf({ options, settings }: AgentContext): string {
  const line = (options.command ?? "").trim();
  const word = firstWord(line);
  if (word === undefined) return line;
  const { length } = line.startsWith("'") ? `'${word}'` : word;
  const relative = word.includes("/") && !word.startsWith("/") ? resolve(settings.cwd, word) : undefined;
  const path = relative ?? hiddenProgram(word, settings);
  const program = path === undefined ? line.slice(0, length) : shellQuoted(path);
  const otherWords = line.slice(length).replace(/(?<=\s)[^\s'"$`;&|<>()=~/-][^\s'"$`;&|<>()=]*(?=\s|$)/g, (each) => {
    const path = resolve(settings.cwd, each);
    return /[./]/.test(each) && isFile(path) ? shellQuoted(path) : each;
  });
  return `${program}${otherWords}`;
}

/** The path of a program in the user's PATH that bubblewrap shows only where it is named; undefined for others. */
function hiddenProgram(word: string, { sandbox, env }: AgentContext["settings"]): string | undefined {
  if (sandbox?.name !== "bubblewrap" || word.includes("/")) return undefined;
  const path = programIn(env["PATH"] ?? "", word);
  return path === undefined || realPathOf(path).startsWith("/usr/") ? undefined : path;
}

const shellQuoted = (path: string): string => `'${path.replaceAll("'", String.raw`'\''`)}'`;

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/**
 * The program of a command line, where it stands there plainly or in single quotes: not computed, no assignment before
 * it.
 */
const firstWord = (line: string): string | undefined =>
  /^'([^']+)'(?=\s|$)/.exec(line)?.[1] ?? /^[^\s'"$`;&|<>()~=\\*?#]+(?=\s|$)/.exec(line)?.[0];

/** The files that stand in a command line as plain words; a relative one is of the user's folder. */
export const filesIn = (line: string, cwd: string): string[] =>
  [...line.matchAll(/'([^']+)'|"([^"$`]+)"|([^\s'"$`;&|<>()]+)/g)]
    .map(([, single, double, bare]) => resolve(cwd, single ?? double ?? bare ?? ""))
    .filter(isFile);

/** The line with arguments of its own, which the shell is given after it. */
export const withArgs = (line: string, args: readonly string[]): string => (args.length === 0 ? line : `${line} "$@"`);
