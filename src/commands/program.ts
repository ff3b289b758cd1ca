import { Command, InvalidArgumentError, Option } from "commander";
import type { ConfigFlags } from "../compose/config.js";
import { given } from "../engine/lib/given.js";
import type { Io } from "../engine/ui/io.js";
import type { CodeArguments } from "./code/code.js";
import { type CommandName, epilogue, summaries } from "./help-text.js";
import type { Wishes } from "./run/new.js";
import type { SearchArguments } from "./search/search.js";
import type { TaskArguments } from "./task/task.js";

/** What `export` can write. */
const exportFormats = ["ris", "bibtex", "csl", "csv", "prisma"] as const;
/** Which records `export` writes: those of a decision, of a stage, or of a status of the pool. */
const onlyRecords = [
  ...(["included", "excluded", "open"] as const),
  ...(["full_text", "screening", "not_screened", "duplicate", "retracted", "window", "notice"] as const),
  ...(["presented", "insights_extracted", "rejected", "waiting", "pending", "not_retrieved"] as const),
];

/** What every command is given beside the options of its own: false where it has no such option. */
interface Common {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  /** The options that are settings, by their names in the configuration. */
  readonly flags: ConfigFlags;
}

/** What a command's action is given for `<folder> [what] [words...]`. */
type Words<Args extends string> = Args extends `${infer First} ${infer Rest}`
  ? [Word<First>, ...Words<Rest>]
  : Args extends ""
    ? []
    : [Word<Args>];
type Word<Arg extends string> = Arg extends `${string}...${string}`
  ? string[]
  : Arg extends `<${string}`
    ? string
    : string | undefined;

/**
 * The command line as commander knows it. Every command is imported when it is called: loading all of them would
 * cost over a second at each start. `done` is told the exit code of the command that ran; `run` runs another command
 * line.
 */
export function buildProgram(
  io: Io,
  version: string,
  done: (exitCode: number) => void,
  run: (args: readonly string[], io: Io) => Promise<number>,
): Command {
  const program = new Command("research-ralph");
  program
    .description(
      "Autonomous literature research in a loop: files are the memory, git is the history, any agent CLI is the brain.",
    )
    .version(version, "-v, --version", "print the version")
    .usage("[command] [options]")
    // Every command has options; naming them leaves the summaries no room.
    .configureHelp({
      subcommandTerm: (command) => shortened(`${command.name()} ${command.usage().replace("[options]", "").trim()}`),
    })
    .addHelpText("after", epilogue)
    .enablePositionalOptions()
    .helpCommand("help [command]", "show help for a command");

  /** `Own`: options of the command by commander's names. A switch that was not given is false, any other absent. */
  const add = <Args extends string, Own>(
    name: CommandName,
    args: Args,
    action: (options: Own & Common, ...words: Words<Args>) => Promise<number>,
  ): Command => {
    const command = program.command(`${name} ${args}`.trim()).description(summaries[name]);
    return command
      .allowExcessArguments(false)
      .option("--json", "print JSON")
      .action(async (...given: unknown[]) => {
        const words = given.slice(0, command.registeredArguments.length) as Words<Args>;
        done(await action(optionsOf(command) as Own & Common, ...words));
      });
  };

  type OfRun = {
    source?: string[];
    column?: string[];
    branch?: string | true;
    ask: boolean;
    force: boolean;
    classic: boolean;
  };
  const runs = add("run", "[folder]", async (options: OfRun & Common, folder) => {
    if (folder === undefined && io.canAsk && !options.json) {
      const { firstStepsCommand } = await import("./setup/first-steps.js");
      const begun = await firstStepsCommand(howOf(options), io);
      if (begun !== undefined) return begun;
    }
    const { source: sources, column: columns, branch, ask, force, classic } = options;
    const { runCommand } = await import("./run/run.js");
    return runCommand({ folder, ...howOf(options), ask, force, classic, ...given({ sources, columns, branch }) }, io);
  })
    .option("-p, --papers <N>", "number of papers in the pool", number)
    .option("-i, --iterations <N>", "maximum iterations of this run (default: papers + 6)", number)
    .option("--max-minutes <N>", "maximum wall time of this run, in minutes", number)
    .option("--max-usd <N>", "maximum cost of this run, in US dollars", number)
    .option("--max-tokens <N>", "maximum tokens of this run, in and out", number)
    .option("--jobs <N>", "number of papers to read at the same time (default: 1)", number)
    .option("--source <names>", "search these sources from now on: arxiv,folder:papers,embase.ris,…", listed)
    .option(...columnOption)
    .option("--screeners <agents>", "two agents screen the same records, each alone: claude,codex")
    .option("--screening-conflicts <rule>", "where they disagree: include, third or person (default: include)")
    .option(...secondReaderOption)
    .option(...branchOption)
    .option("--ask", "ask the project's open questions first")
    .option("--force", "allow -p on a project already started; continue after the verdict stuck")
    .option("--classic", "let the agent edit the project folder itself, as in the original");
  withAgent(runs);

  type OfNew = OfWishes & { ask: boolean };
  const create = add("new", "[topic]", async (options: OfNew & Common, topic) => {
    const { newCommand } = await import("./run/new.js");
    return newCommand({ ...wishesOf(options), ...given({ topic }), ...howOf(options), ask: options.ask }, io);
  })
    .alias("create")
    .option("--ask", "have the agent say what the topic leaves open, and answer it");
  withAgent(withWishes(create));

  type OfBegin = OfWishes & { quick: boolean; yes: boolean };
  const begin = add("begin", "<words...>", async (options: OfBegin & Common, words) => {
    const { beginCommand } = await import("./run/begin.js");
    const { quick, yes } = options;
    return beginCommand({ ...wishesOf(options), words, ...howOf(options), quick, yes }, io);
  })
    .usage('[options]\n       research-ralph "a question" | papers/ | export.ris')
    .option("--quick", "a first report soon: eight papers, three at a time, no product ideas")
    .option("-y, --yes", "agree to what it says it will do, and begin")
    .option("-i, --iterations <N>", "maximum iterations of this run", number)
    .option("--jobs <N>", "number of papers to read at the same time (default: 1)", number);
  withAgent(withLimits(withWishes(begin)));

  type OfUpdate = { since?: string; dryRun: boolean };
  const update = add("update", "<folders...>", async (options: OfUpdate & Common, folders) => {
    const { updateCommand } = await import("./run/update.js");
    const { since, dryRun } = options;
    return updateCommand({ folders, ...given({ since }), dryRun, ...howOf(options) }, io);
  })
    .option("--since <date>", "first day of publication to ask for (default: 30 days before the last search)")
    .option("--dry-run", "print what is new and a forecast; start no agent, and write only caches")
    .option("-i, --iterations <N>", "maximum iterations, of all projects together", number)
    .option("--max-minutes <N>", "maximum wall time of all projects together, in minutes", number)
    .option("--max-usd <N>", "maximum cost of all projects together, in US dollars", number)
    .option("--max-tokens <N>", "maximum tokens of all projects together, in and out", number)
    .option("--jobs <N>", "number of papers to read at the same time (default: 1)", number);
  withAgent(update);

  type OfExtract = { field?: string[]; remove?: string[]; yes: boolean };
  const extract = add("extract", "[folder]", async (options: OfExtract & Common, folder) => {
    const { extractCommand } = await import("./steer/extract.js");
    const { field: fields = [], remove: without = [], yes } = options;
    return extractCommand({ folder, fields, without, yes, ...howOf(options) }, io);
  })
    .option("--field <what>", "add this field, or change the one of its name, as in new; again for more", several)
    .option("--remove <field>", "take this field out of the form; again for more", several)
    .option(...secondReaderOption)
    .option("-y, --yes", "agree to the cost that is named, and begin")
    .option("-i, --iterations <N>", "maximum iterations of this run", number)
    .option("--jobs <N>", "number of papers to read at the same time (default: 1)", number);
  withAgent(withLimits(extract));

  type OfAdd = Common & { column?: string[] };
  add("add", "<folder> <references...>", async ({ json, flags, column = [] }: OfAdd, folder, references) =>
    (await import("./steer/add.js")).addCommand({ folder, references, columns: column, flags, json }, io),
  )
    .option(...columnOption)
    .option(...trustOption)
    .option("--no-git", "do not commit");

  const read = add("read", "<reference>", async (options, reference) => {
    const { readCommand } = await import("./run/read.js");
    return readCommand({ reference, ...howOf(options) }, io);
  });
  withAgent(read);

  type OfSearch = Omit<SearchArguments, "query" | "output" | "columns"> & { bibtex: boolean; column?: string[] };
  add("search", "<query>", async ({ json, bibtex, column: columns, ...options }: OfSearch & Common, query) => {
    const { searchCommand } = await import("./search/search.js");
    return searchCommand(
      { query, ...options, ...given({ columns }), output: json ? "json" : bibtex ? "bibtex" : "text" },
      io,
    );
  })
    .option("--source <names>", "sources to search, separated by commas: arxiv,openalex (default: all available)")
    .option(...columnOption)
    .option("--from <date>", "earliest date of publication: 2024, 2024-06 or 2024-06-30")
    .option("--until <date>", "latest date of publication")
    .option("--limit <N>", "maximum number of papers", whole, 20)
    .option("--bibtex", "print BibTeX")
    .option(...trustOption)
    .option("--explain", "explain the order of the papers, and why records were merged or kept apart");

  type OfAsk = { again: boolean; check: boolean; fetch: boolean };
  const ask = add("ask", "[words...]", async (options: OfAsk & Common, words) => {
    const { askCommand } = await import("./search/ask.js");
    const { again, check, fetch } = options;
    return askCommand({ words, again, check, fetch, ...howOf(options) }, io);
  })
    .option("--again", "ask again the questions whose answers are out of date")
    .option(
      "--check",
      "have an agent judge whether the answer's sentences follow from their quotes; with an id such as answer-3 in the place of the question, those of that answer",
    )
    .option("--fetch", "fetch the papers whose text is not stored")
    .option("--max-usd <N>", "maximum cost, in US dollars", number)
    .option("--max-tokens <N>", "maximum tokens, in and out", number);
  withAgent(ask);
  add("answers", "[folder]", async ({ json }, folder) =>
    (await import("./search/answers.js")).answersCommand({ folder, json }, io),
  );

  add("list", "", async ({ json }) => (await import("./inspect/list.js")).listCommand({ json }, io));
  add("status", "[folder]", async ({ json, papers }: { papers: boolean } & Common, folder) =>
    (await import("./inspect/status.js")).statusCommand({ folder, json, papers }, io),
  ).option("--papers", "list all papers with their ids, not only the first 20");
  add("show", "[folder] [what]", async ({ json }, folder, what) =>
    (await import("./inspect/show.js")).showCommand({ folder, target: what, json }, io),
  );
  add("cost", "[folder]", async ({ json }, folder) =>
    (await import("./inspect/cost.js")).costCommand({ folder, json }, io),
  );

  add("replay", "[folder]", async ({ json }, folder) =>
    (await import("./inspect/replay.js")).replayCommand({ folder, json }, io),
  );

  add("watch", "[folder]", async ({ json }, folder) =>
    (await import("./inspect/watch.js")).watchCommand({ folder, json }, io),
  );
  add("web", "[folder]", async ({ json, port = 0 }: { port?: number } & Common, folder) =>
    (await import("./inspect/web.js")).webCommand({ folder, port, json }, io),
  ).option("--port <N>", "port of 127.0.0.1 (default: any that is free)", whole);
  add("steer", "[folder] [text]", async ({ clear, json }: { clear: boolean } & Common, folder, text) =>
    (await import("./steer/steer.js")).steerCommand({ folder, text, clear, json }, io),
  ).option("--clear", "remove earlier instructions");
  add("decide", "<folder> <papers...>", async ({ json, flags }, folder, words) =>
    (await import("./steer/decide.js")).decideCommand({ folder, words, flags, json }, io),
  )
    .usage('[options] <folder> <papers...> <decision> "<why>" | <decisions.csv>')
    .option("--no-git", "do not commit");
  add("settle", "<folder> <paper> <field> <which> [why]", async ({ json, flags }, folder, paper, field, take, why) =>
    (await import("./steer/settle.js")).settleCommand({ folder, paper, field, take, why, flags, json }, io),
  ).option("--no-git", "do not commit");
  type OfScreen = { all: boolean; conflicts: boolean; unclear: boolean };
  add("screen", "[folder]", async ({ all, conflicts, unclear, json, flags }: OfScreen & Common, folder) => {
    const { screenCommand } = await import("./steer/screen.js");
    const which = all ? "all" : conflicts ? "conflicts" : unclear ? "unclear" : "waiting";
    return screenCommand({ folder, which, flags, json }, io);
  })
    .option("--all", "every record, also those that are decided")
    .addOption(new Option("--conflicts", "only those on which two readers disagree").conflicts(["all", "unclear"]))
    .addOption(new Option("--unclear", "only those with a criterion that is unclear").conflicts("all"))
    .option("--no-git", "do not commit");
  add("join", "<folder> <paper> <other>", async ({ json, flags }, folder, paper, other) =>
    (await import("./steer/same-work.js")).joinCommand({ folder, papers: [paper, other], flags, json }, io),
  ).option("--no-git", "do not commit");
  add("part", "<folder> <paper>", async ({ json, flags }, folder, paper) =>
    (await import("./steer/same-work.js")).partCommand({ folder, paper, flags, json }, io),
  ).option("--no-git", "do not commit");
  add("duplicates", "[folder]", async ({ all, json }: { all: boolean } & Common, folder) =>
    (await import("./inspect/duplicates.js")).duplicatesCommand({ folder, all, json }, io),
  ).option("--all", "list every duplicate, not only the first 20");
  add("pause", "[folder]", async ({ json }, folder) =>
    (await import("./steer/pause.js")).pauseCommand({ folder, json }, io),
  );
  add("stop", "[folder]", async ({ json }, folder) =>
    (await import("./steer/pause.js")).stopCommand({ folder, json }, io),
  );
  add("resume", "[folder]", async ({ json }, folder) =>
    (await import("./steer/pause.js")).resumeCommand({ folder, json }, io),
  );

  add("approve", "<folder>", async ({ reject, json }: { reject: boolean } & Common, folder) =>
    (await import("./steer/approve.js")).approveCommand({ folder, reject, json }, io),
  ).option("--reject", "take the edits back instead");

  type OfReset = { paper?: string; unit?: string; to?: number; undo: boolean };
  add("reset", "<folder>", async (options: OfReset & Common, folder) => {
    const { resetCommand } = await import("./steer/reset.js");
    const { paper, unit, to, undo, flags, json } = options;
    return resetCommand({ folder, paper, unit, to, undo, flags, json }, io);
  })
    .option("--paper <paper>", "reset only this paper: its key, its id or words of its title")
    .addOption(
      new Option("--unit <kind>", "reset only units of this kind, such as discovery, report, ideas or check").conflicts(
        [...["paper", "to", "undo"]],
      ),
    )
    .addOption(
      new Option("--to <iteration>", "undo everything after this iteration, later resets too")
        .argParser(whole)
        .conflicts(["paper", "unit", "undo"]),
    )
    .addOption(new Option("--undo", "take the last reset back, and what was done since").conflicts("paper"))
    .option("--no-git", "do not commit")
    .option("-y, --yes", "has no effect; scripts of the original use it");

  add("validate", "[folder]", async ({ json }, folder) =>
    (await import("./inspect/validate.js")).validateCommand({ folder, json }, io),
  );
  type OfVerify = { fetch: boolean; meaning: boolean } & Common;
  const verify = add("verify", "[folder]", async ({ fetch, meaning, ...how }: OfVerify, folder) => {
    if (meaning) return (await import("./run/check-meaning.js")).checkMeaningCommand({ folder, ...howOf(how) }, io);
    return (await import("./inspect/verify.js")).verifyCommand({ folder, fetch, json: how.json }, io);
  })
    .option("--fetch", "fetch the papers whose text is not stored")
    .option("--meaning", "have an agent judge whether the report's sentences follow from their quotes")
    .option("--max-usd <N>", "with --meaning: maximum cost, in US dollars", number)
    .option("--max-tokens <N>", "with --meaning: maximum tokens, in and out", number);
  withAgent(verify);
  type OfExport = { as?: (typeof exportFormats)[number]; to?: string; only?: (typeof onlyRecords)[number] };
  add("export", "[folder]", async ({ as, to, only, json }: OfExport & Common, folder) =>
    (await import("./inspect/export.js")).exportCommand({ folder, as, to, only, json }, io),
  )
    .addOption(
      new Option("--as <format>", "RIS, BibTeX, CSL-JSON, a spreadsheet, or the PRISMA flow for R").choices(
        exportFormats,
      ),
    )
    .option("--to <path>", "write this file instead of stdout")
    .addOption(new Option("--only <which>", "only the records of this decision, stage or status").choices(onlyRecords));
  add("report", "[folder]", async ({ check, flags, json }: { check: boolean } & Common, folder) =>
    (await import("./inspect/report.js")).reportCommand({ folder, check, flags, json }, io),
  )
    .option("--check", "write nothing; list sentences whose numbers or sources no quote supports (exit 1)")
    .option("--no-git", "do not commit");
  add("brief", "[folder]", async ({ flags, json }, folder) =>
    (await import("./inspect/brief.js")).briefCommand({ folder, flags, json }, io),
  ).option("--agent <name>", "the agent that would read it: briefs for agents with tools differ");
  add("patterns", "[folder]", async ({ accept, json }: { accept?: number } & Common, folder) =>
    (await import("./inspect/patterns.js")).patternsCommand({ folder, accept, json }, io),
  ).option("--accept <N>", "move pattern N into AGENTS.md", whole);

  type OfConfig = { global: boolean; unset: boolean };
  add("config", "[key[=value]]", async ({ json, global, unset }: OfConfig & Common, assignment) =>
    (await import("./setup/config.js")).configCommand({ assignment, global, unset, json }, io),
  )
    .option("--global", "write your settings for all projects, ~/.local/ralph/config.yaml")
    .option("--unset", "remove the setting");
  type OfTrust = { yes: boolean; list: boolean; revoke: boolean };
  add("trust", "[folder]", async ({ yes, list, revoke, json }: OfTrust & Common, folder) =>
    (await import("./setup/trust.js")).trustCommand({ folder, yes, list, revoke, json }, io),
  )
    .option("-y, --yes", "ask nothing: agree to what is shown")
    .option("--list", "show what is trusted, in every folder")
    .option("--revoke", "take the folder's trust back");
  program
    .command("completion <shell>")
    .description(summaries.completion)
    .action(async (shell: string) => {
      const { completionScript } = await import("./setup/completion.js");
      io.stdout(completionScript(program, shell));
      done(0);
    });
  add("init", "", async ({ json, yes, task: isTask }: { yes: boolean; task: boolean } & Common) =>
    isTask
      ? (await import("./task/init-task.js")).initTask(io, json)
      : (await import("./setup/init.js")).initCommand({ json, yes }, io),
  )
    .option("-y, --yes", "ask nothing")
    .option("--task", "write a ralph.json instead: a task with acceptance criteria");
  add("fleet", "", async ({ flags, json, key }: { key: boolean } & Common) =>
    (await import("./fleet/fleet.js")).fleetCommand({ flags, json, key }, io),
  )
    .option("--key", "print the public key of your runs, which workers on other machines accept with --accept")
    .option("--redis <address>", "Redis server: rediss://user@queue.lab:6379")
    .option("--insecure-redis", "allow Redis on another machine without TLS");
  type OfWorker = { concurrency?: number; limit?: string; atMost?: string };
  add("worker", "", async (options: OfWorker & Common) => {
    const { workerCommand } = await import("./fleet/worker.js");
    const { concurrency, limit, atMost } = options;
    return workerCommand({ ...given({ concurrency, limit, atMost }), ...howOf(options) }, io);
  })
    .option("--concurrency <N>", "agents at work at the same time (default: 1)", number)
    .option("--limit <N/time>", "rate at which all workers of this agent start jobs, such as 60/min; none: no limit")
    .option("--at-most <N>", "agents at the same time on all workers of this agent; none: no limit")
    .option("--accept <key>", "key of runs to work for, as `fleet --key` prints it there; again for more", joined)
    .option("--agent <name>", "agent that this machine runs, a name as for run, without fleet:")
    .option("--model <name>", "model of the agent")
    .option(
      "--sandbox <kind>",
      "where agents run: auto, host, bubblewrap or docker (default: agents without confinement of their own in a sandbox)",
    )
    .option("--env <name>", "environment variable that programs in a sandbox are given; again for more", joined)
    .option("--unconfined", "allow an agent that nothing confines (amp, command agents) on the host")
    .option(
      "--redis <address>",
      "Redis server: rediss://queue.lab:6379; with a password better in RESEARCH_RALPH_REDIS",
    )
    .option("--insecure-redis", "allow Redis on another machine without TLS")
    .option("--iteration-minutes <N>", "maximum wall time of one iteration (default: 60)", number)
    .option("--idle-minutes <N>", "kill an agent after N minutes without output; 0: never (default: 15)", number)
    .option(...trustOption)
    .option("--quiet", "print only warnings");
  add("doctor", "", async ({ probe, flags, json }: { probe?: string } & Common) =>
    (await import("./setup/doctor.js")).doctorCommand({ probe, flags, json }, io),
  )
    .option("--probe <agent>", "send one word to this agent and check the answer")
    .option("--model <name>", "model for the probe")
    .option("--redis <address>", "Redis server of agents on other machines to check")
    .option("--insecure-redis", "allow Redis on another machine without TLS")
    .option("--unconfined", "allow a probe of an agent that nothing confines")
    .option(...trustOption);

  const tool = program
    .command("tool [name]")
    .description(summaries.tool)
    .allowExcessArguments(false)
    .helpOption(false)
    .option("--json [arguments]", "the tool's arguments as a JSON object; prints JSON")
    .option("--research <folder>", `${projectOfTools}; again for more, with find_passages`, several)
    .option("--paper <id>", "default paper if the arguments name none")
    .option("-h, --help", "display help for command; with a name, the arguments of that tool")
    .action(async (name: string | undefined, values: { help?: boolean }) => {
      if (values["help"] === true && name === undefined) return tool.outputHelp();
      done(await (await import("./search/tool.js")).toolCommand({ ...values, name }, io));
    });
  program
    .command("mcp")
    .description(summaries.mcp)
    .allowExcessArguments(false)
    .option(
      "--research <folder>",
      "only read the papers of this project; again for more (default: all of the folder)",
      several,
    )
    .option("--paper <id>", "allow only this paper")
    .option("--tools <names>", "tools to serve, separated by commas (default: all)")
    .option("--write", "serve what changes projects and starts agents, too: start, run, ask, add, steer, stop, resume")
    .action(async (values: object) => {
      done(await (await import("./search/mcp.js")).mcpCommand({ ...values, version }, io, run));
    });

  type OfTask = Pick<TaskArguments, "goal" | "testCommand" | "undo" | "branch" | "target"> &
    Pick<TaskArguments, "tests" | "save" | "dryRun" | "worktree" | "force" | "team" | "keepTests"> & {
      check?: string[];
    };
  const task = add("task", "[task]", async ({ check: checks, ...options }: OfTask & Common, named) => {
    const { taskCommand } = await import("./task/task.js");
    return taskCommand({ task: named, ...options, ...given({ checks }) }, io);
  });
  ofTask(task)
    .option("--team", "roles share each attempt: librarian, artisan, critic, adversary")
    .option("--save", "write the task to ./ralph.json")
    .option("-i, --iterations <N>", "maximum iterations of this run", number);
  withAgent(withLimits(task));

  type OfCode = Omit<CodeArguments, keyof Common | "text" | "flags" | "checks"> & { check?: string[] };
  const code = add("code", "[text] [more...]", async ({ check: checks, ...options }: OfCode & Common, text, more) => {
    if (text === "memory") return (await import("./code/memory.js")).memoryCommand(more, io, options.json);
    const { codeCommand } = await import("./code/code.js");
    const words = text === undefined ? undefined : [text, ...more].join(" ");
    return codeCommand({ text: words, ...options, ...given({ checks }) }, io);
  });
  ofTask(code)
    .option("--rounds <N>", "maximum rounds: librarian, artisan, critic, tests, adversary (default: 10)", whole)
    .option("--graph", "only show the files that the librarian would be shown, with their tokens; starts no agent")
    .option("-i, --iterations <N>", "maximum runs of agents in this run", number);
  withAgent(withLimits(code));

  const demo = add("demo", "", async (options) => (await import("./setup/demo.js")).demoCommand(howOf(options), io));
  withAgent(demo);
  return program;
}

/** Most characters of a command with its arguments in the list; a longer one leaves the summaries no room. */
const maxTerm = 28;
const shortened = (term: string): string =>
  term.length <= maxTerm ? term : `${term.slice(0, term.lastIndexOf(" ", maxTerm - 2))} …`;

/** What `task` and `code` both take. */
const ofTask = (command: Command): Command =>
  command
    .option("--goal <file>", "read the task, in words, from this file")
    .option("--check <command>", "a command that must succeed; again for more", several)
    .option("--tests", "the project's tests must pass")
    .option("--test-command <command>", "the command that runs them")
    .option("--target <file>", "the file that it is about: a team begins to look there")
    .option("--keep-tests", "keep the tests of a team's adversary in the project")
    .option("--dry-run", "only check the criteria: exit code 0 or 1")
    .option("--undo <N>", "put the files back to how they were after iteration N; 0: before the first", whole)
    .option("--branch [name]", "work on a new branch")
    .option("--worktree", "work in a new worktree on a new branch; your files stay as they are")
    .option("--force", "continue after the verdict stuck");

/** Options that say what a new project is about. */
type OfWishes = Omit<Wishes, "sources" | "columns" | "keywords" | "criteria" | "fields" | "seeds" | "ideas"> & {
  source?: string[];
  column?: string[];
  keyword?: string[];
  criterion?: string[];
  field?: string[];
  seed?: string[];
};

function wishesOf(options: OfWishes): Wishes {
  const { source: sources, column: columns, keyword: keywords, criterion: criteria, seed: seeds } = options;
  const { field: fields, from, until, name, recall, confidence, rubric, branch } = options;
  return given({
    ...{ sources, columns, keywords, criteria, fields, seeds },
    ...{ from, until, name, recall, confidence, rubric, branch },
  });
}

const withWishes = (command: Command): Command =>
  command
    .option("-p, --papers <N>", "number of papers in the pool", number)
    .option(
      "--source <names>",
      "where to search: arxiv,folder:papers,Embase=embase.ris,… (default: arXiv, OpenAlex, Semantic Scholar, web)",
      listed,
    )
    .option(...columnOption)
    .option("--name <words>", "name of the project and its folder (default: the agent's or the topic's words)")
    .option("--keyword <words>", "search for these words too; again for more", listed)
    .option("--criterion <rule>", "eligibility criterion, 'include: …' or 'exclude: …'; again for more", several)
    .option(
      "--rubric <which>",
      "points for papers: original, none, or a rubric in YAML (default: none where there are criteria)",
    )
    .option(
      "--field <what>",
      "extract this from each paper, 'sample size: how many, per arm', or a form in YAML; again for more",
      several,
    )
    .option(
      "--seed <paper>",
      "paper that surely belongs: DOI, arXiv id, PDF, or a list of works; again for more",
      several,
    )
    .option("--from <date>", "earliest date of publication: 2024, 2024-06 or 2024-06-30")
    .option("--until <date>", "latest date of publication")
    .option("--recall <share>", "screen until this share of the relevant records is found: 0.95", share)
    .option("--confidence <share>", "how sure --recall has to be, at least 0.5 (default: 0.95)", share)
    .option(...branchOption);

/** What one run may take. */
const withLimits = (command: Command): Command =>
  command
    .option("--max-minutes <N>", "maximum wall time of this run, in minutes", number)
    .option("--max-usd <N>", "maximum cost of this run, in US dollars", number)
    .option("--max-tokens <N>", "maximum tokens of this run, in and out", number);

const branchOption = [
  "--branch [name]",
  "commit to this branch, which is not checked out for it (default: research/<name of the project>)",
] as const;

/** With every command that reads tables. Headers may hold commas. */
const columnOption = [
  "--column <field=header>",
  "what a column of a CSV file holds: title=Name, year=When; again for more",
  several,
] as const;

const secondReaderOption = ["--second-reader <agent>", "an agent that fills in the form too, alone: codex"] as const;

const trustOption = ["--trust", "trust what settings of this folder start and open, as they stand"] as const;

/** The options of every command that starts an agent, behind its own. */
const withAgent = (command: Command): Command =>
  command
    .option(
      "--agent <name>",
      "claude, codex, amp, ralph, baseline, acp:<name>, 'cmd:<command>' or a name from the configuration; 'claude,codex': codex is the fallback; fleet:claude: claude on other machines",
    )
    .option("--model <name>", "model of the agent")
    .option(
      "--sandbox <kind>",
      "where agents run: auto, host, bubblewrap or docker (default: agents without confinement of their own in a sandbox)",
    )
    .option("--env <name>", "environment variable that programs in a sandbox are given; again for more", joined)
    .option("--unconfined", "allow an agent that nothing confines (amp, command agents) on the host")
    .option("--redis <address>", "Redis server of agents on other machines (fleet:claude): rediss://queue.lab:6379")
    .option("--insecure-redis", "allow Redis on another machine without TLS")
    .option("--iteration-minutes <N>", "maximum wall time of one iteration (default: 60)", number)
    .option("--idle-minutes <N>", "kill an agent after N minutes without output; 0: never (default: 15)", number)
    .option("--patience <N>", "minutes to wait for a service that does not answer (default: 120)", number)
    .option(...trustOption)
    .option("--no-git", "do not commit")
    .option("--quiet", "print only warnings and results")
    .option("--verbose", "show each summary of the history in full");

const howOf = ({ flags, quiet, verbose, json }: Common): Common => ({ flags, quiet, verbose, json });

function number(value: string): number {
  const parsed = Number(value);
  if (value.trim() === "" || !Number.isFinite(parsed)) throw new InvalidArgumentError("It must be a number.");
  return parsed;
}

/** Above 0 and at most 1, or as a percentage. */
function share(value: string): number {
  const parsed = value.trim().endsWith("%") ? number(value.trim().slice(0, -1)) / 100 : number(value);
  if (parsed <= 0 || parsed > 1) throw new InvalidArgumentError("It must be a share, such as 0.95 or 95%.");
  return parsed;
}

/** Each whole, commas and all; the option may be given again. */
function several(value: string, before: string[] = []): string[] {
  return [...before, value];
}

/** As one text with commas; the option may be given again. */
const joined = (value: string, before?: string): string => (before === undefined ? value : `${before},${value}`);

/** Names with commas between them; the option may be given again. */
const listed = (value: string, before: string[] = []): string[] => [...before, ...value.split(",")];

const projectOfTools = "project whose papers the tools read (default: the only project)";

function whole(value: string): number {
  if (!/^\d+$/.test(value)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(value);
}

/** The settings that an option gives, by commander's names. */
const settings: Readonly<Record<string, keyof ConfigFlags>> = {
  agent: "agent",
  model: "model",
  papers: "papers",
  iterations: "iterations",
  jobs: "jobs",
  maxMinutes: "max_minutes",
  maxUsd: "max_usd",
  maxTokens: "max_tokens",
  iterationMinutes: "iteration_minutes",
  idleMinutes: "idle_minutes",
  patience: "patience_minutes",
  screeners: "screeners",
  screeningConflicts: "screening_conflicts",
  secondReader: "second_reader",
  unconfined: "unconfined",
  sandbox: "sandbox",
  env: "sandbox_env",
  redis: "redis",
  insecureRedis: "insecure_redis",
  accept: "worker_accepts",
  git: "git",
  trust: "trust",
};

/** What was given of the command's options: its switches are false where they were not. */
function optionsOf(command: Command): Record<string, unknown> & Common {
  const options = command.opts();
  const flags: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    const setting = settings[name];
    // The `true` that commander gives `git` where --no-git was not typed must not beat the configuration.
    if (setting !== undefined && command.getOptionValueSource(name) !== "default") flags[setting] = value;
  }
  const switches = command.options.filter((option) => option.isBoolean()).map((option) => option.attributeName());
  const off = Object.fromEntries(switches.map((name) => [name, false]));
  return { json: false, quiet: false, verbose: false, ...off, ...options, flags };
}
