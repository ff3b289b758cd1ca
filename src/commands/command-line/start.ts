import type { CommandLine, CommonOptions } from "./command.js";
import {
  withRunOptions,
  withTopicOptions,
  withLimitOptions,
  projectOptionsOf,
  commonOf,
  parseNumber,
  appendValue,
  appendNames,
  abstractsOption,
  branchOption,
  columnOption,
  secondReaderOption,
  type TopicOptions,
} from "./shared-options.js";

/** Adds the commands that begin work and continue it. */
export function addStartCommands({ add, io }: CommandLine): void {
  type RunOptions = {
    source?: string[];
    column?: string[];
    branch?: string | true;
    ask: boolean;
    force: boolean;
    abstracts: boolean;
    classic: boolean;
  };
  const run = add("run", "[folder]", async (options: RunOptions & CommonOptions, folder) => {
    if (folder === undefined && io.canAsk && !options.json) {
      const { firstStepsCommand } = await import("../setup/first-steps.js");
      const exitCode = await firstStepsCommand(commonOf(options), io);
      if (exitCode !== undefined) return exitCode;
    }
    const { source: sources, column: columns, branch, ask, force, abstracts, classic } = options;
    const { runCommand } = await import("../run/run.js");
    return runCommand({ folder, ...commonOf(options), ask, force, abstracts, classic, sources, columns, branch }, io);
  })
    .option("-p, --papers <N>", "number of papers in the pool", parseNumber)
    .option("-i, --iterations <N>", "maximum iterations of this run (default: 1.5 × papers + 6)", parseNumber)
    .option("--max-minutes <N>", "maximum wall time of this run, in minutes", parseNumber)
    .option("--max-usd <N>", "maximum cost of this run, in US dollars", parseNumber)
    .option("--max-tokens <N>", "maximum tokens of this run, in and out", parseNumber)
    .option("--jobs <N>", "number of papers to read at the same time (default: 1)", parseNumber)
    .option(
      "--source <names>",
      "search these sources from now on, such as arxiv,embase.ris; your own files stay",
      appendNames,
    )
    .option(...columnOption)
    .option("--screeners <agents>", "two agents screen the same records, each alone: claude,codex")
    .option("--screening-conflicts <rule>", "where they disagree: include, third or person (default: include)")
    .option(...secondReaderOption)
    .option(...branchOption)
    .option("--ask", "ask the project's open questions first")
    .option("--force", "allow -p on a project already started; continue after the verdict stuck")
    .option(...abstractsOption)
    .option("--classic", "let the agent edit the project folder itself, as in the original");
  withRunOptions(run);

  type NewOptions = TopicOptions & { ask: boolean };
  const create = add("new", "[topic]", async (options: NewOptions & CommonOptions, topic) => {
    const { newCommand } = await import("../run/new.js");
    return newCommand({ ...projectOptionsOf(options), topic, ...commonOf(options), ask: options.ask }, io);
  })
    .alias("create")
    .option("--ask", "have the agent say what the topic leaves open, and answer it");
  withRunOptions(withTopicOptions(create));

  type BeginOptions = TopicOptions & { quick: boolean; yes: boolean; force: boolean; abstracts: boolean };
  const begin = add("begin", "<words...>", async (options: BeginOptions & CommonOptions, words) => {
    const { beginCommand } = await import("../run/begin.js");
    const { quick, yes, force, abstracts } = options;
    return beginCommand(
      { ...projectOptionsOf(options), words, ...commonOf(options), quick, yes, force, abstracts },
      io,
    );
  })
    .usage('[options]\n       research-ralph "a question" | papers/ | export.ris')
    .option("--quick", "a first report soon: eight papers, three at a time, no product ideas")
    .option("-y, --yes", "agree to what it says it will do, and begin")
    .option("--force", "continue after the verdict stuck")
    .option(...abstractsOption)
    .option("-i, --iterations <N>", "maximum iterations of this run", parseNumber)
    .option("--jobs <N>", "number of papers to read at the same time (default: 1)", parseNumber);
  withRunOptions(withLimitOptions(withTopicOptions(begin)));

  type ReadOptions = { rubric?: string };
  const read = add("read", "<reference>", async (options: ReadOptions & CommonOptions, reference) => {
    const { readCommand } = await import("../run/read.js");
    return readCommand({ reference, rubric: options.rubric, ...commonOf(options) }, io);
  }).option("--rubric <which>", "points for the paper: original, none, or a rubric in YAML (default: none)");
  withRunOptions(read);

  type UpdateOptions = { since?: string; dryRun: boolean; yes: boolean; abstracts: boolean };
  const update = add("update", "[folders...]", async (options: UpdateOptions & CommonOptions, folders) => {
    const { updateCommand } = await import("../run/update.js");
    const { since, dryRun, yes, abstracts } = options;
    return updateCommand({ folders, since, dryRun, yes, abstracts, ...commonOf(options) }, io);
  })
    .option("--since <date>", "first day of publication to ask for (default: 30 days before the last search)")
    .option("-y, --yes", "on a terminal: ask nothing, begin at once")
    .option(...abstractsOption)
    .option("--dry-run", "print what is new and a forecast; start no agent, and write only caches")
    .option("-i, --iterations <N>", "maximum iterations, of all projects together", parseNumber)
    .option("--max-minutes <N>", "maximum wall time of all projects together, in minutes", parseNumber)
    .option("--max-usd <N>", "maximum cost of all projects together, in US dollars", parseNumber)
    .option("--max-tokens <N>", "maximum tokens of all projects together, in and out", parseNumber)
    .option("--jobs <N>", "number of papers to read at the same time (default: 1)", parseNumber);
  withRunOptions(update);

  type OfExtract = { field?: string[]; remove?: string[]; yes: boolean };
  const extract = add("extract", "[folder]", async (options: OfExtract & CommonOptions, folder) => {
    const { extractCommand } = await import("../steer/extract.js");
    const { field: fields = [], remove: without = [], yes } = options;
    return extractCommand({ folder, fields, without, yes, ...commonOf(options) }, io);
  })
    .option("--field <what>", "add this field, or change the one of its name, as in new; again for more", appendValue)
    .option("--remove <field>", "take this field out of the form; again for more", appendValue)
    .option(...secondReaderOption)
    .option("-y, --yes", "agree to the cost that is named, and begin")
    .option("-i, --iterations <N>", "maximum iterations of this run", parseNumber)
    .option("--jobs <N>", "number of papers to read at the same time (default: 1)", parseNumber);
  withRunOptions(withLimitOptions(extract));

  const demo = add("demo", "", async (options) =>
    (await import("../setup/demo.js")).demoCommand(commonOf(options), io),
  );
  withRunOptions(demo);
}
