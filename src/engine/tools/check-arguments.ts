import type { Ajv2020, ErrorObject, ValidateFunction } from "ajv/dist/2020.js";
import { wordProblem } from "../storage/problem-messages.js";
import { loadAjv } from "../storage/schema-check.js";
import { type Problem, inQuotes, wrongCall } from "./tool.js";

/** Created at the first call of a tool, because listing tools does not need it. */
let ajv: Ajv2020 | undefined;
const validators = new WeakMap<object, ValidateFunction>();

/**
 * The arguments of a call if they match the schema; otherwise a problem in one sentence. Null counts as absent, because
 * models send it. Unknown arguments are refused, unless the schema allows them.
 */
export function checkArguments(name: string, schema: object, callArguments: unknown): object | Problem {
  if (typeof (callArguments ?? {}) !== "object" || Array.isArray(callArguments))
    return wrongCall(`The arguments of ${name} must be one JSON object.`);
  const withoutNulls = Object.fromEntries(Object.entries(callArguments ?? {}).filter(([, value]) => value !== null));
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

function errorText(
  schema: { readonly properties?: object },
  callArguments: object,
  error: ErrorObject | undefined,
): string {
  if (error === undefined) return "the arguments don't fit its schema";
  const { keyword, instancePath, params } = error;
  if (keyword === "additionalProperties" && instancePath === "")
    return `there is no argument ${inQuotes(String(params["additionalProperty"]))}; it takes ${Object.keys(schema.properties ?? {}).join(", ") || "none"}`;
  if (keyword === "required" && instancePath === "") return `the argument '${params["missingProperty"]}' is missing`;
  const { pointer, message, hint } = wordProblem(error, callArguments);
  return `${pointer.slice(1)} ${message}${hint === undefined ? "" : ` (${hint.replace(/\.$/, "")})`}`.trim();
}
