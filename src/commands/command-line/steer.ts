import { Option } from "commander";
import type { CommandLine, CommonOptions } from "./command.js";
import { parseWholeNumber } from "./shared-options.js";

/** Adds the commands that steer a run, stop it and undo results. */
export function addSteerCommands({ add, io }: CommandLine): void {
  add("steer", "[folder] [text]", async ({ clear, json }: { clear: boolean } & CommonOptions, folder, text) =>
    (await import("../steer/steer.js")).steerCommand({ folder, text, clear, json }, io),
  ).option("--clear", "remove earlier instructions");

  add("stop", "[folder]", async ({ pause, undo, json }: { pause: boolean; undo: boolean } & CommonOptions, folder) => {
    const { pauseCommand, resumeCommand, stopCommand } = await import("../steer/steer.js");
    return (undo ? resumeCommand : pause ? pauseCommand : stopCommand)({ folder, json }, io);
  })
    .option("--pause", "end it with the verdict blocked, exit code 5")
    .addOption(new Option("--undo", "allow what was stopped or paused to run again").conflicts("pause"));

  type ResetOptions = { paper?: string; unit?: string; criteria?: boolean; to?: number; undo: boolean };
  add("reset", "<folder>", async (options: ResetOptions & CommonOptions, folder) => {
    const { resetCommand } = await import("../steer/reset.js");
    const { paper, unit, criteria, to, undo, flags, json } = options;
    return resetCommand({ folder, paper, unit, criteria, to, undo, flags, json }, io);
  })
    .option("--paper <paper>", "reset only this paper: its key, its id or words of its title")
    .addOption(
      new Option("--unit <kind>", "reset only units of this kind, such as discovery, report, ideas or check").conflicts(
        [...["paper", "to", "undo"]],
      ),
    )
    .addOption(
      new Option("--criteria", "reset only what other criteria than the present ones have decided").conflicts([
        ...["paper", "unit", "to", "undo"],
      ]),
    )
    .addOption(
      new Option("--to <iteration>", "undo everything after this iteration, later resets too")
        .argParser(parseWholeNumber)
        .conflicts(["paper", "unit", "undo"]),
    )
    .addOption(
      new Option("--undo", "take the last reset back, and what was done since; a second one resets again").conflicts(
        "paper",
      ),
    )
    .option("--no-git", "do not commit")
    .option("-y, --yes", "has no effect; scripts of the original use it");
}
