import { exportFormats } from "../inspect/export-formats.js";
import { Option } from "commander";
import type { CommandLine, CommonOptions } from "./command.js";
import { withRunOptions, commonOf, parseNumber, parseWholeNumber } from "./shared-options.js";

/** Values of --only for `report --as`: a decision, a stage, or a status of a paper, with `_` instead of spaces. */
const onlyChoices = [
  ...(["included", "excluded", "open"] as const),
  ...(["full_text", "screening", "not_screened", "duplicate", "retracted", "window", "notice"] as const),
  ...(["kept_for_insights", "rejected", "waiting_for_a_person", "not_read_yet", "not_retrieved"] as const),
];

/** Adds the commands that show work and its results. Of these, only `verify --meaning` starts agents. */
export function addLookCommands({ add, io }: CommandLine): void {
  type StatusOptions = CommonOptions & { all: boolean; papers: boolean; cost: boolean; watch: boolean };
  add("status", "[folder]", async ({ all, papers, cost, watch, json }: StatusOptions, folder) => {
    if (cost) return (await import("../inspect/cost.js")).costCommand({ folder, json }, io);
    if (watch) return (await import("../inspect/watch.js")).watchCommand({ folder, json }, io);
    const isOpen = folder === undefined && !papers;
    const isList = all || (isOpen && (await (await import("../kinds/find-work.js")).needsName(io.cwd)));
    if (isList) return (await import("../inspect/list.js")).listCommand({ json }, io);
    return (await import("../inspect/status.js")).statusCommand({ folder, json, papers }, io);
  })
    .addOption(
      new Option(
        "--all",
        "list the projects under ./researches and the tasks here; also without a folder if there are several",
      ).conflicts(["papers", "cost", "watch"]),
    )
    .option("--papers", "list all papers with their ids, not only the first 20")
    .addOption(
      new Option("--cost", "what work cost, by phase or role, and a forecast for projects").conflicts([
        "papers",
        "watch",
      ]),
    )
    .addOption(new Option("--watch", "live view of all projects and tasks in a folder").conflicts("papers"));

  type ShowOptions = CommonOptions & { accept?: number };
  add("show", "[folder] [what]", async ({ accept, json, flags }: ShowOptions, ...words) => {
    const target = words.findLast((word) => word !== undefined);
    const folder = words[1] === undefined ? undefined : words[0];
    if (target === "next") return (await import("../inspect/brief.js")).briefCommand({ folder, flags, json }, io);
    if (target === "patterns")
      return (await import("../inspect/patterns.js")).patternsCommand({ folder, accept, json }, io);
    return (await import("../inspect/show.js")).showCommand({ folder: words[0], target: words[1], json }, io);
  })
    .usage("[options] [folder] [paper | iteration | next | patterns]")
    .option("--agent <name>", "with next: the agent that would read it; briefs for agents with tools differ")
    .option("--accept <N>", "with patterns: add pattern N to AGENTS.md", parseWholeNumber);

  add("web", "[folder]", async ({ json, port = 0 }: { port?: number } & CommonOptions, folder) =>
    (await import("../inspect/web.js")).webCommand({ folder, port, json }, io),
  ).option("--port <N>", "port of 127.0.0.1 (default: any free port)", parseWholeNumber);

  type ReportOptions = CommonOptions & {
    check: boolean;
    as?: string;
    to?: string;
    only?: (typeof onlyChoices)[number];
  };
  add("report", "[folder]", async ({ as, to, only, check, flags, json }: ReportOptions, folder) => {
    if ((as ?? to ?? only) !== undefined)
      return (await import("../inspect/export.js")).exportCommand({ folder, as, to, only, json }, io);
    return (await import("../inspect/report.js")).reportCommand({ folder, check, flags, json }, io);
  })
    .option("--check", "write nothing; list sentences whose numbers or sources no quote supports (exit 1)")
    .option("--as <format>", `write every record instead, for other programs: ${Object.keys(exportFormats).join(", ")}`)
    .option("-o, --to <path>", "with --as: write this file instead of stdout")
    .addOption(
      new Option("--only <which>", "with --as: only the records of this decision, stage or status").choices(
        onlyChoices,
      ),
    )
    .option("--no-git", "do not commit");

  type VerifyOptions = { files: boolean; fetch: boolean; search: boolean; meaning: boolean } & CommonOptions;
  const verify = add(
    "verify",
    "[folder]",
    async ({ files, fetch, search, meaning, ...others }: VerifyOptions, folder) => {
      const { json } = others;
      if (files) return (await import("../inspect/validate.js")).validateCommand({ folder, json }, io);
      if (search) return (await import("../inspect/replay.js")).replayCommand({ folder, json }, io);
      if (meaning)
        return (await import("../run/check-meaning.js")).checkMeaningCommand({ folder, ...commonOf(others) }, io);
      return (await import("../inspect/verify.js")).verifyCommand({ folder, fetch, json }, io);
    },
  )
    .addOption(
      new Option("--files", "check rrd.json or a task's ralph.json instead, and print every problem").conflicts([
        "fetch",
        "meaning",
        "search",
      ]),
    )
    .option("--fetch", "fetch the papers whose text is not stored")
    .addOption(
      new Option("--search", "replay the recorded search offline instead, and compare the results").conflicts([
        "fetch",
        "meaning",
      ]),
    )
    .option("--meaning", "have an agent judge whether the report's sentences follow from their quotes")
    .option("--max-usd <N>", "with --meaning: maximum cost, in US dollars", parseNumber)
    .option("--max-tokens <N>", "with --meaning: maximum tokens, in and out", parseNumber);
  withRunOptions(verify);
}
