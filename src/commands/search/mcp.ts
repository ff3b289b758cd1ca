import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { reportName } from "../../research/project-files/layout.js";
import { markGiven } from "../../research/derived/meaning-mark.js";
import { meaningOf } from "../../research/report/narrative/meaning.js";
import { readNarrative } from "../../research/units/narrative/kept-narrative.js";
import { readResearch } from "../../research/project-files/research.js";
import { countingInsights } from "../../research/screening/eligibility/eligibility.js";
import type { Resource } from "../../research/tools/mcp-server.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { isProblem } from "../../engine/tools/tool.js";
import { toolsNamed } from "../../research/tools/all-tools.js";
import type { Io } from "../../engine/ui/io.js";
import { given } from "../../engine/lib/given.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { findProjects } from "../../research/overview/find-research.js";
import { toolContextFor } from "../../compose/tools.js";

interface McpArguments {
  /** Projects as typed; several for what asks all papers at once. */
  readonly research?: readonly string[];
  /** The only paper to be read. */
  readonly paper?: string;
  /** Names, separated by commas; undefined: every tool. */
  readonly tools?: string;
  readonly version: string;
}

/**
 * Serves the tools over stdio to an MCP client until it goes away. Reads only the projects it was given; writes nothing
 * but its log of questions.
 */
export async function mcpCommand(
  { research = [], paper, tools: names, version }: McpArguments,
  io: Io,
): Promise<number> {
  const tools = toolsNamed(
    names?.split(",").map((name) => name.trim()),
    research.length,
  );
  if (isProblem(tools)) throw new ExpectedError(tools.problem, 2);
  const folders = await findProjects(io.cwd, research);
  const { serveOverStdio } = await import("../../research/tools/mcp-server.js");
  const gone = new AbortController();
  const context = await toolContextFor(folders, paper, io, gone.signal);
  // Who is allowed one paper, or some of the tools, is not a client of the person's own.
  const resources =
    paper === undefined && names === undefined && folders.length === 1 ? resourcesOf(folders[0], io) : [];
  await serveOverStdio(tools, resources, context, version, {
    stdin: io.stdin,
    stdout: io.stdout,
    report: (message) => io.stderr(`research-ralph: ${oneLine(message)}\n`),
  });
  gone.abort();
  return 0;
}

/** A project's papers, findings, answers and report, read afresh each time. */
const resourcesOf = (folder: string, io: Io): Resource[] => [
  {
    uri: "research://papers",
    name: "papers",
    description: "The project's papers, the best first: id, title, status, decision, score, year.",
    mimeType: "application/json",
    read: async () => {
      const { papersByScore } = await import("../../research/overview/papers-by-score.js");
      return JSON.stringify(papersByScore((await readResearch(folder)).rrd), null, 2);
    },
  },
  {
    uri: "research://findings",
    name: "findings",
    description:
      "The project's insights, each with the id of its paper; every claim with the sentence of the paper that its quote points at, whether it was found, and what another reader says of its meaning; how far the sentences of the report were checked, and which were taken out.",
    mimeType: "application/json",
    read: async () => {
      const { rrd } = await readResearch(folder);
      const { papers_pool: papers, meaning } = rrd;
      const claims = papers.flatMap(({ id, analysis }) =>
        (analysis?.evidence ?? []).map(({ text_sha256: _, about: __, ...evidence }) => ({
          ...{ paper_id: id, ...evidence },
          ...given({ meaning: markGiven(evidence.check, meaning?.checkers).meaning?.says }),
        })),
      );
      const { says: checked, removed: not_borne_out } = meaningOf(await readNarrative(folder), rrd) ?? {};
      return JSON.stringify({ insights: countingInsights(rrd), claims, ...given({ checked, not_borne_out }) }, null, 2);
    },
  },
  {
    uri: "research://answers",
    name: "answers",
    description:
      "The questions that were put to the project, with their answers: each sentence with its quotes, what was said of its meaning, and whether the answer still stands.",
    mimeType: "application/json",
    read: async () => {
      const { asJson, standings } = await import("./answers.js");
      return JSON.stringify((await standings(folder, io)).map(asJson), null, 2);
    },
  },
  {
    uri: "research://report",
    name: "report",
    description: "The project's report.",
    mimeType: "text/markdown",
    read: () => readFile(join(folder, reportName), "utf8").catch(() => undefined),
  },
];
