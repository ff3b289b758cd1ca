import { existsSync } from "node:fs";
import type { ConfigFlags } from "../../compose/config.js";
import type { Io } from "../../engine/ui/io.js";
import { rrdFile } from "../../research/project-files/layout.js";
import { listResearches } from "../../research/overview/find-research.js";
import { choose } from "../run/ask-person.js";

interface FirstStepArguments {
  readonly flags: ConfigFlags;
  readonly quiet: boolean;
  readonly json: boolean;
}

/** If there is no project yet, asks the user how to start and does it; otherwise undefined. */
export async function firstStepsCommand(args: FirstStepArguments, io: Io): Promise<number | undefined> {
  if (existsSync(rrdFile(io.cwd)) || (await listResearches(io.cwd)).length > 0) return undefined;
  const choice = await choose(io, "There is no project here yet. What do you want to do?", [
    { value: "new", label: "create a project from a topic" },
    { value: "demo", label: "run the demo: a complete project on sample papers, without key or network" },
    { value: "doctor", label: "check whether everything is installed" },
  ]);
  if (choice === "demo") return (await import("./demo.js")).demoCommand(args, io);
  if (choice === "doctor") return (await import("./doctor.js")).doctorCommand(args, io);
  // Without an agent no project is made of a topic, so that is said before the topic is asked for.
  const { withAgent } = await import("../run/begin.js");
  const { agent } = (await withAgent(args.flags, io)).config;
  const { newCommand } = await import("../run/new.js");
  return newCommand({ ...args, flags: { ...args.flags, agent }, ask: false }, io);
}
