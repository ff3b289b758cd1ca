import { nearestCandidate } from "../../engine/lib/nearest.js";
import { oldNames } from "../help-text.js";
import { isQuestion, minQuestionWords } from "../question.js";

/** Options of the original program that are commands now. */
const oldFlagCommands = ["--new", "--run", "--list", "--status", "--reset", "--config"] as const;

/** What must be known to understand the arguments. */
export interface CommandContext {
  readonly commands: readonly string[];
  /** Options that are followed by a value, such as "--agent". */
  readonly optionsWithValue: ReadonlySet<string>;
  /** What the word names: a project, or documents to read; undefined if neither. */
  kindOf(word: string): "project" | "documents" | undefined;
}

/**
 * Rewrites the arguments so that they begin with the current name of a command. A question, a folder of papers or an
 * export becomes `begin`. Scripts for the original use `--new "<topic>"`, `--run <folder> -p 30` or `<folder> 20`.
 * Without arguments, the command is `run`.
 */
export function withCommandFirst(args: readonly string[], context: CommandContext): string[] {
  const commands = [...context.commands, ...Object.keys(oldNames)];
  const [command = "", ...rest] = reorderArgs(args, { ...context, commands });
  if (command === "help" && rest[0] !== undefined) return [command, ...withoutOldName(rest).slice(0, 1)];
  return withoutOldName([command, ...rest]);
}

/**
 * Replaces an old name by the current command. If the command now also needs an option, it is added before the other
 * arguments; if it needs a word, the word is added after them.
 */
function withoutOldName([command = "", ...rest]: readonly string[]): string[] {
  if (!Object.hasOwn(oldNames, command)) return [command, ...rest];
  const [currentName = "", addedWord] = (oldNames[command] ?? "").split(" ");
  if (addedWord === undefined) return [currentName, ...rest];
  return addedWord.startsWith("--") ? [currentName, addedWord, ...rest] : [currentName, ...rest, addedWord];
}

function reorderArgs(args: readonly string[], { commands, optionsWithValue, kindOf }: CommandContext): string[] {
  const [first] = args;
  if (first === undefined) return ["run"];
  if (commands.includes(first)) return [...args];

  const flagIndex = args.findIndex((arg) => oldFlagCommands.some((flag) => arg === flag || arg.startsWith(`${flag}=`)));
  if (flagIndex >= 0) {
    const [flag = "", ...inlineParts] = args[flagIndex]?.split("=") ?? [];
    const before = args.slice(0, flagIndex);
    const after = args.slice(flagIndex + 1);
    const command = flag.slice(2);
    if (inlineParts.length > 0)
      return [command, ...(inlineParts.join("=") === "" ? [] : [inlineParts.join("=")]), ...before, ...after];
    return [command, ...after, ...before];
  }

  if (first === "-h" || first === "--help") return ["--help"];
  const { words, options } = separateOptions(args, optionsWithValue);
  const [word, second, ...rest] = words;
  if (word === undefined) return ["run", ...args];
  if (commands.includes(word)) return [word, ...words.slice(1), ...options];
  const kind = kindOf(word);
  // ralph.sh <folder> <iterations>
  if (kind === "project" && second !== undefined && /^\d+$/.test(second))
    return ["run", word, "-i", second, ...rest, ...options];
  if (kind === "project") return ["run", ...words, ...options];
  return kind === "documents" || areQuestion(words, commands) ? ["begin", ...words, ...options] : [...args];
}

/** Whether the words are a question: one argument of several words, or several arguments that resemble no command. */
const areQuestion = (words: readonly string[], commands: readonly string[]): boolean =>
  isQuestion(words[0] ?? "") ||
  (words.length >= minQuestionWords && words.every((word) => nearestCandidate(word, commands) === undefined));

/** Separates the plain words from the options with their values. */
function separateOptions(args: readonly string[], valued: ReadonlySet<string>): { words: string[]; options: string[] } {
  const words: string[] = [];
  const options: string[] = [];
  let isValue = false;
  for (const arg of args) {
    if (!isValue && !arg.startsWith("-")) words.push(arg);
    else options.push(arg);
    isValue = !isValue && valued.has(arg);
  }
  return { words, options };
}
