import { Command, InvalidArgumentError, Option } from "commander";
import { printThrough } from "../engine/ui/command-line.js";
import type { Io } from "../engine/ui/io.js";

/** The command line of `ralph`. An option is absent if the user does not give it. */
interface CommandLine {
  /** The words that are not options: a message, or a command. */
  readonly words: readonly string[];
  readonly options: {
    readonly model?: string;
    readonly apiUrl?: string;
    readonly json?: true;
    readonly debug?: true;
    readonly continue?: true;
    readonly yes?: true;
    readonly trust?: true;
    readonly settings?: true;
    readonly headless?: true;
    /** For --headless: the user's folder, and what a brief may read, change, fetch and call. */
    readonly folder?: string;
    readonly read?: true;
    readonly work?: true;
    readonly web?: true;
    readonly toolbox?: readonly string[];
    readonly toolSocket?: string;
  };
}

const usage = `[options] [message]

       ralph memory <command>
       ralph sessions [name]
       ralph tools [--json]`;

const description = `Answers one message on stdout; without a message, begins a dialogue at the terminal.
Piped text is added to the message: git diff | ralph "review this".
Memories that fit the message are added to it; \`ralph memory help\` lists the commands.`;

const keysHelp = `
Keys: OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_API_KEY, or
~/.local/ralph/config.json. A local server needs none.`;

/**
 * Reads the arguments of `ralph`. Words are not treated as commands here, because a message may begin with any word.
 * Throws commander's error for wrong usage, and after it has printed help or version.
 */
export function commandLineOf(args: readonly string[], io: Io, version: string): CommandLine {
  const hiddenOption = (flags: string) => new Option(flags).hideHelp();
  const program = new Command("ralph")
    .usage(usage)
    .description(description)
    .argument("[message...]")
    .option("-m, --model <name>", "model to ask, instead of the configured one", requireValue)
    .option("--api-url <url>", "address of its API, in full", requireValue)
    .option("--json", "print the answer as JSON; with --settings, tools or sessions: print these as JSON")
    .option("--debug", "print every request on stderr, without keys")
    .option("-c, --continue", "go on with the last dialogue of this folder, or with its last single message")
    .option("-y, --yes", "let tools write files and run commands without asking")
    .option(
      "--trust",
      "trust the programs that this folder's ralph.config.* starts, and the addresses that get your texts",
    )
    .option("--settings", "print the model, its address and the source of the key, without a request to the model")
    .option("--headless", "answer the text on stdin with lines of JSON, for research-ralph")
    .addOption(hiddenOption("--folder <path>"))
    .addOption(hiddenOption("--read"))
    .addOption(hiddenOption("--work"))
    .addOption(hiddenOption("--web"))
    .addOption(hiddenOption("--toolbox <flag>").argParser((flag, flags: string[] = []) => [...flags, flag]))
    .addOption(hiddenOption("--tool-socket <path>"))
    .version(version, "-v, --version", "print the version")
    .helpOption("-h, --help", "print this")
    .addHelpText("after", keysHelp);
  printThrough(io, program).parse(args, { from: "user" });
  return { words: program.args, options: program.opts() };
}

/** Refuses a value that begins with a dash: if the value is missing, commander takes the next flag for it. */
function requireValue(value: string): string {
  if (value.startsWith("-")) throw new InvalidArgumentError("It must not begin with a dash.");
  return value;
}

/** Joins "unknown option '--modle'" and "(Did you mean --model?)" into one sentence that says what to do. */
export function usageSentence(message: string, hint: string): string {
  const nearest = /--[\w-]+/.exec(hint)?.[0];
  const advice = nearest === undefined ? "`ralph --help` lists the options" : `the nearest one is ${nearest}`;
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}; ${advice}.`;
}
