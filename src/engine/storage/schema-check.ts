import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Ajv2020, AnySchemaObject, ErrorObject, ValidateFunction } from "ajv/dist/2020.js";
import { type Problem, wordProblem } from "./problem-messages.js";
import type { Schemas } from "../generated/schemas.js";
import { packageFile } from "../lib/package-root.js";

export type { Problem };

/** The name of a file in schemas/, without its ending: one of the engine's, or of those that a wing has added. */
export type SchemaName = keyof Schemas;

/** More than this many problems help nobody; a file of another kind altogether would print thousands. */
const maxProblems = 200;

const folder = packageFile("schemas");
const address = "https://research-ralph.dev/schemas/";

const require = createRequire(packageFile("package.json"));

/** Ajv compiles schemas, which takes as long as Node's own start: loaded only where it has something to say. */
export const loadAjv = (): typeof Ajv2020 => (require("ajv/dist/2020.js") as { Ajv2020: typeof Ajv2020 }).Ajv2020;

const validators = new Map<SchemaName, (value: unknown) => boolean>();

/** Whether `value` fits the schema: by code that scripts/generate-validators.mjs wrote of it. */
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
 * Where each list of alternatives stands: Ajv's errors hold the list itself, but its address only within a part of the
 * schema.
 */
const addresses = new Map<unknown, string>();
/** The fields of each object described anywhere, by the address of its description. */
const fields = new Map<string, readonly string[]>();
/** Where each $ref leads, by the address it stands at. */
const references = new Map<string, string>();

/**
 * Every way in which `value` breaks the schema, in the order of the file, at most 200; empty when it is valid.
 * Of alternatives only the problems of the one that fits best are named.
 */
export function problemsOf(name: SchemaName, value: unknown): Problem[] {
  return isValid(name, value) ? [] : explain(name, value);
}

/** As `problemsOf`, by Ajv alone: some hundred times slower at the first call. */
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
    // A test does, once.
    validateSchema: false,
    meta: false,
    code: { optimize: false },
  });
  load(name);
  const compiled = ajv.getSchema(`${address}${name}.schema.json`);
  if (compiled === undefined) throw new Error(`schemas/${name}.schema.json has another $id than its name says`);
  return compiled;
}

/** Makes a schema, and those it refers to, known to Ajv. */
function load(name: SchemaName): void {
  const $id = `${address}${name}.schema.json`;
  if (ajv.schemas[$id] !== undefined) return;
  const text = readFileSync(join(folder, `${name}.schema.json`), "utf8");
  const schema: AnySchemaObject = JSON.parse(text);
  ajv.addSchema(schema);
  note(schema, `${$id}#`);
  for (const [, other] of text.matchAll(/"\$ref":\s*"([a-z-]+)\.schema\.json/g)) load(other as SchemaName);
}

function note(node: unknown, at: string): void {
  if (typeof node !== "object" || node === null) return;
  for (const [key, child] of Object.entries(node)) {
    if (key === "anyOf" || key === "oneOf") addresses.set(child, `${at}/${key}`);
    if (key === "$ref") references.set(at, new URL(child, at).href);
    if (key === "properties") fields.set(at, Object.keys(child));
    note(child, `${at}/${key}`);
  }
}

/**
 * Ajv reports the errors of every alternative of an anyOf, then the anyOf itself. Kept are those of the alternative
 * that fits best.
 */
function withoutAlternatives(errors: readonly ErrorObject[]): ErrorObject[] {
  const kept: ErrorObject[] = [];
  for (const error of errors) {
    if (error.keyword !== "anyOf" && error.keyword !== "oneOf") {
      kept.push(error);
      continue;
    }
    while (kept.length > 0 && isAtOrBelow(kept.at(-1)?.instancePath ?? "", error.instancePath)) kept.pop();
    kept.push(...errorsOfBestAlternative(error));
  }
  return kept;
}

const isAtOrBelow = (path: string, top: string): boolean => path === top || path.startsWith(`${top}/`);

function errorsOfBestAlternative(error: ErrorObject): ErrorObject[] {
  const alternatives = (error.schema as unknown[]).map((_, index) => {
    const at = `${addresses.get(error.schema)}/${index}`;
    const validate = ajv.getSchema(at);
    if (validate === undefined || validate(error.data)) throw new Error(`${at} does not explain why it fails`);
    return { errors: withoutAlternatives(validate.errors ?? []), known: countKnown(error.data, at) };
  });
  const fitting = alternatives.filter(({ errors }) => !errors.some(isOfAnotherType));
  if (fitting.length === 0)
    return [
      joinTypes(
        error,
        alternatives.flatMap(({ errors }) => errors),
      ),
    ];
  // A field with one value says which alternative is meant.
  const meant = fitting.filter(({ errors }) => !errors.some(isOfAnother));
  // Of two objects, the one whose fields the value has; a slip in one field must not make it look like the other.
  const best = (meant.length > 0 ? meant : fitting).reduce((a, b) =>
    b.known > a.known || (b.known === a.known && b.errors.length < a.errors.length) ? b : a,
  );
  return best.errors.map((found) => ({ ...found, instancePath: `${error.instancePath}${found.instancePath}` }));
}

/** Whether an error says that the value is of another type than the alternative, which may be a single value. */
const isOfAnotherType = ({ keyword, instancePath, params, data }: ErrorObject): boolean =>
  instancePath === "" && (keyword === "type" || (keyword === "const" && typeof params.allowedValue !== typeof data));

/** Whether an error says that a field of the value itself, such as its type, has the value of another alternative. */
const isOfAnother = ({ keyword, instancePath }: ErrorObject): boolean =>
  keyword === "const" && instancePath.lastIndexOf("/") === 0;

function countKnown(value: unknown, at: string): number {
  if (typeof value !== "object" || value === null) return 0;
  const target = references.get(at);
  return target === undefined
    ? (fields.get(at) ?? []).filter((name) => name in value).length
    : countKnown(value, target);
}

/** When no alternative takes this type of value, the types and single values of all of them are what is allowed. */
function joinTypes(error: ErrorObject, inner: readonly ErrorObject[]): ErrorObject {
  const types = inner.flatMap(({ keyword, params }) => (keyword === "type" ? (params.type as string | string[]) : []));
  const values = inner.flatMap(({ keyword, params }) => (keyword === "const" ? [params.allowedValue as unknown] : []));
  return { ...error, keyword: "type", params: { type: [...new Set(types)], values } };
}
