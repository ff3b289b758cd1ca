import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Ajv2020, AnySchemaObject, ErrorObject, ValidateFunction } from "ajv/dist/2020.js";
import { type Problem, wordProblem } from "./problem-messages.js";
import type { Schemas } from "../generated/schemas.js";
import { packageFile } from "../lib/package-root.js";

export type { Problem };

/** The name of a file in schemas/ without ".schema.json", of the engine or of a wing. */
export type SchemaName = keyof Schemas;

/** Maximum number of problems, because a file with completely different content would have thousands. */
const maxProblems = 200;

const folder = packageFile("schemas");
const address = "https://research-ralph.dev/schemas/";

/**
 * The value of `$schema` in a new JSON file that people open, so that their editor checks and completes it. It is never
 * added or changed in an existing file.
 */
export const schemaAddress = (name: SchemaName): string => `${address}${name}.schema.json`;

const require = createRequire(packageFile("package.json"));

/** Ajv takes as long to compile schemas as Node takes to start, so it is loaded only to explain an error. */
export const loadAjv = (): typeof Ajv2020 => (require("ajv/dist/2020.js") as { Ajv2020: typeof Ajv2020 }).Ajv2020;

const validators = new Map<SchemaName, (value: unknown) => boolean>();

/** Whether `value` is valid, checked by the code that scripts/generate-validators.mjs generates from the schema. */
export function isValid(name: SchemaName, value: unknown): boolean {
  let validate = validators.get(name);
  if (validate === undefined) {
    validate = require(join(folder, "validators", `${name}.cjs`)) as (value: unknown) => boolean;
    validators.set(name, validate);
  }
  return validate(value);
}

let ajv: Ajv2020;
/**
 * The address of each list of alternatives in the schemas. Ajv's errors contain the list itself, but only a relative
 * address.
 */
const addresses = new Map<unknown, string>();
/** The field names of each object schema, by the schema's address. */
const fields = new Map<string, readonly string[]>();
/** The target of each $ref, by the address of the $ref. */
const references = new Map<string, string>();

/**
 * The errors of `value` against the schema, in the order of the file, at most 200; empty for a valid value. If the
 * schema has alternatives, only the errors of the alternative that fits best are listed.
 */
export function problemsOf(name: SchemaName, value: unknown): Problem[] {
  return isValid(name, value) ? [] : explain(name, value);
}

/** Like `problemsOf`, but always uses Ajv: the first call is about a hundred times slower. */
export function explain(name: SchemaName, value: unknown): Problem[] {
  const validate = explainerOf(name);
  if (validate(value)) return [];
  const errors = withoutAlternatives(validate.errors ?? []);
  return errors.slice(0, maxProblems).map((error) => wordProblem(error, value));
}

function explainerOf(name: SchemaName): ValidateFunction {
  ajv ??= new (loadAjv())({
    allErrors: true,
    verbose: true,
    strict: false,
    // A test validates the schemas.
    validateSchema: false,
    meta: false,
    code: { optimize: false },
  });
  load(name);
  const compiled = ajv.getSchema(schemaAddress(name));
  if (compiled === undefined) throw new Error(`schemas/${name}.schema.json has another $id than its name says`);
  return compiled;
}

/** Adds a schema and the schemas that it references to Ajv. */
function load(name: SchemaName): void {
  const $id = schemaAddress(name);
  if (ajv.schemas[$id] !== undefined) return;
  const text = readFileSync(join(folder, `${name}.schema.json`), "utf8");
  const schema: AnySchemaObject = JSON.parse(text);
  ajv.addSchema(schema);
  recordAddresses(schema, `${$id}#`);
  for (const [, other] of text.matchAll(/"\$ref":\s*"([a-z-]+)\.schema\.json/g)) load(other as SchemaName);
}

function recordAddresses(node: unknown, at: string): void {
  if (typeof node !== "object" || node === null) return;
  for (const [key, child] of Object.entries(node)) {
    if (key === "anyOf" || key === "oneOf") addresses.set(child, `${at}/${key}`);
    if (key === "$ref") references.set(at, new URL(child, at).href);
    if (key === "properties") fields.set(at, Object.keys(child));
    recordAddresses(child, `${at}/${key}`);
  }
}

/**
 * Ajv reports the errors of every alternative of an anyOf, then the anyOf itself. This keeps only the errors of the
 * alternative that fits best.
 */
function withoutAlternatives(errors: readonly ErrorObject[]): ErrorObject[] {
  const remaining: ErrorObject[] = [];
  for (const error of errors) {
    if (error.keyword !== "anyOf" && error.keyword !== "oneOf") {
      remaining.push(error);
      continue;
    }
    while (remaining.length > 0 && isWithin(remaining.at(-1)?.instancePath ?? "", error.instancePath)) remaining.pop();
    remaining.push(...errorsOfBestAlternative(error));
  }
  return remaining;
}

const isWithin = (path: string, top: string): boolean => path === top || path.startsWith(`${top}/`);

function errorsOfBestAlternative(error: ErrorObject): ErrorObject[] {
  const alternatives = (error.schema as unknown[]).map((_, index) => {
    const at = `${addresses.get(error.schema)}/${index}`;
    const validate = ajv.getSchema(at);
    if (validate === undefined || validate(error.data)) throw new Error(`${at} does not explain why it fails`);
    return { errors: withoutAlternatives(validate.errors ?? []), knownFields: countKnownFields(error.data, at) };
  });
  const typeMatches = alternatives.filter(({ errors }) => !errors.some(isTypeMismatch));
  if (typeMatches.length === 0)
    return [
      joinTypes(
        error,
        alternatives.flatMap(({ errors }) => errors),
      ),
    ];
  // A field with a constant value identifies the alternative.
  const constMatches = typeMatches.filter(({ errors }) => !errors.some(isConstMismatch));
  // Choose the alternative with the most known fields; one misspelled field must not select another alternative.
  const best = (constMatches.length > 0 ? constMatches : typeMatches).reduce((a, b) =>
    b.knownFields > a.knownFields || (b.knownFields === a.knownFields && b.errors.length < a.errors.length) ? b : a,
  );
  return best.errors.map((found) => ({ ...found, instancePath: `${error.instancePath}${found.instancePath}` }));
}

/** Whether an error says that the value has another type than the alternative or than its constant. */
const isTypeMismatch = ({ keyword, instancePath, params, data }: ErrorObject): boolean =>
  instancePath === "" && (keyword === "type" || (keyword === "const" && typeof params.allowedValue !== typeof data));

/** Whether an error says that a constant field of the value, such as `type`, belongs to another alternative. */
const isConstMismatch = ({ keyword, instancePath }: ErrorObject): boolean =>
  keyword === "const" && instancePath.lastIndexOf("/") === 0;

function countKnownFields(value: unknown, at: string): number {
  if (typeof value !== "object" || value === null) return 0;
  const target = references.get(at);
  return target === undefined
    ? (fields.get(at) ?? []).filter((name) => name in value).length
    : countKnownFields(value, target);
}

/** One error for a value whose type no alternative allows. It lists the types and constants of all alternatives. */
function joinTypes(error: ErrorObject, innerErrors: readonly ErrorObject[]): ErrorObject {
  const types = innerErrors.flatMap(({ keyword, params }) =>
    keyword === "type" ? (params.type as string | string[]) : [],
  );
  const values = innerErrors.flatMap(({ keyword, params }) =>
    keyword === "const" ? [params.allowedValue as unknown] : [],
  );
  return { ...error, keyword: "type", params: { type: [...new Set(types)], values } };
}
