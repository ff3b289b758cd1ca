import { ExpectedError } from "../../engine/lib/errors.js";
import { isProblem } from "../../engine/tools/tool.js";
import { toolsNamed } from "../../research/toolbox/toolbox.js";
import type { Io } from "../../engine/ui/io.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { findResearch } from "../../research/overview/find-research.js";
import { toolContextFor } from "../../compose/tools.js";

interface McpArguments {
  readonly research?: string;
  /** The only paper to be read. */
  readonly paper?: string;
  /** Names, separated by commas; undefined: every tool. */
  readonly tools?: string;
  readonly version: string;
}

/** Serves the tools over stdio to an MCP client until it goes away. Reads only the project it was given; writes nothing but its log of questions. */
export async function mcpCommand({ research, paper, tools: names, version }: McpArguments, io: Io): Promise<number> {
  const tools = toolsNamed(names?.split(",").map((name) => name.trim()));
  if (isProblem(tools)) throw new ExpectedError(tools.problem, 2);
  const folder = await findResearch(io.cwd, research);
  const { serveOverStdio } = await import("../../research/toolbox/mcp-server.js");
  const gone = new AbortController();
  const context = await toolContextFor(folder, paper, io, gone.signal);
  await serveOverStdio(tools, context, version, {
    stdin: io.stdin,
    stdout: io.stdout,
    report: (message) => io.stderr(`research-ralph: ${oneLine(message)}\n`),
  });
  gone.abort();
  return 0;
}
