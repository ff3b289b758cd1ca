import { exportFormats } from "../inspect/export-formats.js";
import { type Command, Option } from "commander";
import type { CommandLine, Common } from "./command.js";
import { withAgent, howOf, number, whole } from "./shared-options.js";

/** What `export` can write. */
/** Which records `export` writes: those of a decision, of a stage, or of a status of the pool. */
const onlyRecords = [
  ...(["included", "excluded", "open"] as const),
  ...(["full_text", "screening", "not_screened", "duplicate", "retracted", "window", "notice"] as const),
  ...(["presented", "insights_extracted", "rejected", "waiting", "pending", "not_retrieved"] as const),
];

/** Commands that show work and what came of it; agents are started by none but `verify --meaning`. */
export function addLook({ add, io }: CommandLine): void {
  add("list", "", async ({ json }) => (await import("../inspect/list.js")).listCommand({ json }, io));

  const cost = async ({ json }: Common, folder: string | undefined) =>
    (await import("../inspect/cost.js")).costCommand({ folder, json }, io);
  const watch = async ({ json }: Common, folder: string | undefined) =>
    (await import("../inspect/watch.js")).watchCommand({ folder, json }, io);
  type OfStatus = Common & { papers: boolean; cost: boolean; watch: boolean };
  add("status", "[folder]", async (options: OfStatus, folder) => {
    if (options.cost) return cost(options, folder);
    if (options.watch) return watch(options, folder);
    const { json, papers } = options;
    return (await import("../inspect/status.js")).statusCommand({ folder, json, papers }, io);
  })
    .option("--papers", "list all papers with their ids, not only the first 20")
    .addOption(
      new Option("--cost", "what work cost, by phase or role, and a forecast for projects").conflicts([
        "papers",
        "watch",
      ]),
    )
    .addOption(new Option("--watch", "live view of all projects and tasks in a folder").conflicts("papers"));
  add("cost", "[folder]", cost);
  add("watch", "[folder]", watch);

  add("show", "[folder] [what]", async ({ json, flags }, folder, what) => {
    if (what === "next" || (folder === "next" && what === undefined))
      return (await import("../inspect/brief.js")).briefCommand(
        { folder: what === undefined ? undefined : folder, flags, json },
        io,
      );
    return (await import("../inspect/show.js")).showCommand({ folder, target: what, json }, io);
  })
    .usage("[options] [folder] [paper | iteration | next]")
    .option("--agent <name>", "with next: the agent that would read it; briefs for agents with tools differ");

  add("brief", "[folder]", async ({ flags, json }, folder) =>
    (await import("../inspect/brief.js")).briefCommand({ folder, flags, json }, io),
  ).option("--agent <name>", "the agent that would read it: briefs for agents with tools differ");

  add("web", "[folder]", async ({ json, port = 0 }: { port?: number } & Common, folder) =>
    (await import("../inspect/web.js")).webCommand({ folder, port, json }, io),
  ).option("--port <N>", "port of 127.0.0.1 (default: any that is free)", whole);

  type OfExport = { as?: string; to?: string; only?: (typeof onlyRecords)[number] };
  const exported = async ({ as, to, only, json }: OfExport & Common, folder: string | undefined) =>
    (await import("../inspect/export.js")).exportCommand({ folder, as, to, only, json }, io);
  const withExport = (command: Command): Command =>
    command
      .addOption(
        new Option(
          "--as <format>",
          "write every record instead: RIS, BibTeX, CSL-JSON, a spreadsheet, or the PRISMA flow for R",
        ).choices(Object.keys(exportFormats)),
      )
      .option("--to <path>", "with --as: write this file instead of stdout")
      .addOption(
        new Option("--only <which>", "with --as: only the records of this decision, stage or status").choices(
          onlyRecords,
        ),
      );
  const report = add("report", "[folder]", async (options: OfExport & { check: boolean } & Common, folder) => {
    if (options.as !== undefined) return exported(options, folder);
    const { check, flags, json } = options;
    return (await import("../inspect/report.js")).reportCommand({ folder, check, flags, json }, io);
  }).option("--check", "write nothing; list sentences whose numbers or sources no quote supports (exit 1)");
  withExport(report).option("--no-git", "do not commit");
  withExport(add("export", "[folder]", exported));

  const replay = async ({ json }: Common, folder: string | undefined) =>
    (await import("../inspect/replay.js")).replayCommand({ folder, json }, io);
  type OfVerify = { fetch: boolean; search: boolean; meaning: boolean } & Common;
  const verify = add("verify", "[folder]", async ({ fetch, search, meaning, ...how }: OfVerify, folder) => {
    if (search) return replay(how, folder);
    if (meaning) return (await import("../run/check-meaning.js")).checkMeaningCommand({ folder, ...howOf(how) }, io);
    return (await import("../inspect/verify.js")).verifyCommand({ folder, fetch, json: how.json }, io);
  })
    .option("--fetch", "fetch the papers whose text is not stored")
    .addOption(
      new Option("--search", "replay the recorded search offline instead, and compare the results").conflicts([
        "fetch",
        "meaning",
      ]),
    )
    .option("--meaning", "have an agent judge whether the report's sentences follow from their quotes")
    .option("--max-usd <N>", "with --meaning: maximum cost, in US dollars", number)
    .option("--max-tokens <N>", "with --meaning: maximum tokens, in and out", number);
  withAgent(verify);

  add("validate", "[folder]", async ({ json }, folder) =>
    (await import("../inspect/validate.js")).validateCommand({ folder, json }, io),
  );

  add("replay", "[folder]", replay);

  add("patterns", "[folder]", async ({ accept, json }: { accept?: number } & Common, folder) =>
    (await import("../inspect/patterns.js")).patternsCommand({ folder, accept, json }, io),
  ).option("--accept <N>", "move pattern N into AGENTS.md", whole);
}
