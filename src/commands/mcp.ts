import { ExpectedError } from "../lib/errors.js";
import { isProblem } from "../toolbox/tool.js";
import { toolsNamed } from "../toolbox/toolbox.js";
import type { Io } from "../ui/io.js";
import { oneLine } from "../lib/sanitise.js";
import { findResearch } from "./find-research.js";
import { shelfOf } from "./shelf.js";

export interface McpArguments {
  readonly research?: string;
  /** The only paper to be read. */
  readonly paper?: string;
  /** Names, separated by commas; undefined: every tool. */
  readonly tools?: string;
  readonly version: string;
}

/** Serves the tools over stdio to an MCP client until it goes away. Reads only the research it was given; writes nothing but its log of questions. */
export async function mcpCommand({ research, paper, tools: names, version }: McpArguments, io: Io): Promise<number> {
  const tools = toolsNamed(names?.split(",").map((name) => name.trim()));
  if (isProblem(tools)) throw new ExpectedError(tools.problem, 2);
  const folder = await findResearch(io.cwd, research);
  const { serveOverStdio } = await import("../toolbox/mcp-server.js");
  const gone = new AbortController();
  const shelf = await shelfOf(folder, paper, io, gone.signal);
  await serveOverStdio(tools, shelf, version, (message) => io.stderr(`research-ralph: ${oneLine(message)}\n`));
  gone.abort();
  return 0;
}
