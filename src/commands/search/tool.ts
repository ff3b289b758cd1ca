import { ExpectedError, messageOf } from "../../engine/lib/errors.js";
import { isProblem } from "../../engine/tools/tool.js";
import { callTool, tools, toolsNamed } from "../../research/tools/all-tools.js";
import type { Io } from "../../engine/ui/io.js";
import { sanitise } from "../../engine/lib/sanitise.js";
import { findProjects } from "../../research/overview/find-research.js";
import { toolContextFor } from "../../compose/tools.js";
import type { ResearchTool } from "../../research/tools/context.js";

interface ToolArguments {
  /** The tool's name; absent: the tools are listed. */
  readonly name?: string;
  /** The names of projects, as the user typed them. */
  readonly research?: readonly string[];
  /** The only paper that the tool may read, as the user typed it. */
  readonly paper?: string;
  /** The arguments as JSON; true for `--json` without a value, absent without `--json`. */
  readonly json?: string | true;
  /** True if the tool's parameters are printed, and the tool is not called. */
  readonly help?: boolean;
}

/**
 * Calls a tool with the result that an agent would get, or lists the tools. With `--json` the answer is one JSON
 * object. The exit code is 5 if no service answered the tool. @throws ExpectedError with exit code 2 for a wrong call,
 * 1 for another problem of the tool.
 */
export async function toolCommand(
  { name, research = [], paper, json, help = false }: ToolArguments,
  io: Io,
): Promise<number> {
  const isJson = json !== undefined;
  if (name === undefined) {
    const toolDescriptions = tools.map((tool) => ({
      name: tool.name,
      description: tool.description,
      parameters: tool.parameters,
    }));
    if (isJson) io.stdout(`${JSON.stringify(toolDescriptions)}\n`);
    else for (const tool of toolDescriptions) io.stdout(`${tool.name.padEnd(15)} ${tool.description}\n`);
    return 0;
  }
  const foundTools = toolsNamed([name], research.length);
  if (isProblem(foundTools)) throw new ExpectedError(foundTools.problem, 2);
  const [tool] = foundTools;
  if (help && tool !== undefined) {
    for (const line of helpLines(tool)) io.stdout(`${line}\n`);
    return 0;
  }
  const toolArguments = typeof json === "string" ? parseArguments(json) : {};
  const controller = new AbortController();
  try {
    const context = await toolContextFor(await findProjects(io.cwd, research), paper, io, controller.signal);
    const answer = await callTool(tools, name, toolArguments, context, controller.signal);
    if (isProblem(answer)) throw new ExpectedError(answer.problem, answer.wrongCall === true ? 2 : 1);
    io.stdout(isJson ? `${JSON.stringify(answer)}\n` : `${sanitise(answer.text)}\n`);
    return answer.unanswered === true ? 5 : 0;
  } finally {
    // A request to a source that is still open would keep the process alive.
    controller.abort();
  }
}

/** The parameters of a tool for people. Some have a longer description here: agents pay for the words of theirs. */
function helpLines({ name, description, parameters: { properties, required = [] } }: ResearchTool): string[] {
  const rows = Object.entries(properties).map(
    ([argument, { type, description: meaningText = argument === "id" ? "the paper's id, as status lists it" : "" }]) =>
      `  ${argument.padEnd(8)} ${[type, ...(required.some((requiredName) => requiredName === argument) ? ["required"] : []), ...(meaningText === "" ? [] : [meaningText])].join(", ")}`,
  );
  const example = required[0] ?? Object.keys(properties)[0] ?? "";
  return [
    `${name}: ${description}`,
    "",
    "Arguments, as one JSON object:",
    ...rows,
    "",
    `research-ralph mcp ${name} --json '{"${example}": "…"}'`,
  ];
}

/** @throws ExpectedError (exit code 2) if the text is not valid JSON. */
function parseArguments(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new ExpectedError(
      `The arguments are not valid JSON (${messageOf(error)}); write --json '{"name": "value"}'.`,
      2,
    );
  }
}
