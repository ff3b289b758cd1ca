import { Command, Help } from "commander";
import type { Io } from "../../engine/ui/io.js";
import { addAnswerCommands } from "./answer.js";
import { commandAdder, type CommandLine } from "./command.js";
import { addDecideCommands } from "./decide.js";
import { epilogue, basicCommands, furtherHelp, usage } from "../help-text.js";
import { addLookCommands } from "./look.js";
import { addOtherWorkCommands } from "./other-work.js";
import { addSetUpCommands } from "./set-up.js";
import { everyRunHeading } from "./shared-options.js";
import { addStartCommands } from "./start.js";
import { addSteerCommands } from "./steer.js";

/** The headings of the help, with the functions that add the commands below them. */
const commandGroups = [
  ["Start:", addStartCommands],
  ["Look:", addLookCommands],
  ["Decide:", addDecideCommands],
  ["Steer:", addSteerCommands],
  ["Answer:", addAnswerCommands],
  ["Other work:", addOtherWorkCommands],
  ["Set up:", addSetUpCommands],
] as const;

/**
 * Builds the command line. Each command's code is imported when the command is called, because loading all of it takes
 * over a second. `all`: the help lists every command.
 */
export function buildProgram(
  io: Io,
  version: string,
  { setExitCode, run, all = false }: Pick<CommandLine, "setExitCode" | "run"> & { readonly all?: boolean },
): Command {
  const program = new Command("research-ralph");
  const help = new Help();
  program
    .description(
      "Autonomous literature research in a loop: files are the memory, git is the history, any agent CLI is the brain.",
    )
    .version(version, "-v, --version", "print the version")
    .usage(usage)
    .configureHelp({
      // So that summaries are wrapped between words even on 60 columns.
      minWidthToWrap: 20,
      // Every command has options, so "[options]" only takes room from the summaries.
      subcommandTerm: (command) => shortenTerm(`${command.name()} ${command.usage().replace("[options]", "").trim()}`),
      visibleCommands: (command) =>
        help
          .visibleCommands(command)
          .filter((candidate) => (all ? candidate.name() !== "begin" : basicCommands.has(candidate.name()))),
      // The options of every run are shown only in the help of `run`, although many commands accept them.
      groupItems: (unsortedItems, visibleItems, groupOf) => {
        const runOptions: ReadonlySet<unknown> = new Set(
          program.commands.find((candidate) => candidate.name() === "run")?.options,
        );
        const items = help.groupItems(unsortedItems, visibleItems, groupOf);
        if (items.get(everyRunHeading)?.some((item) => runOptions.has(item)) === false) items.delete(everyRunHeading);
        return items;
      },
    })
    .addHelpText("after", all ? epilogue : furtherHelp)
    .enablePositionalOptions()
    .commandsGroup("Set up:")
    .helpCommand("help [command]", "show help for a command; help all: every command");
  const commandLine = { program, add: commandAdder(program, setExitCode), io, version, setExitCode, run };
  for (const [heading, addTo] of commandGroups) {
    program.commandsGroup(heading);
    addTo(commandLine);
  }
  for (const command of program.commands)
    if (
      command.name() !== "run" &&
      command.options.some(({ helpGroupHeading }) => helpGroupHeading === everyRunHeading)
    )
      command.addHelpText("after", "\nOptions of every run, such as --agent and --sandbox: research-ralph help run");
  return program;
}

/** Maximum length of a command with its arguments in the list, so that the summaries have room. */
const maxTermChars = 28;
const shortenTerm = (term: string): string =>
  term.length <= maxTermChars ? term : `${term.slice(0, term.lastIndexOf(" ", maxTermChars - 2))} …`;
