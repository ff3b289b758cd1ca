import { checkArguments as checkAgainst } from "../../engine/tools/check-arguments.js";
import { isProblem, type Problem } from "../../engine/tools/tool.js";
import type { Given, ResearchTool } from "./context.js";

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
export function checkArguments(tool: ResearchTool, given: unknown): Given | Problem {
  const isFields = typeof given === "object" && given !== null && !Array.isArray(given);
  const filled = isFields ? Object.fromEntries(Object.entries(given).filter(([, value]) => value !== "")) : given;
  const checked = checkAgainst(tool.name, strictSchema(tool), filled);
  return isProblem(checked) ? checked : (checked as Given);
}
