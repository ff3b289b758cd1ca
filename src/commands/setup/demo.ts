import { type ConfigFlags, resolveConfig } from "../../compose/config.js";
import { say } from "../../engine/ui/terminal/format.js";
import { readResearch } from "../../research/project-files/research.js";
import type { Io } from "../../engine/ui/io.js";
import { displayPath } from "../../research/overview/find-research.js";
import { create } from "../run/new.js";
import { work } from "../run/run.js";
import { exitCodeOf } from "../../engine/loop/exit-codes.js";

const topic = "How well does training in simulation prepare robot hands for real work?";
const name = "Sample: sim2real transfer, dexterous manipulation";
const keywords = ["sim2real transfer", "dexterous manipulation"];
/** The sample collection has twelve documents, but two of them are copies of one paper. */
const paperCount = 11;

/**
 * Runs a complete project on the sample papers of the package. By default it uses the baseline agent, which needs
 * neither a key nor a network.
 */
export async function demoCommand(
  { flags, quiet, json }: { readonly flags: ConfigFlags; readonly quiet: boolean; readonly json: boolean },
  io: Io,
): Promise<number> {
  // The demo must not add commits to the repository in which it is tried.
  const config = await resolveConfig(io, { agent: "baseline", git: false, ...flags, papers: paperCount });
  if (!quiet && !json)
    say(
      io,
      "This demo reads eleven sample papers written for it, one of them in two copies; their numbers are invented.",
    );
  const { verdict, folder } = await create(topic, { sources: ["samples"], name, keywords }, config, io, {
    quiet,
    json,
  });
  if (folder === undefined) return exitCodeOf(verdict);
  const { rrd } = await readResearch(folder);
  if (!quiet && !json) say(io, `The project is ${displayPath(io.cwd, folder)}`);
  return work(folder, rrd, config, io, { quiet, json });
}
