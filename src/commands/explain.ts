import { readdirSync } from "node:fs";
import { basename, dirname, resolve, sep } from "node:path";
import { InvalidStateError } from "../engine/lib/errors.js";
import { nearestCandidate } from "../engine/lib/nearest.js";
import { sanitise, shellWord } from "../engine/lib/sanitise.js";
import { errorReport } from "../engine/ui/command-line.js";
import type { Io } from "../engine/ui/io.js";
import { wrapForTerminal } from "../engine/ui/terminal/format.js";
import { UnnamedWork } from "../research/overview/find-research.js";
import { ownListIn } from "../research/papers/records/own-list.js";
import { oldNames, summaries } from "./help-text.js";

/** The command that takes an option, the first of the help; undefined: none does. */
type OwnerOf = (option: string) => string | undefined;

/** Says what went wrong in one sentence, never with a stack trace, and returns the exit code it deserves. */
export function explain(error: unknown, io: Io, args: readonly string[], ownerOf: OwnerOf = () => undefined): number {
  const usage = (said: string, hint: string) => usageSentence(said, hint, args, io.cwd, ownerOf);
  const { message: given, exitCode } = errorReport(error, io, { name: "research-ralph", args, usage });
  if (given === undefined) return exitCode;
  // A person knows the folder they are in.
  const message = error instanceof InvalidStateError ? given.replaceAll(`${io.cwd}${sep}`, "") : given;
  const line = error instanceof UnnamedWork ? namingFirst(error, args) : undefined;
  const sentence = line === undefined ? message : `${message}, as in ${line}.`;
  const said = (text: string) => `${wrapForTerminal(`research-ralph: ${sanitise(text)}`, io)}\n`;
  if (args.includes("--json")) io.stdout(`${JSON.stringify({ error: sentence })}\n`);
  // On a terminal a line to copy is never broken.
  else io.stderr(line !== undefined && io.isTTY ? `${said(`${message}, as in`)}  ${line}\n` : said(sentence));
  return exitCode;
}

/** What was typed, with the first of several projects named. */
function namingFirst({ names: [first] }: UnnamedWork, [command = "run", ...rest]: readonly string[]): string {
  const named = command === "mcp" ? [...rest, "--research", first] : [first, ...rest];
  return ["research-ralph", command, ...named].map(shellWord).join(" ");
}

/** "unknown option '--agnet'" and "(Did you mean --agent?)" as one sentence that says where to look. */
function usageSentence(problem: string, hint: string, args: readonly string[], cwd: string, ownerOf: OwnerOf): string {
  // Commander's whole message where 'help' is asked for a command that there is not.
  const isOfHelp = problem === "(outputHelp)";
  const said = isOfHelp ? `unknown command '${args.at(-1)}'` : problem;
  const unknown = /^unknown command '(.*)'/s.exec(said)?.[1];
  if (unknown !== undefined && isPath(unknown)) return missingPath(unknown, cwd);
  // Commander looks for the nearest among those that the help lists alone.
  const near =
    unknown === undefined ? undefined : nearestCandidate(unknown, Object.keys({ ...summaries, ...oldNames }));
  if (near !== undefined) return `${said}. Did you mean ${oldNames[near] ?? near}?`;
  if (isOfHelp) return `${said}; see research-ralph --help.`;
  const suggestion = /\((Did you mean .*)\)/.exec(hint)?.[1];
  const option = /^unknown option '(.*)'/s.exec(said)?.[1];
  const owner = option === undefined ? undefined : ownerOf(option);
  if (owner === "begin") return `${said}; it goes with a question: research-ralph "…" ${option}.`;
  // Commander's "near" is wide: it offers --undo for --rounds.
  const isSlip = option === undefined || nearestCandidate(option, hint.match(/--[\w-]+/g) ?? []) !== undefined;
  if (suggestion !== undefined && isSlip) return `${said}. ${suggestion}`;
  const command = args.find((arg) => arg in summaries);
  if (command === "begin" && owner === "run")
    return `${said} with a question; make the project by research-ralph new "…" --source, then type research-ralph run ${option}.`;
  if (command === "begin" && owner !== undefined)
    return `${said} with a question; it belongs to research-ralph ${owner}.`;
  if ((owner === "run" || owner === "new") && command !== undefined)
    return `${said}; it belongs to research-ralph ${owner}.`;
  if (command === "begin") return `${said}; see research-ralph help begin, which tells what goes with a question.`;
  const decision = /^--(include|exclude|not-retrieved)$/.exec(option ?? "")?.[1];
  if (command === "decide" && decision !== undefined)
    return `${said}; the decision is a word: research-ralph decide [project] <paper> ${decision} "why".`;
  if (unknown !== undefined)
    return `${said}; see research-ralph help all. A question has three words or more, in quotes.`;
  return `${said}; see research-ralph ${command === undefined ? "" : `${command} `}--help.`;
}

/** Whether a word can only be the path of papers or of an export. */
const isPath = (word: string): boolean => !/\s/.test(word) && (word.includes("/") || ownListIn(word) !== undefined);

function missingPath(typed: string, cwd: string): string {
  const path = resolve(cwd, typed);
  const beside = namesInFolder(dirname(path));
  const near = nearestCandidate(basename(path), beside);
  return `There is no folder or file ${typed} here${near === undefined ? "" : `; ${near} is beside it`}.`;
}

function namesInFolder(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).map(
      (entry) => `${entry.name}${entry.isDirectory() ? "/" : ""}`,
    );
  } catch {
    return [];
  }
}
