import { Option } from "commander";
import { summaries } from "../help-text.js";
import type { CommandLine, CommonOptions } from "./command.js";
import { commonOf, parseNumber, joinValue, trustOption } from "./shared-options.js";

/** Adds the commands that set up a folder, a machine and a fleet. */
export function addSetUpCommands({ program, add, io, setExitCode }: CommandLine): void {
  add("init", "", async ({ json, yes, task: isTask }: { yes: boolean; task: boolean } & CommonOptions) =>
    isTask
      ? (await import("../task/init-task.js")).initTask(io, json)
      : (await import("../setup/init.js")).initCommand({ json, yes }, io),
  )
    .option("-y, --yes", "ask nothing")
    .option("--task", "write a ralph.json instead: a task with acceptance criteria");

  add("doctor", "", async ({ probe, flags, json }: { probe?: string | true } & CommonOptions) =>
    (await import("../setup/doctor.js")).doctorCommand(
      { probe: probe !== undefined, flags: typeof probe === "string" ? { ...flags, agent: probe } : flags, json },
      io,
    ),
  )
    .option("--agent <name>", "agent to check, as for run (default: the configured one)")
    .option(
      "--probe [agent]",
      "send one word to this agent, else to that of --agent, and check the answer; costs a call",
    )
    .option("--model <name>", "model for the probe")
    .option("--redis <address>", "Redis server of agents on other machines to check")
    .option("--insecure-redis", "allow Redis on another machine without TLS")
    .option("--unconfined", "allow a probe of an agent that nothing confines")
    .option(...trustOption);

  type ConfigOptions = { global: boolean; unset: boolean };
  add("config", "[key[=value]]", async ({ json, global, unset }: ConfigOptions & CommonOptions, assignment) =>
    (await import("../setup/config.js")).configCommand({ assignment, global, unset, json }, io),
  )
    .option("--global", "write your settings for all projects, ~/.local/ralph/config.json")
    .option("--unset", "remove the setting");

  type TrustOptions = { yes: boolean; list: boolean; revoke: boolean; edits: boolean; reject: boolean };
  add("trust", "[folder]", async ({ edits, reject, json, ...others }: TrustOptions & CommonOptions, folder) =>
    edits || reject
      ? (await import("../setup/approve.js")).approveCommand({ folder, reject, json }, io)
      : (await import("../setup/trust.js")).trustCommand({ folder, ...others, json }, io),
  )
    .option("-y, --yes", "ask nothing: agree to what is shown")
    .option("--list", "show what is trusted, in every folder")
    .option("--revoke", "take the folder's trust back")
    .option("--edits", "let briefs of a project use edits made while an unconfined agent ran")
    .addOption(new Option("--reject", "take such edits back instead").conflicts(["yes", "list", "revoke"]));

  type WorkerOptions = CommonOptions & {
    list: boolean;
    key: boolean;
    concurrency?: number;
    limit?: string;
    atMost?: string;
  };
  add("worker", "", async (options: WorkerOptions) => {
    const { list, key, concurrency, limit, atMost } = options;
    if (list || key) return (await import("../fleet/fleet.js")).fleetCommand(options, io);
    const { workerCommand } = await import("../fleet/worker.js");
    return workerCommand({ concurrency, limit, atMost, ...commonOf(options) }, io);
  })
    .option("--list", "show workers, their agents and capacity, and the waiting jobs")
    .option("--key", "print the public key of your runs, which workers on other machines accept with --accept")
    .option("--concurrency <N>", "agents at work at the same time (default: 1)", parseNumber)
    .option("--limit <N/time>", "rate at which all workers of this agent start jobs, such as 60/min; none: no limit")
    .option("--at-most <N>", "agents at the same time on all workers of this agent; none: no limit")
    .option("--accept <key>", "key of runs to work for, as `worker --key` prints it there; again for more", joinValue)
    .option("--agent <name>", "agent that this machine runs, a name as for run, without fleet:")
    .option("--model <name>", "model of the agent")
    .option(
      "--sandbox <kind>",
      "where agents run: auto, host, bubblewrap or docker (default: agents without confinement of their own in a sandbox)",
    )
    .option("--env <name>", "environment variable that programs in a sandbox are given; again for more", joinValue)
    .option("--unconfined", "allow an agent that nothing confines (amp, command agents) on the host")
    .option(
      "--redis <address>",
      "Redis server: rediss://queue.lab:6379; with a password better in RESEARCH_RALPH_REDIS",
    )
    .option("--insecure-redis", "allow Redis on another machine without TLS")
    .option("--iteration-minutes <N>", "maximum wall time of one iteration (default: 60)", parseNumber)
    .option("--idle-minutes <N>", "kill an agent after N minutes without output; 0: never (default: 15)", parseNumber)
    .option(...trustOption)
    .option("-q, --quiet", "print only warnings");

  program
    .command("completion <shell>")
    .description(summaries.completion)
    .action(async (shell: string) => {
      const { completionScript } = await import("../setup/completion.js");
      io.stdout(completionScript(program, shell));
      setExitCode(0);
    });
}
