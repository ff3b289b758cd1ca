import { ExpectedError } from "../../engine/lib/errors.js";
import type { SearchArguments } from "../search/search.js";
import { summaries } from "../help-text.js";
import type { CommandLine, CommonOptions } from "./command.js";
import {
  withRunOptions,
  commonOf,
  parseNumber,
  parseWholeNumber,
  appendValue,
  columnOption,
  trustOption,
} from "./shared-options.js";

/** Adds the commands that answer questions, and the command that serves tools to agents. */
export function addAnswerCommands({ program, add, io, version, setExitCode, run }: CommandLine): void {
  type AskOptions = { again: boolean; check: boolean; fetch: boolean; list: boolean };
  const ask = add("ask", "[words...]", async (options: AskOptions & CommonOptions, words) => {
    const { again, check, fetch, list } = options;
    if (list)
      return (await import("../search/answers.js")).answersCommand({ folder: words[0], json: options.json }, io);
    const { askCommand } = await import("../search/ask.js");
    return askCommand({ words, again, check, fetch, ...commonOf(options) }, io);
  })
    .usage('[options] [projects...] "<question>"')
    .option("--list", "list a project's questions and answers, and which are out of date")
    .option("--again", "ask again the questions whose answers are out of date")
    .option(
      "--check",
      "have an agent judge whether the answer's sentences follow from their quotes; with an id such as answer-3 in the place of the question, those of that answer",
    )
    .option("--fetch", "fetch the papers whose text is not stored")
    .option("--max-usd <N>", "maximum cost, in US dollars", parseNumber)
    .option("--max-tokens <N>", "maximum tokens, in and out", parseNumber);
  withRunOptions(ask);

  type SearchOptions = Omit<SearchArguments, "query" | "output" | "columns"> & { bibtex: boolean; column?: string[] };
  add(
    "search",
    "<query>",
    async ({ json, bibtex, column: columns, ...options }: SearchOptions & CommonOptions, query) => {
      const { searchCommand } = await import("../search/search.js");
      return searchCommand({ query, ...options, columns, output: json ? "json" : bibtex ? "bibtex" : "text" }, io);
    },
  )
    .option(
      "--source <names>",
      "sources to search, separated by commas: arxiv,openalex, or one of a plugin, which doctor names (default: all available)",
    )
    .option(...columnOption)
    .option("--from <date>", "earliest date of publication: 2024, 2024-06 or 2024-06-30")
    .option("--until <date>", "latest date of publication")
    .option("--limit <N>", "maximum number of papers", parseWholeNumber, 20)
    .option("--bibtex", "print BibTeX")
    .option(...trustOption)
    .option("--explain", "explain the order of the papers, and why records were merged or kept apart");

  type ToolOptions = { json?: string | true; help?: boolean; research?: string[]; paper?: string };
  const callTool = async (name: string | undefined, values: ToolOptions) =>
    (await import("../search/tool.js")).toolCommand({ ...values, name }, io);

  type McpOptions = ToolOptions & { list?: boolean; tools?: string; write?: boolean };
  const mcp = program
    .command("mcp [tool]")
    .description(summaries.mcp)
    .allowExcessArguments(false)
    .helpOption(false)
    .option(
      "--research <folder>",
      "only read the papers of this project; again for more (default: all of the folder; of one tool: the only project)",
      appendValue,
    )
    .option("--paper <id>", "allow only this paper; of one tool: the paper if its arguments name none")
    .option("--tools <names>", "tools to serve, separated by commas (default: all)")
    .option("--write", "serve what changes projects and starts agents, too: start, run, ask, add, steer, stop, resume")
    .option("--list", "list the tools that agents have, and serve none")
    .option("--json [arguments]", "the tool's arguments as a JSON object; prints JSON")
    .option("-h, --help", "display help for command; with a tool, its arguments")
    .action(async (name: string | undefined, values: McpOptions) => {
      const { tools, write, list = false, ...call } = values;
      if (call.help === true && name === undefined) return mcp.outputHelp();
      if (name !== undefined && (tools ?? write) !== undefined)
        throw new ExpectedError(`--tools and --write are for serving; leave them out to call ${name}.`, 2);
      if (name !== undefined || list) return setExitCode(await callTool(name, call));
      if (call.json !== undefined)
        throw new ExpectedError("Name the tool that --json is for; mcp --list lists them.", 2);
      setExitCode(await (await import("../search/mcp.js")).mcpCommand({ ...values, version }, io, run));
    });
}
