import { Command, Help } from "commander";
import type { Io } from "../../engine/ui/io.js";
import { addAnswer } from "./answer.js";
import { adding, type CommandLine } from "./command.js";
import { addDecide } from "./decide.js";
import { epilogue, firstWeek, further, usage } from "../help-text.js";
import { addLook } from "./look.js";
import { addOtherWork } from "./other-work.js";
import { addSetUp } from "./set-up.js";
import { everyRun } from "./shared-options.js";
import { addStart } from "./start.js";
import { addSteer } from "./steer.js";

/** The commands of the help, by what a person wants. */
const groups = [
  ["Start:", addStart],
  ["Look:", addLook],
  ["Decide:", addDecide],
  ["Steer:", addSteer],
  ["Answer:", addAnswer],
  ["Other work:", addOtherWork],
  ["Set up:", addSetUp],
] as const;

/**
 * The command line as commander knows it. Every command is imported when it is called: loading all of them would
 * cost over a second at each start.
 */
export function buildProgram(
  io: Io,
  version: string,
  {
    done,
    run,
    all = false,
  }: Pick<CommandLine, "done" | "run"> & { /** The help lists every command. */ readonly all?: boolean },
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
      // On 60 columns the summaries are wrapped between words, too.
      minWidthToWrap: 20,
      // Every command has options; naming them leaves the summaries no room.
      subcommandTerm: (command) => shortened(`${command.name()} ${command.usage().replace("[options]", "").trim()}`),
      visibleCommands: (command) =>
        help.visibleCommands(command).filter((each) => (all ? each.name() !== "begin" : firstWeek.has(each.name()))),
      // They are the same wherever an agent works, and told once; a slip in one is known at every command.
      groupItems: (unsorted, visible, groupOf) => {
        const told: ReadonlySet<unknown> = new Set(program.commands.find((each) => each.name() === "run")?.options);
        const items = help.groupItems(unsorted, visible, groupOf);
        if (items.get(everyRun)?.some((item) => told.has(item)) === false) items.delete(everyRun);
        return items;
      },
    })
    .addHelpText("after", all ? epilogue : further)
    .enablePositionalOptions()
    .commandsGroup("Set up:")
    .helpCommand("help [command]", "show help for a command; help all: every command");
  const line = { program, add: adding(program, done), io, version, done, run };
  for (const [heading, addTo] of groups) {
    program.commandsGroup(heading);
    addTo(line);
  }
  for (const command of program.commands)
    if (command.name() !== "run" && command.options.some(({ helpGroupHeading }) => helpGroupHeading === everyRun))
      command.addHelpText("after", "\nOptions of every run, such as --agent and --sandbox: research-ralph help run");
  return program;
}

/** Most characters of a command with its arguments in the list; a longer one leaves the summaries no room. */
const maxTerm = 28;
const shortened = (term: string): string =>
  term.length <= maxTerm ? term : `${term.slice(0, term.lastIndexOf(" ", maxTerm - 2))} …`;
