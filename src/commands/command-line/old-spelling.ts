import { nearestCandidate } from "../../engine/lib/nearest.js";
import { oldNames } from "../help-text.js";

/** Commands by what the original called them, where it differs. */
const flagCommands = ["--new", "--run", "--list", "--status", "--reset", "--config"] as const;

export interface Surroundings {
  readonly commands: readonly string[];
  /** Options that are followed by a value, such as "--agent". */
  readonly valued: ReadonlySet<string>;
  /** What a word is the path or the name of: a project, or documents to read; undefined: neither. */
  kindOf(word: string): "project" | "documents" | undefined;
}

/** Words of a question at least. One word is a command, a project, a file, or a mistake. */
const leastWords = 3;

/**
 * Arguments with the command in front under its name of today, whatever way they were spelt: a question, a folder of
 * papers or an export begins a project; scripts written for the original say `--new "<topic>"`, `--run <folder> -p 30`,
 * `<folder> 20`; nothing at all means `run`.
 */
export function withCommandFirst(args: readonly string[], surroundings: Surroundings): string[] {
  const commands = [...surroundings.commands, ...Object.keys(oldNames)];
  const [command = "", ...rest] = reordered(args, { ...surroundings, commands });
  if (command === "help" && rest[0] !== undefined) return [command, ...withoutOldName(rest).slice(0, 1)];
  return withoutOldName([command, ...rest]);
}

/** An option of today stands before the other arguments and a word behind them, where the command expects it. */
function withoutOldName([command = "", ...rest]: readonly string[]): string[] {
  if (!Object.hasOwn(oldNames, command)) return [command, ...rest];
  const [now = "", added] = (oldNames[command] ?? "").split(" ");
  if (added === undefined) return [now, ...rest];
  return added.startsWith("--") ? [now, added, ...rest] : [now, ...rest, added];
}

function reordered(args: readonly string[], { commands, valued, kindOf }: Surroundings): string[] {
  const [first] = args;
  if (first === undefined) return ["run"];
  if (commands.includes(first)) return [...args];

  const at = args.findIndex((arg) => flagCommands.some((flag) => arg === flag || arg.startsWith(`${flag}=`)));
  if (at >= 0) {
    const [flag = "", ...inline] = args[at]?.split("=") ?? [];
    const before = args.slice(0, at);
    const after = args.slice(at + 1);
    const command = flag.slice(2);
    if (inline.length > 0)
      return [command, ...(inline.join("=") === "" ? [] : [inline.join("=")]), ...before, ...after];
    return [command, ...after, ...before];
  }

  if (first === "-h" || first === "--help") return ["--help"];
  const { words, options } = apart(args, valued);
  const [word, second, ...rest] = words;
  if (word === undefined) return ["run", ...args];
  if (commands.includes(word)) return [word, ...words.slice(1), ...options];
  const kind = kindOf(word);
  // ralph.sh <folder> <iterations>
  if (kind === "project" && second !== undefined && /^\d+$/.test(second))
    return ["run", word, "-i", second, ...rest, ...options];
  if (kind === "project") return ["run", ...words, ...options];
  return kind === "documents" || isQuestion(words, commands) ? ["begin", ...words, ...options] : [...args];
}

/** A sentence in quotes, or as many words of which none looks like a command. */
const isQuestion = (words: readonly string[], commands: readonly string[]): boolean =>
  (words[0] ?? "").trim().split(/\s+/).length >= leastWords ||
  (words.length >= leastWords && words.every((word) => nearestCandidate(word, commands) === undefined));

/** Words that stand for themselves, and options with their values. */
function apart(args: readonly string[], valued: ReadonlySet<string>): { words: string[]; options: string[] } {
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
