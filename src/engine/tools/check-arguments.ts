import type { Ajv2020, ErrorObject, ValidateFunction } from "ajv/dist/2020.js";
import { wordProblem } from "../storage/problem-messages.js";
import { loadAjv } from "../storage/schema-check.js";
import { type Problem, quoted, wrongCall } from "./tool.js";

/** Made at the first call of a tool: who only lists tools does without. */
let ajv: Ajv2020 | undefined;
const validators = new WeakMap<object, ValidateFunction>();

/**
 * The arguments of a call, as far as they fit the schema; else one sentence. Null counts as left out: models send it.
 * Arguments that the schema does not name are refused where it describes any.
 */
export function checkArguments(name: string, schema: object, given: unknown): object | Problem {
  if (typeof (given ?? {}) !== "object" || Array.isArray(given))
    return wrongCall(`The arguments of ${name} must be one JSON object.`);
  const withoutNulls = Object.fromEntries(Object.entries(given ?? {}).filter(([, value]) => value !== null));
  let validate = validators.get(schema);
  if (validate === undefined) {
    ajv ??= new (loadAjv())({ strict: false, logger: false, verbose: true });
    validate = ajv.compile({ additionalProperties: false, ...schema });
    validators.set(schema, validate);
  }
  return validate(withoutNulls)
    ? withoutNulls
    : wrongCall(`${name}: ${errorText(schema, withoutNulls, validate.errors?.[0])}.`);
}

function errorText(schema: { readonly properties?: object }, given: object, error: ErrorObject | undefined): string {
  if (error === undefined) return "the arguments don't fit its schema";
  const { keyword, instancePath, params } = error;
  if (keyword === "additionalProperties" && instancePath === "")
    return `there is no argument ${quoted(String(params["additionalProperty"]))}; it takes ${Object.keys(schema.properties ?? {}).join(", ") || "none"}`;
  if (keyword === "required" && instancePath === "") return `the argument '${params["missingProperty"]}' is missing`;
  const { pointer, message, hint } = wordProblem(error, given);
  return `${pointer.slice(1)} ${message}${hint === undefined ? "" : ` (${hint.replace(/\.$/, "")})`}`.trim();
}
