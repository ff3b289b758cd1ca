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
import { isQuestion } from "./question.js";

/** Returns the first command of the help that has the option; undefined if no command has it. */
type CommandWithOption = (option: string) => string | undefined;

/** Prints an error as one sentence, without a stack trace, and returns the exit code for it. */
export function printError(
  error: unknown,
  io: Io,
  args: readonly string[],
  commandWithOption: CommandWithOption = () => undefined,
): number {
  const usageText = (sentence: string, hint: string) => usageSentence(sentence, hint, args, io.cwd, commandWithOption);
  const { message: fullMessage, exitCode } = errorReport(error, io, { name: "research-ralph", args, usage: usageText });
  if (fullMessage === undefined) return exitCode;
  // In a message about a file, the path of the current folder is left out.
  const message = error instanceof InvalidStateError ? fullMessage.replaceAll(`${io.cwd}${sep}`, "") : fullMessage;
  const exampleLine = error instanceof UnnamedWork ? exampleCommand(error, args) : undefined;
  const sentence = exampleLine === undefined ? message : `${message}, as in ${exampleLine}.`;
  const toOutput = (text: string) => `${wrapForTerminal(`research-ralph: ${sanitise(text)}`, io)}\n`;
  if (args.includes("--json")) io.stdout(`${JSON.stringify({ error: sentence })}\n`);
  // On a terminal, a line to copy is not wrapped.
  io.stderr(
    exampleLine !== undefined && io.isTTY ? `${toOutput(`${message}, as in`)}  ${exampleLine}\n` : toOutput(sentence),
  );
  return exitCode;
}

/** The typed command with the name of the first project, as an example. */
function exampleCommand({ names: [first] }: UnnamedWork, [command = "run", ...rest]: readonly string[]): string {
  const argsWithName = command === "mcp" ? [...rest, "--research", first] : [first, ...rest];
  return ["research-ralph", command, ...argsWithName].map(shellWord).join(" ");
}

/**
 * The sentence for a wrong command line. `problem` and `hint` are from commander, such as "unknown option '--agnet'"
 * and "(Did you mean --agent?)".
 */
function usageSentence(
  problem: string,
  hint: string,
  args: readonly string[],
  cwd: string,
  commandWithOption: CommandWithOption,
): string {
  // For the help of an unknown command, commander's whole message is "(outputHelp)".
  const isHelpCall = problem === "(outputHelp)";
  const sentence = isHelpCall ? `unknown command '${args.at(-1)}'` : problem;
  const unknownCommand = /^unknown command '(.*)'/s.exec(sentence)?.[1];
  if (unknownCommand !== undefined && isPath(unknownCommand)) return missingPathText(unknownCommand, cwd);
  // Commander compares only with the commands in its help, so the others are compared here.
  const nearestName =
    unknownCommand === undefined
      ? undefined
      : nearestCandidate(unknownCommand, Object.keys({ ...summaries, ...oldNames }));
  if (nearestName !== undefined) return `${sentence}. Did you mean ${oldNames[nearestName] ?? nearestName}?`;
  if (unknownCommand !== undefined && hasQuestionAfter(unknownCommand, args))
    return missingPathText(unknownCommand, cwd);
  if (isHelpCall) return `${sentence}; see research-ralph --help.`;
  const suggestion = /\((Did you mean .*)\)/.exec(hint)?.[1];
  const option = /^unknown option '(.*)'/s.exec(sentence)?.[1];
  const ownerCommand = option === undefined ? undefined : commandWithOption(option);
  if (ownerCommand === "begin") return `${sentence}; it goes with a question: research-ralph "…" ${option}.`;
  // Commander also suggests options that are not similar, such as --undo for --rounds.
  const isTypo = option === undefined || nearestCandidate(option, hint.match(/--[\w-]+/g) ?? []) !== undefined;
  if (suggestion !== undefined && isTypo) return `${sentence}. ${suggestion}`;
  const command = args.find((arg) => arg in summaries);
  if (command === "begin" && ownerCommand === "run")
    return `${sentence} with a question; make the project by research-ralph new "…" --source, then type research-ralph run ${option}.`;
  if (command === "begin" && ownerCommand !== undefined)
    return `${sentence} with a question; it belongs to research-ralph ${ownerCommand}.`;
  if (command === "run" && option === "--criterion")
    return `${sentence}; change requirements.criteria in the project's rrd.json, and 'research-ralph reset <project> --unit discovery' has its records screened again.`;
  if ((ownerCommand === "run" || ownerCommand === "new") && command !== undefined)
    return `${sentence}; it belongs to research-ralph ${ownerCommand}.`;
  if (command === "begin") return `${sentence}; see research-ralph help begin, which tells what goes with a question.`;
  const decision = /^--(include|exclude|not-retrieved)$/.exec(option ?? "")?.[1];
  if (command === "decide" && decision !== undefined)
    return `${sentence}; the decision is a word: research-ralph decide [project] <paper> ${decision} "why".`;
  if (unknownCommand !== undefined)
    return `${sentence}; see research-ralph help all. A question has three words or more, in quotes.`;
  return `${sentence}; see research-ralph ${command === undefined ? "" : `${command} `}--help.`;
}

/** Whether a word looks like the path of papers or of an export. No command has a dot in its name. */
const isPath = (word: string): boolean =>
  !/\s/.test(word) && (word.includes("/") || /[^.]\.\w/.test(word) || ownListIn(word) !== undefined);

/** Whether a question is typed after the word, as after a folder of papers. */
const hasQuestionAfter = (word: string, args: readonly string[]): boolean =>
  isQuestion(args[args.indexOf(word) + 1] ?? "");

function missingPathText(typedPath: string, cwd: string): string {
  const path = resolve(cwd, typedPath);
  const siblingNames = namesInFolder(dirname(path));
  const nearestName = nearestCandidate(basename(path), siblingNames);
  return `There is no folder or file ${typedPath} here${nearestName === undefined ? "" : `; ${nearestName} is beside it`}.`;
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
