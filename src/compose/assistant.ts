import { parseArgs } from "node:util";
import type { AssistantTool, ProgramServices } from "../assistant/tools/context.js";
import { configToRead } from "./config.js";
import { ExpectedError } from "../engine/lib/errors.js";
import { isProblem, toolFailure } from "../engine/tools/tool.js";
import type { Io } from "../engine/ui/io.js";
import { readUntrusted } from "../research/full-text/reader-process.js";
import { findProjects, findResearch } from "../research/overview/find-research.js";
import type { ToolArguments, ResearchTool, ToolContext } from "../research/tools/context.js";
import { callTool, tools, toolsNamed } from "../research/tools/all-tools.js";
import { httpFor } from "../research/sources/network.js";
import { toolContextFor } from "./tools.js";

/**
 * What the assistant uses of the other parts of the program: tools of the research project here, the network, and the
 * reader of documents.
 */
export const programServices = (io: Io): ProgramServices => ({
  async tools() {
    try {
      const folder = await findResearch(io.cwd, undefined);
      return researchTools(tools, (signal) => toolContextFor([folder], undefined, io, signal));
    } catch (error) {
      // There is no project here, or there are several and none was named.
      if (error instanceof ExpectedError) return [];
      throw error;
    }
  },
  async briefTools(flags) {
    const { values } = parseArgs({
      args: [...flags],
      options: { research: { type: "string", multiple: true }, tools: { type: "string" }, paper: { type: "string" } },
    });
    const folders = await findProjects(io.cwd, values.research ?? []);
    const tools = toolsNamed(values.tools?.split(","), folders.length);
    if (isProblem(tools)) throw new ExpectedError(tools.problem, 2);
    return researchTools(tools, (signal) => toolContextFor(folders, values.paper, io, signal));
  },
  async http(signal) {
    return httpFor(await configToRead(io, {}, ["sources"]), signal);
  },
  readDocument: readUntrusted,
});

/** The research tools as tools of the assistant: the same names, arguments and bounded answers. */
const researchTools = (
  tools: readonly ResearchTool[],
  open: (signal: AbortSignal) => Promise<ToolContext>,
): readonly AssistantTool<ToolArguments>[] =>
  tools.map(({ name, description, effects, parameters }) => ({
    name,
    description,
    effects,
    parameters,
    async run(input, _, signal) {
      const answer = await callTool(tools, name, input, await open(signal), signal);
      if (isProblem(answer)) return toolFailure("RESEARCH_ERROR", answer.problem);
      return answer.unanswered === true
        ? toolFailure("RESEARCH_ERROR_UNANSWERED", answer.text)
        : { success: true, content: answer.text };
    },
  }));
