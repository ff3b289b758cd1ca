import { ExpectedError } from "../../engine/lib/errors.js";
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
import { isProblem, type Problem, unknownTool } from "../../engine/tools/tool.js";
import type { Given, ResearchTool, ToolContext } from "./context.js";
import { fence } from "../../engine/lib/sanitise.js";
import { isObject } from "../../engine/lib/json-fields.js";

/** Every tool there is. Taking one away takes its file and its line here. */
export const tools: readonly ResearchTool[] = [
  ...[searchPapers, paperDetails, outline, readSection, findQuote],
  ...[findPassages, checkAnswer, codeLinks],
];

/** Tools that ask all papers at once, of several projects too; the others take an id, which is one project's. */
const acrossProjects: readonly string[] = ["find_passages", "check_answer"];

/** Tools for finding papers besides those that code found. */
export const searchingTools: readonly string[] = ["search_papers", "paper_details"];

/** Tools for a paper too long to stand in its brief. */
export const readingTools: readonly string[] = ["outline", "read_section", "find_quote"];

/** Most estimated tokens of what an answer holds from outside; its frame is below a hundred more. */
const dataTokens = 5_500;

/**
 * Calls a tool by name with arguments as they came, from whomever. What it found is fenced as data from outside and
 * bounded. Whatever is wrong with the call is answered in one sentence.
 */
export async function callTool(
  offered: readonly ResearchTool[],
  name: string,
  given: unknown,
  context: ToolContext,
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly unanswered?: true } | Problem> {
  const tool = offered.find((each) => each.name === name);
  if (tool === undefined) return { problem: unknownTool(namesOf(offered), name) };
  const checked = checkedArguments(tool, given);
  if (isProblem(checked)) return checked;
  const found = await tool.run(checked, context, signal).catch(expected);
  if (isProblem(found)) return found;
  const text = found.data === undefined ? found.head : `${found.head}\n${fence(clip(found.data, dataTokens))}`;
  return found.unanswered === true ? { text, unanswered: true } : { text };
}

/** No argument is longer: a quote is a sentence or two. In characters. */
const maxText = 2_000;

/**
 * Stricter than what agents are sent: those bounds would cost every request tokens, and a sentence tells the one that
 * breaks them.
 */
const bounds: Readonly<Record<string, object>> = {
  string: { maxLength: maxText },
  integer: { minimum: 1, maximum: 50 },
};
const strict = new WeakMap<ResearchTool, object>();

function strictSchema(tool: ResearchTool): object {
  let schema = strict.get(tool);
  if (schema === undefined) {
    const properties = Object.fromEntries(
      Object.entries(tool.parameters.properties).map(([name, { type }]) => [name, { type, ...bounds[type] }]),
    );
    schema = { ...tool.parameters, properties };
    strict.set(tool, schema);
  }
  return schema;
}

/**
 * The arguments of a call, as far as they fit; else one sentence. Null and empty ones count as left out: models send
 * them.
 */
function checkedArguments(tool: ResearchTool, given: unknown): Given | Problem {
  const isFields = isObject(given);
  const filled = isFields ? Object.fromEntries(Object.entries(given).filter(([, value]) => value !== "")) : given;
  const checked = checkArguments(tool.name, strictSchema(tool), filled);
  return isProblem(checked) ? checked : (checked as Given);
}

/** A broken rrd.json, say: anyone who calls can read why. */
function expected(error: unknown): Problem {
  if (error instanceof ExpectedError) return { problem: error.message };
  throw error;
}

/**
 * The tools of these names, in the order of `tools`; where none is named, all that there are for so many projects.
 */
export function toolsNamed(names: readonly string[] | undefined, projects: number): readonly ResearchTool[] | Problem {
  const fitting = projects > 1 ? tools.filter(({ name }) => acrossProjects.includes(name)) : tools;
  for (const name of names ?? []) {
    if (!tools.some((tool) => tool.name === name)) return { problem: unknownTool(namesOf(tools), name) };
    if (!fitting.some((tool) => tool.name === name))
      return { problem: `${name} reads one project; for several there are ${acrossProjects.join(" and ")}.` };
  }
  return fitting.filter(({ name }) => names?.includes(name) !== false);
}

const namesOf = (offered: readonly ResearchTool[]): string[] => offered.map(({ name }) => name);
