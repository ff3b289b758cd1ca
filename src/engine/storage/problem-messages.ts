import type { ErrorObject } from "ajv/dist/2020.js";
import { nearestCandidate } from "../lib/nearest.js";
import { oneLine } from "../lib/sanitise.js";
import { isObject } from "../lib/json-fields.js";

/** An error in a file, described for the person who corrects it. */
export interface Problem {
  /** JSON pointer to the place, such as /items/3/name; empty for the whole file. */
  readonly pointer: string;
  /** The line of that place, from 1, if the text is known. */
  readonly line?: number;
  /** What is wrong, without a full stop. */
  readonly message: string;
  /** What to write instead, if that is known. */
  readonly hint?: string;
  /** A required value is absent or empty. */
  readonly missing?: true;
  /** The name of an unknown field. */
  readonly unknown?: string;
}

/** Turns one error of Ajv (with `verbose: true`) into a problem of the file whose content is `root`. */
export function wordProblem(error: ErrorObject, root: unknown): Problem {
  const { keyword, params, data } = error;
  const pointer = error.instancePath;
  switch (keyword) {
    case "type": {
      const types = [params.type as string | string[]].flat();
      const values = ((params.values ?? []) as unknown[]).map((value) => JSON.stringify(value));
      return withHint(
        {
          pointer,
          message: `must be ${anyOf([...types.map(nameType), ...values])}, is ${describe(data)}`,
          ...(data === null ? { missing: true } : {}),
        },
        hintForType(types, data),
      );
    }
    case "enum": {
      const allowed = (params.allowedValues as unknown[]).map(String);
      const nearestName = typeof data === "string" ? nearestCandidate(data, allowed) : undefined;
      const message = `must be one of ${allowed.map(quote).join(", ")}, is ${describe(data)}`;
      return withHint({ pointer, message }, nearestName === undefined ? undefined : `Write ${quote(nearestName)}.`);
    }
    case "required": {
      const name = String(params.missingProperty);
      const nearestName = isObject(data) ? nearestCandidate(name, Object.keys(data)) : undefined;
      // A name with a letter of another script, or with an invisible character, looks the same.
      const renameHint =
        nearestName === undefined
          ? undefined
          : visibleForm(nearestName) === visibleForm(name)
            ? `Type ${quote(name)} again: its name in the file holds a character that only looks right.`
            : `Rename ${quote(nearestName)} to ${quote(name)}.`;
      return withHint(
        { pointer, message: `${quote(name)} is missing`, missing: true },
        renameHint ?? (root === data ? undefined : `Add ${quote(name)}.`),
      );
    }
    case "additionalProperties": {
      const name = String(params.additionalProperty);
      const knownNames = Object.keys((error.parentSchema as { properties?: object } | undefined)?.properties ?? {});
      const nearestName = nearestCandidate(name, knownNames);
      return withHint(
        { pointer, message: `${quote(name)} is not a known field`, unknown: name },
        nearestName === undefined ? "Remove it." : `Rename it to ${quote(nearestName)}.`,
      );
    }
    case "minimum":
      return { pointer, message: `must be at least ${params.limit}, is ${describe(data)}` };
    case "maximum":
      return { pointer, message: `must be at most ${params.limit}, is ${describe(data)}` };
    case "minLength":
      return {
        pointer,
        missing: true,
        message: params.limit === 1 ? "must not be empty" : `must have at least ${params.limit} characters`,
      };
    case "maxLength":
      return { pointer, message: `must have at most ${params.limit} characters, has ${String(data).length}` };
    case "minItems":
      return { pointer, message: `must hold at least ${params.limit}, holds ${lengthOf(data)}`, missing: true };
    case "maxItems":
      return { pointer, message: `must hold at most ${params.limit}, holds ${lengthOf(data)}` };
    case "const":
      return { pointer, message: `must be ${JSON.stringify(params.allowedValue)}, is ${describe(data)}` };
    case "exclusiveMinimum":
      return { pointer, message: `must be above ${params.limit}, is ${describe(data)}` };
    case "exclusiveMaximum":
      return { pointer, message: `must be below ${params.limit}, is ${describe(data)}` };
    case "pattern": {
      const [example] = (error.parentSchema as { examples?: unknown[] } | undefined)?.examples ?? [];
      const form = example === undefined ? `match ${params.pattern}` : `look like ${describe(example)}`;
      return { pointer, message: `must ${form}, is ${describe(data)}` };
    }
    case "uniqueItems":
      return {
        pointer,
        message: `has the same entry twice, at ${params.j} and ${params.i}`,
        hint: "Remove one of them.",
      };
    case "minProperties":
      return { pointer, message: `must have at least ${params.limit} fields, has ${fieldsOf(data)}`, missing: true };
    case "maxProperties":
      return { pointer, message: `must have at most ${params.limit} fields, has ${fieldsOf(data)}` };
    // Ajv also reports a separate error for the name, for example that it does not match a pattern.
    case "propertyNames":
      return { pointer, message: `${quote(String(params.propertyName))} can't be a name here` };
    case "not":
      return isObject(data)
        ? { pointer, message: "has fields that don't go together" }
        : {
            pointer,
            message: `can't be ${forbiddenValues(error.schema)}${"const" in Object(error.schema) ? "" : `, is ${describe(data)}`}`,
          };
    default:
      return { pointer, message: `breaks the rule "${keyword}" of its schema, is ${describe(data)}` };
  }
}

const withHint = (problem: Problem, hint: string | undefined): Problem =>
  hint === undefined ? problem : { ...problem, hint };

const quote = (text: string): string => `"${text}"`;

/** A name as it appears on the screen. */
const visibleForm = (name: string): string => oneLine(name).normalize("NFKC").trim();

/** The values that a schema under "not" stands for. */
function forbiddenValues(schema: unknown): string {
  const { const: single, minimum, maximum } = Object(schema) as Record<string, unknown>;
  return single === undefined ? `from ${String(minimum)} to ${String(maximum)}` : JSON.stringify(single);
}

const fieldsOf = (value: unknown): number => (isObject(value) ? Object.keys(value).length : 0);

const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 0);

function nameType(type: string): string {
  if (type === "null") return "null";
  if (type === "integer") return "a whole number";
  if (type === "array") return "a list";
  return type === "object"
    ? "an object"
    : type === "boolean"
      ? "true or false"
      : type === "string"
        ? "a text"
        : `a ${type}`;
}

function anyOf(words: readonly string[]): string {
  return words.length < 2 ? (words[0] ?? "something else") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

/** A short description of a value for a person, never longer than a line. */
export function describe(value: unknown): string {
  if (typeof value === "string") return quote(value.length > 60 ? `${value.slice(0, 57)}…` : value);
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return isObject(value) ? "an object" : String(value);
}

function hintForType(types: readonly string[], data: unknown): string | undefined {
  const isAllowed = (type: string) => types.includes(type);
  if (typeof data === "string") {
    const trimmed = data.trim();
    if ((isAllowed("number") || isAllowed("integer")) && /^-?\d+(\.\d+)?$/.test(trimmed))
      return `Write ${trimmed} without quotes.`;
    if (isAllowed("boolean") && /^(true|false)$/i.test(trimmed))
      return `Write ${trimmed.toLowerCase()} without quotes.`;
    if (isAllowed("null") && trimmed === "null") return "Write null without quotes.";
    if (isAllowed("array")) return `Put it in brackets: ["…"].`;
  }
  if (typeof data === "number" && isAllowed("string")) return `Write "${data}", with quotes.`;
  if (isObject(data) && isAllowed("array")) return "Put it in brackets: [{…}].";
  return data === null ? "Leave the field out, or give it a value." : undefined;
}
