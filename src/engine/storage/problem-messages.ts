import type { ErrorObject } from "ajv/dist/2020.js";
import { nearest } from "../lib/nearest.js";
import { oneLine } from "../lib/sanitise.js";
import { isObject } from "../lib/json-fields.js";

/** Something wrong in a file, for the person who has to mend it. */
export interface Problem {
  /** JSON pointer to the place, such as /items/3/name; empty for the whole file. */
  readonly pointer: string;
  /** What is wrong, without a full stop. */
  readonly message: string;
  /** What to write instead, where that is known. */
  readonly hint?: string;
  /** Something that has to be there is not, or is empty. */
  readonly missing?: true;
  /** The name of a field that nothing is known of. */
  readonly unknown?: string;
}

/** Words one error of Ajv's (with `verbose: true`) as a problem of the file whose content is `root`. */
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
      const near = typeof data === "string" ? nearest(data, allowed) : undefined;
      const message = `must be one of ${allowed.map(quote).join(", ")}, is ${describe(data)}`;
      return withHint({ pointer, message }, near === undefined ? undefined : `Write ${quote(near)}.`);
    }
    case "required": {
      const name = String(params.missingProperty);
      const near = isObject(data) ? nearest(name, Object.keys(data)) : undefined;
      // A letter of another script, or one that is not shown, looks the same.
      const rename =
        near === undefined
          ? undefined
          : shownAs(near) === shownAs(name)
            ? `Type ${quote(name)} again: its name in the file holds a character that only looks right.`
            : `Rename ${quote(near)} to ${quote(name)}.`;
      return withHint(
        { pointer, message: `${quote(name)} is missing`, missing: true },
        rename ?? (root === data ? undefined : `Add ${quote(name)}.`),
      );
    }
    case "additionalProperties": {
      const name = String(params.additionalProperty);
      const known = Object.keys((error.parentSchema as { properties?: object } | undefined)?.properties ?? {});
      const near = nearest(name, known);
      return withHint(
        { pointer, message: `${quote(name)} is not a known field`, unknown: name },
        near === undefined ? "Remove it." : `Rename it to ${quote(near)}.`,
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
    case "pattern":
      return { pointer, message: `${describe(data)} does not match ${params.pattern}` };
    default:
      return { pointer, message: error.message ?? keyword };
  }
}

const withHint = (problem: Problem, hint: string | undefined): Problem =>
  hint === undefined ? problem : { ...problem, hint };

const quote = (text: string): string => `"${text}"`;

/** A name as a reader sees it. */
const shownAs = (name: string): string => oneLine(name).normalize("NFKC").trim();

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

/** A value as a person would name it, never longer than a line. */
export function describe(value: unknown): string {
  if (typeof value === "string") return quote(value.length > 60 ? `${value.slice(0, 57)}…` : value);
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return isObject(value) ? "an object" : String(value);
}

function hintForType(types: readonly string[], data: unknown): string | undefined {
  const wants = (type: string) => types.includes(type);
  if (typeof data === "string") {
    const trimmed = data.trim();
    if ((wants("number") || wants("integer")) && /^-?\d+(\.\d+)?$/.test(trimmed))
      return `Write ${trimmed} without quotes.`;
    if (wants("boolean") && /^(true|false)$/i.test(trimmed)) return `Write ${trimmed.toLowerCase()} without quotes.`;
    if (wants("null") && trimmed === "null") return "Write null without quotes.";
    if (wants("array")) return `Put it in brackets: ["…"].`;
  }
  if (typeof data === "number" && wants("string")) return `Write "${data}", with quotes.`;
  if (isObject(data) && wants("array")) return "Put it in brackets: [{…}].";
  return data === null ? "Leave the field out, or give it a value." : undefined;
}
