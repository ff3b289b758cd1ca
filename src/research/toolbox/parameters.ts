import type { Ajv2020, ErrorObject, ValidateFunction } from "ajv/dist/2020.js";
import { loadAjv } from "../../engine/storage/schema-check.js";
import { type Parameter, type Problem, quoted, wrongCall } from "../../engine/tools/tool.js";
import type { Given, ResearchTool } from "./context.js";

/** No argument is longer: a quote is a sentence or two. In characters. */
const maxText = 2_000;

/** Made at the first call of a tool: a server that only lists its tools does without. */
let ajv: Ajv2020 | undefined;
const validators = new WeakMap<ResearchTool, ValidateFunction>();

/** The JSON Schema of a tool's arguments, as agents are sent it with every request: no more than they need. */
export const schemaOf = ({
  parameters,
  required,
}: ResearchTool): { type: "object"; properties: Record<string, Parameter>; required?: string[] } => ({
  type: "object",
  properties: { ...parameters },
  ...(required.length > 0 ? { required: [...required] } : {}),
});

/**
 * The arguments of a call, as far as they fit; else one sentence. Null and empty ones count as left out: models send
 * them.
 */
export function checkArguments(tool: ResearchTool, given: unknown): Given | Problem {
  if (typeof (given ?? {}) !== "object" || Array.isArray(given))
    return wrongCall(`The arguments of ${tool.name} must be one JSON object.`);
  const filled = Object.fromEntries(Object.entries(given ?? {}).filter(([, value]) => value !== null && value !== ""));
  const validate = validatorOf(tool);
  return validate(filled) ? (filled as Given) : wrongCall(`${tool.name}: ${wrong(tool, validate.errors?.[0])}.`);
}

/**
 * Stricter than what agents are sent: those bounds would cost every request tokens, and a sentence tells the one that
 * breaks them.
 */
function validatorOf(tool: ResearchTool): ValidateFunction {
  let validate = validators.get(tool);
  if (validate === undefined) {
    const bounds = { string: { maxLength: maxText }, integer: { minimum: 1, maximum: 50 } };
    const properties = Object.fromEntries(
      Object.entries(tool.parameters).map(([name, { type }]) => [name, { type, ...bounds[type] }]),
    );
    ajv ??= new (loadAjv())({ strict: false });
    validate = ajv.compile({ ...schemaOf(tool), properties, additionalProperties: false });
    validators.set(tool, validate);
  }
  return validate;
}

function wrong({ parameters }: ResearchTool, error: ErrorObject | undefined): string {
  const { keyword, instancePath = "", params = {}, message = "must be an object" } = error ?? {};
  if (keyword === "additionalProperties")
    return `there is no argument ${quoted(String(params["additionalProperty"]))}; it takes ${Object.keys(parameters).join(", ")}`;
  if (keyword === "required") return `the argument '${params["missingProperty"]}' is missing`;
  return `${instancePath.slice(1)} ${message.replace("NOT have more", "not have more")}`;
}
