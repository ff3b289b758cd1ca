import { Command, InvalidArgumentError, Option } from "commander";
import type { ConfigFlags } from "../engine/config/resolve.js";
import type { ResetUnit } from "../research/folder/reset/reset-targets.js";
import type { Io } from "../engine/ui/io.js";
import { type CommandName, epilogue, summaries } from "./help-text.js";

type Values = Record<string, unknown>;

/**
 * The command line as commander knows it. Every command is imported when it is called: loading all of them would
 * cost over a second at each start. `done` is told the exit code of the command that ran.
 */
export function buildProgram(io: Io, version: string, done: (exitCode: number) => void): Command {
  const program = new Command("research-ralph");
  program
    .description(
      "Autonomous literature research in a loop: files are the memory, git is the history, any agent CLI is the brain.",
    )
    .version(version, "-v, --version", "print the version")
    .usage("[command] [options]")
    .addHelpText("after", epilogue)
    .enablePositionalOptions()
    .helpCommand("help [command]", "show help for a command");

  const add = (
    name: CommandName,
    args: string,
    action: (values: Values, ...args: string[]) => Promise<number>,
  ): Command => {
    const command = program.command(`${name} ${args}`.trim()).description(summaries[name]);
    return command
      .allowExcessArguments(false)
      .option("--json", "print JSON")
      .action(async (...given: unknown[]) => {
        const words = given.slice(0, command.registeredArguments.length) as string[];
        done(await action(command.opts(), ...words));
      });
  };

  const run = add("run", "[folder]", async (values, folder) => {
    const { runCommand } = await import("./run/run.js");
    return runCommand(
      {
        folder,
        ...running(values),
        ask: values["ask"] === true,
        force: values["force"] === true,
        classic: values["classic"] === true,
      },
      io,
    );
  })
    .option("-p, --papers <N>", "how many papers the research should hold", number)
    .option("-i, --iterations <N>", "most iterations of this run (default: papers + 6)", number)
    .option("--max-minutes <N>", "most wall time of this run", number)
    .option("--max-usd <N>", "most US dollars of this run", number)
    .option("--max-tokens <N>", "most tokens of this run, in and out", number)
    .option("--jobs <N>", "papers read at the same time (default: 1)", number)
    .option("--ask", "ask the open questions before the start")
    .option("--force", "let -p change the target of a research that has begun; go on where runs ended as stuck")
    .option("--classic", "let the agent work on the research folder itself, as the original did");
  withAgent(run);

  const create = add("new", "<topic>", async (values, topic) => {
    const { newCommand } = await import("./run/new.js");
    return newCommand({ topic: topic ?? "", ...running(values), ask: values["ask"] === true }, io);
  })
    .alias("create")
    .option("-p, --papers <N>", "how many papers the research should hold", number)
    .option("--ask", "ask what the topic leaves open");
  withAgent(create);

  const read = add("read", "<reference>", async (values, reference) => {
    const { readCommand } = await import("./run/read.js");
    return readCommand({ reference: reference ?? "", ...running(values) }, io);
  });
  withAgent(read);

  add("search", "<query>", async (values, query) => {
    const { searchCommand } = await import("./search/search.js");
    const { source, from, until, limit, json, bibtex } = values as {
      source?: string;
      from?: string;
      until?: string;
      limit: number;
    } & Values;
    return searchCommand(
      {
        query: query ?? "",
        source,
        from,
        until,
        limit,
        output: json === true ? "json" : bibtex === true ? "bibtex" : "text",
      },
      io,
    );
  })
    .option("--source <names>", "only these, with commas between them: arxiv,openalex (default: all that can be asked)")
    .option("--from <date>", "published then or later: 2024, 2024-06 or 2024-06-30")
    .option("--until <date>", "published then or earlier")
    .option("--limit <N>", "most papers shown", whole, 20)
    .option("--bibtex", "print BibTeX");

  add("list", "", async ({ json }) => (await import("./inspect/list.js")).listCommand({ json: json === true }, io));
  add("status", "[folder]", async ({ json, papers }, folder) =>
    (await import("./inspect/status.js")).statusCommand({ folder, json: json === true, papers: papers === true }, io),
  ).option("--papers", "list all papers with their ids, not only the first 20");
  add("cost", "[folder]", async ({ json }, folder) =>
    (await import("./inspect/cost.js")).costCommand({ folder, json: json === true }, io),
  );

  add("replay", "<folder>", async ({ json }, folder) =>
    (await import("./inspect/replay.js")).replayCommand({ folder, json: json === true }, io),
  );

  add("watch", "[folder]", async ({ json }, folder) =>
    (await import("./inspect/watch.js")).watchCommand({ folder, json: json === true }, io),
  );
  add("steer", "<folder> [text]", async ({ clear, json }, folder, text) =>
    (await import("./steer/steer.js")).steerCommand(
      { folder: folder ?? "", text, clear: clear === true, json: json === true },
      io,
    ),
  ).option("--clear", "take back what was said before");
  add("pause", "<folder>", async ({ json }, folder) =>
    (await import("./steer/pause.js")).pauseCommand({ folder: folder ?? "", json: json === true }, io),
  );
  add("stop", "<folder>", async ({ json }, folder) =>
    (await import("./steer/pause.js")).stopCommand({ folder: folder ?? "", json: json === true }, io),
  );
  add("resume", "<folder>", async ({ json }, folder) =>
    (await import("./steer/pause.js")).resumeCommand({ folder: folder ?? "", json: json === true }, io),
  );

  add("reset", "<folder>", async (values, folder) => {
    const { resetCommand } = await import("./steer/reset.js");
    const { paper, unit, to, json } = values as { paper?: string; unit?: ResetUnit; to?: number; json?: boolean };
    return resetCommand({ folder: folder ?? "", paper, unit, to, flags: flagsOf(values), json: json === true }, io);
  })
    .option("--paper <id>", "only this paper")
    .addOption(
      new Option("--unit <name>", "only the search, the report or the ideas")
        .choices(["discovery", "report", "ideas"])
        .conflicts(["paper", "to"]),
    )
    .option("--to <iteration>", "undo everything after this iteration", whole)
    .option("--no-git", "make no commit")
    .option("-y, --yes", "accepted for scripts of the original; nothing is asked");

  add("validate", "<folder>", async ({ json }, folder) =>
    (await import("./inspect/validate.js")).validateCommand({ folder, json: json === true }, io),
  );
  add("brief", "[folder]", async (values, folder) =>
    (await import("./inspect/brief.js")).briefCommand(
      { folder, flags: flagsOf(values), json: values["json"] === true },
      io,
    ),
  ).option("--agent <name>", "as for run: some agents are given tools, which their briefs speak of");
  add("patterns", "[folder]", async (values, folder) => {
    const { patternsCommand } = await import("./inspect/patterns.js");
    const { accept, json } = values as { accept?: number; json?: boolean };
    return patternsCommand({ folder, accept, json: json === true }, io);
  }).option("--accept <N>", "move pattern N into AGENTS.md", whole);

  add("config", "[key[=value]]", async ({ json }, assignment) =>
    (await import("./setup/config.js")).configCommand({ assignment, json: json === true }, io),
  );
  add("init", "", async ({ json }) => (await import("./init.js")).initCommand({ json: json === true }, io)).option(
    "-y, --yes",
    "accepted for scripts of the original; nothing is asked",
  );
  add("doctor", "", async (values) => {
    const { doctorCommand } = await import("./setup/doctor.js");
    const { probe, json } = values as { probe?: string; json?: boolean };
    return doctorCommand({ probe, flags: flagsOf(values), json: json === true }, io);
  })
    .option("--probe <agent>", "run one word through this agent")
    .option("--model <name>", "model to probe it with")
    .option("--unconfined", "allow the probe of an agent that nothing confines");

  const tool = program
    .command("tool [name]")
    .description(summaries.tool)
    .allowExcessArguments(false)
    .helpOption(false)
    .option("--json [arguments]", "the tool's arguments as a JSON object; prints JSON")
    .option("--research <folder>", "whose papers (default: the only research there is)")
    .option("--paper <id>", "the paper meant where the arguments name none")
    .option("-h, --help", "display help for command; with a name, what that tool takes")
    .action(async (name: string | undefined, values: Values) => {
      if (values["help"] === true && name === undefined) return tool.outputHelp();
      done(await (await import("./search/tool.js")).toolCommand({ ...values, name }, io));
    });
  program
    .command("mcp")
    .description(summaries.mcp)
    .allowExcessArguments(false)
    .option("--research <folder>", "whose papers (default: the only research there is)")
    .option("--paper <id>", "the only paper to be read")
    .option("--tools <names>", "only these, separated by commas")
    .action(async (values: Values) => {
      done(await (await import("./search/mcp.js")).mcpCommand({ ...values, version }, io));
    });

  const demo = add("demo", "", async (values) => {
    const { demoCommand } = await import("./demo.js");
    return demoCommand(running(values), io);
  });
  withAgent(demo);
  return program;
}

/** The options of every command that starts an agent, behind its own. */
const withAgent = (command: Command): Command =>
  command
    .option(
      "--agent <name>",
      "claude, codex, amp, baseline, 'cmd:<command>' or a name from the config; claude,codex falls back",
    )
    .option("--model <name>", "model of the agent")
    .option("--unconfined", "allow an agent that nothing confines (amp, command agents)")
    .option("--iteration-minutes <N>", "most wall time of one iteration (default: 60)", number)
    .option(
      "--idle-minutes <N>",
      "silence after which an agent is taken for hung; 0 turns it off (default: 15)",
      number,
    )
    .option("--patience <N>", "minutes to wait for a service that does not answer (default: 120)", number)
    .option("--no-git", "make no commits")
    .option("--quiet", "print warnings and results only");

const running = (values: Values) => ({
  flags: flagsOf(values),
  quiet: values["quiet"] === true,
  json: values["json"] === true,
});

function number(value: string): number {
  const parsed = Number(value);
  if (value.trim() === "" || !Number.isFinite(parsed)) throw new InvalidArgumentError("It must be a number.");
  return parsed;
}

function whole(value: string): number {
  if (!/^\d+$/.test(value)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(value);
}

function flagsOf(values: Values): ConfigFlags {
  const {
    agent,
    model,
    papers,
    iterations,
    jobs,
    maxMinutes,
    maxUsd,
    maxTokens,
    iterationMinutes,
    idleMinutes,
    patience,
    unconfined,
    git,
  } = values;
  const flags = {
    agent,
    model,
    papers,
    iterations,
    max_minutes: maxMinutes,
    max_usd: maxUsd,
    max_tokens: maxTokens,
    jobs,
    iteration_minutes: iterationMinutes,
    idle_minutes: idleMinutes,
    patience_minutes: patience,
    unconfined,
    // Commander sets `git` to true where --no-git is known and was not given; that must not beat the config.
    git: git === false ? false : undefined,
  };
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined));
}
