import { Option } from "commander";
import { ExpectedError } from "../../engine/lib/errors.js";
import type { CommandLine, CommonOptions } from "./command.js";
import { screenKeys } from "../help-text.js";
import { columnOption, trustOption } from "./shared-options.js";

/** Adds the commands by which a user decides on papers and records. */
export function addDecideCommands({ add, io }: CommandLine): void {
  type AddOptions = CommonOptions & { column?: string[] };
  add("add", "<folder> <references...>", async ({ json, flags, column = [] }: AddOptions, folder, references) =>
    (await import("../steer/add.js")).addCommand({ folder, references, columns: column, flags, json }, io),
  )
    .option(...columnOption)
    .option(...trustOption)
    .option("--no-git", "do not commit");

  type ScreenOptions = { all: boolean; conflicts: boolean; unclear: boolean };
  add("screen", "[folder]", async ({ all, conflicts, unclear, json, flags }: ScreenOptions & CommonOptions, folder) => {
    const { screenCommand } = await import("../steer/screen.js");
    const which = all ? "all" : conflicts ? "conflicts" : unclear ? "unclear" : "waiting";
    return screenCommand({ folder, which, flags, json }, io);
  })
    .option("--all", "every record that was screened or read, also those that are decided")
    .addOption(new Option("--conflicts", "only those on which two readers disagree").conflicts(["all", "unclear"]))
    .addOption(new Option("--unclear", "only those with a criterion that is unclear").conflicts("all"))
    .option("--no-git", "do not commit")
    .addHelpText("after", `\n${screenKeys}`);

  type DecideOptions = CommonOptions & { criterion?: string };
  add("decide", "<words...>", async ({ criterion, json, flags }: DecideOptions, words) =>
    (await import("../steer/decide.js")).decideCommand({ words, criterion, flags, json }, io),
  )
    .usage('[options] [folder] <papers...> include|exclude|not-retrieved "<why>" | <decisions.csv>')
    .option("--criterion <id>", "with 'exclude': the criterion that excludes it; the reason may then be left out")
    .option("--no-git", "do not commit");

  type SettleOptions = CommonOptions & { value?: string; quote?: string };
  add(
    "settle",
    "<folder> <paper> <field> <which> [why]",
    async (options: SettleOptions, folder, paper, field, take, why) => {
      const { value, quote, json, flags } = options;
      const { settleCommand } = await import("../steer/settle.js");
      return settleCommand({ folder, paper, field, take, why, value, quote, flags, json }, io);
    },
  )
    .option("--value <value>", "with 'own': your own value; of a list, ; parts the items")
    .option("--quote <words>", "the paper's words that show it; without them it is marked so")
    .option("--no-git", "do not commit");

  type DuplicatesOptions = CommonOptions & { all: boolean };
  const showDuplicates = async ({ all, json }: DuplicatesOptions, folder: string | undefined) =>
    (await import("../inspect/duplicates.js")).duplicatesCommand({ folder, all, json }, io);
  const allOption = ["--all", "list every duplicate, not only the first 20"] as const;
  type JoinOptions = DuplicatesOptions & { part: boolean };
  add("join", "[folder] [paper] [other]", async (options: JoinOptions, folder, paper, other) => {
    const { json, flags, part } = options;
    if (paper === undefined && !part) return showDuplicates(options, folder);
    const { joinCommand, partCommand } = await import("../steer/same-work.js");
    if (folder !== undefined && paper !== undefined) {
      if (part && other === undefined) return partCommand({ folder, paper, flags, json }, io);
      if (!part && other !== undefined) return joinCommand({ folder, papers: [paper, other], flags, json }, io);
    }
    throw new ExpectedError(
      "Name a project and two papers to join, or one with --part to make it a work of its own again.",
      2,
    );
  })
    .option(...allOption)
    .option("--part", "make a duplicate a work of its own again")
    .option("--no-git", "do not commit");
}
