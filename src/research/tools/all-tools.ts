import { clip } from "../../engine/lib/tokens.js";
import { checkAnswer } from "./check-answer.js";
import { codeLinks } from "./code-links.js";
import { findPassages } from "./find-passages.js";
import { findQuote } from "./find-quote.js";
import { outline } from "./outline.js";
import { paperDetails } from "./paper-details.js";
import { readSection } from "./read-section.js";
import { searchPapers } from "./search-papers.js";
import { checkArguments } from "../../engine/tools/check-arguments.js";
import { asProblem, isProblem, type Problem, unknownToolMessage } from "../../engine/tools/tool.js";
import type { ToolArguments, ResearchTool, ToolContext } from "./context.js";
import { fence } from "../../engine/lib/sanitise.js";
import { isObject } from "../../engine/lib/json-fields.js";

/** All tools. To remove a tool, delete its file and its entry here. */
export const tools: readonly ResearchTool[] = [
  ...[searchPapers, paperDetails, outline, readSection, findQuote],
  ...[findPassages, checkAnswer, codeLinks],
];

/**
 * Tools that work on all papers, also of several projects. The other tools take the id of a paper, and ids belong to
 * one project.
 */
const acrossProjects: readonly string[] = ["find_passages", "check_answer"];

/** Tools for finding more papers. */
export const searchingTools: readonly string[] = ["search_papers", "paper_details"];

/** Tools for a paper that is too long for its brief. */
export const readingTools: readonly string[] = ["outline", "read_section", "find_quote"];

/** Maximum number of estimated tokens of outside data in an answer. The frame around it adds less than a hundred. */
const maxDataTokens = 5_500;

/**
 * Calls a tool by name with unchecked arguments. The outside data in the answer is fenced and limited in length. A
 * problem with the call is answered in one sentence.
 */
export async function callTool(
  offeredTools: readonly ResearchTool[],
  name: string,
  input: unknown,
  context: ToolContext,
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly unanswered?: true } | Problem> {
  const tool = offeredTools.find((each) => each.name === name);
  if (tool === undefined) return { problem: unknownToolMessage(namesOf(offeredTools), name) };
  const checked = checkedArguments(tool, input);
  if (isProblem(checked)) return checked;
  const found = await tool.run(checked, context, signal).catch(asProblem);
  if (isProblem(found)) return found;
  const text = found.data === undefined ? found.head : `${found.head}\n${fence(clip(found.data, maxDataTokens))}`;
  return found.unanswered === true ? { text, unanswered: true } : { text };
}

/** Maximum number of characters of an argument: a quote is a sentence or two. */
const maxArgumentChars = 2_000;

/**
 * Stricter than the schemas for agents. The limits would cost tokens in every request; instead, a call that breaks one
 * gets a sentence about it.
 */
const bounds: Readonly<Record<string, object>> = {
  string: { maxLength: maxArgumentChars },
  integer: { minimum: 1, maximum: 50 },
};
const strictSchemas = new WeakMap<ResearchTool, object>();

function strictSchema(tool: ResearchTool): object {
  let schema = strictSchemas.get(tool);
  if (schema === undefined) {
    const properties = Object.fromEntries(
      Object.entries(tool.parameters.properties).map(([name, { type }]) => [name, { type, ...bounds[type] }]),
    );
    schema = { ...tool.parameters, properties };
    strictSchemas.set(tool, schema);
  }
  return schema;
}

/** The valid arguments of a call, or a problem. Models send null and empty values, which count as missing. */
function checkedArguments(tool: ResearchTool, input: unknown): ToolArguments | Problem {
  const filled = isObject(input)
    ? Object.fromEntries(Object.entries(input).filter(([, value]) => value !== ""))
    : input;
  const checked = checkArguments(tool.name, strictSchema(tool), filled);
  return isProblem(checked) ? checked : (checked as ToolArguments);
}

/**
 * The tools with these names, in the order of `tools`; without names, all tools that work for this number of projects.
 */
export function toolsNamed(names: readonly string[] | undefined, projects: number): readonly ResearchTool[] | Problem {
  const available = projects > 1 ? tools.filter(({ name }) => acrossProjects.includes(name)) : tools;
  for (const name of names ?? []) {
    if (!tools.some((tool) => tool.name === name)) return { problem: unknownToolMessage(namesOf(tools), name) };
    if (!available.some((tool) => tool.name === name))
      return { problem: `${name} reads one project; for several there are ${acrossProjects.join(" and ")}.` };
  }
  return available.filter(({ name }) => names?.includes(name) !== false);
}

const namesOf = (someTools: readonly ResearchTool[]): string[] => someTools.map(({ name }) => name);
