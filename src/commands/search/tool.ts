import { ExpectedError, messageOf } from "../../engine/lib/errors.js";
import { isProblem } from "../../engine/tools/tool.js";
import { callTool, tools, toolsNamed } from "../../research/tools/all-tools.js";
import type { Io } from "../../engine/ui/io.js";
import { sanitise } from "../../engine/lib/sanitise.js";
import { findProjects } from "../../research/overview/find-research.js";
import { toolContextFor } from "../../compose/tools.js";
import type { ResearchTool } from "../../research/tools/context.js";

interface ToolArguments {
  /** Undefined: list the tools. */
  readonly name?: string;
  /** Projects as typed; several for what asks all papers at once. */
  readonly research?: readonly string[];
  readonly paper?: string;
  /** The arguments as JSON; true where `--json` stands alone, undefined where it is not there. */
  readonly json?: string | true;
  /** Print what the tool takes instead of calling it. */
  readonly help?: boolean;
}

/**
 * Calls a tool as an agent would, or lists the tools. With `--json` the answer is one JSON object. Exit code 2 where
 * the call is wrong,
 * 5 where nobody answered of all who were asked.
 */
export async function toolCommand(
  { name, research = [], paper, json, help = false }: ToolArguments,
  io: Io,
): Promise<number> {
  const isJson = json !== undefined;
  if (name === undefined) {
    const listed = tools.map((tool) => ({
      name: tool.name,
      description: tool.description,
      parameters: tool.parameters,
    }));
    if (isJson) io.stdout(`${JSON.stringify(listed)}\n`);
    else for (const tool of listed) io.stdout(`${tool.name.padEnd(15)} ${tool.description}\n`);
    return 0;
  }
  const known = toolsNamed([name], research.length);
  if (isProblem(known)) throw new ExpectedError(known.problem, 2);
  const [tool] = known;
  if (help && tool !== undefined) {
    for (const line of helpOf(tool)) io.stdout(`${line}\n`);
    return 0;
  }
  const given = typeof json === "string" ? parsed(json) : {};
  const ending = new AbortController();
  try {
    const context = await toolContextFor(await findProjects(io.cwd, research), paper, io, ending.signal);
    const answer = await callTool(tools, name, given, context, ending.signal);
    if (isProblem(answer)) throw new ExpectedError(answer.problem, answer.wrongCall === true ? 2 : 1);
    io.stdout(isJson ? `${JSON.stringify(answer)}\n` : `${sanitise(answer.text)}\n`);
    return answer.unanswered === true ? 5 : 0;
  } finally {
    // A source that was left behind would keep the program alive.
    ending.abort();
  }
}

/**
 * What a tool takes, for a person: the descriptions that agents are sent are shorter, since every request pays for
 * them.
 */
function helpOf({ name, description, parameters: { properties, required = [] } }: ResearchTool): string[] {
  const rows = Object.entries(properties).map(
    ([argument, { type, description: meaning = argument === "id" ? "the paper's id, as status lists it" : "" }]) =>
      `  ${argument.padEnd(8)} ${[type, ...(required.some((each) => each === argument) ? ["required"] : []), ...(meaning === "" ? [] : [meaning])].join(", ")}`,
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

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new ExpectedError(
      `The arguments are not valid JSON (${messageOf(error)}); write --json '{"name": "value"}'.`,
      2,
    );
  }
}
