import { ExpectedError } from "../../engine/lib/errors.js";
import { nearestCandidate } from "../../engine/lib/nearest.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { fieldsOf, isObject } from "../../engine/lib/json-fields.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { estimateTokens } from "../../engine/lib/tokens.js";
import type { Problem } from "../../engine/storage/schema-check.js";
import type { Field, Rrd } from "../generated/rrd.js";

/** The form of a project: the fields that each reading extracts; may be empty. */
export const formOf = ({ requirements }: Pick<Rrd, "requirements">): readonly Field[] => requirements.fields ?? [];

/** A field, possibly without an id. */
export interface NewField extends Pick<Field, "name" | "ask" | "type" | "unit" | "choices"> {
  readonly id?: string;
}

export const typeOf = ({ type = "text" }: Pick<Field, "type">): NonNullable<Field["type"]> => type;

/** Maximum estimated tokens of all fields together, because every brief of a reading contains all of them. */
const maxFormTokens = 1_000;

const typeNames = ["text", "number", "choice", "date", "list"] as const;

/** Matches "sample size (number, participants): how many were randomised" and "design (choice: trial | cohort)". */
const fieldPattern = new RegExp(
  `^\\s*([^:(]+?)\\s*(?:\\(\\s*(${typeNames.join("|")})\\s*(?:[,:]\\s*([^)]*?)\\s*)?\\)\\s*)?(?::\\s*([\\s\\S]*))?$`,
  "i",
);

/** Parses a field such as "sample size: how many participants, per arm". A problem is a clause about what is wrong. */
export function parseField(typedText: string): NewField | { readonly problem: string } {
  const [, name = "", type, detail = "", ask = ""] =
    fieldPattern.exec(oneLine(typedText)) ?? splitAtColon(oneLine(typedText));
  if (!/[\p{L}\p{N}]/u.test(name))
    return {
      problem: `'${oneLine(typedText)}' has no name; write the name of the field, a colon and what to extract, such as 'sample size: how many participants, per arm'`,
    };
  const unknownType = type === undefined ? mistypedType(oneLine(typedText)) : undefined;
  if (unknownType !== undefined)
    return {
      problem: `'${unknownType}' in '${oneLine(typedText)}' is not a type; the types are ${typeNames.join(", ")}, as in 'dose (number, mg): of the first arm' and 'design (choice: trial | cohort)'`,
    };
  const fieldType = type?.toLowerCase() as Field["type"];
  const choices = fieldType === "choice" ? detail.split("|").map((item) => item.trim()) : [];
  if (fieldType === "choice" && choices.filter((item) => item !== "").length < 2)
    return { problem: `'${name}' names no choices; write them as in 'design (choice: trial | cohort | other)'` };
  return {
    name,
    ...(ask === "" ? {} : { ask }),
    ...(fieldType === undefined || fieldType === "text" ? {} : { type: fieldType }),
    ...(fieldType === "number" && detail !== "" ? { unit: detail } : {}),
    ...(fieldType === "choice" ? { choices: choices.filter((item) => item !== "") } : {}),
  };
}

/**
 * The first word in the brackets after a name, if it was meant as a type: it resembles one, or a comma or a colon
 * follows it, as in "recall (percentage, %)". Undefined for other brackets, as in "follow-up (in months)".
 */
function mistypedType(typed: string): string | undefined {
  const [, word, end] = /^[^:(]*\(\s*([\p{L}\p{N}]+)\s*([,:)])/u.exec(typed) ?? [];
  return word !== undefined && (end !== ")" || nearestCandidate(word, typeNames) !== undefined) ? word : undefined;
}

/** Splits a text at the first colon into name and question, in the order of `fieldPattern`'s groups. */
function splitAtColon(typedText: string): readonly (string | undefined)[] {
  const colon = typedText.indexOf(":");
  return colon === -1
    ? ["", typedText.trim()]
    : ["", typedText.slice(0, colon).trim(), undefined, undefined, typedText.slice(colon + 1).trim()];
}

/**
 * The fields of a parsed form file: a list, or a list under `fields`. A field is an object as in rrd.json, or a text
 * for parseField. A problem is a clause about what is wrong.
 */
export function fieldsIn(value: unknown): readonly NewField[] | { readonly problem: string } {
  const list = isObject(value) ? value["fields"] : value;
  if (!Array.isArray(list)) return { problem: "it must be a list of fields, or have one under 'fields'" };
  const fields: NewField[] = [];
  for (const [index, item] of list.entries()) {
    const field = typeof item === "string" ? parseField(item) : isObject(item) ? fieldOfEntry(item) : undefined;
    if (field === undefined || !("name" in field)) {
      const reason =
        field === undefined
          ? "needs a name, and a type of text, number, choice (with choices), date or list"
          : `is wrong: ${field.problem}`;
      return { problem: `its field ${index + 1} ${reason}` };
    }
    fields.push(field);
  }
  return fields;
}

/** The field of an object. A single pair such as `sample size: how many` is a name and a question. */
function fieldOfEntry(value: object): NewField | undefined {
  if ("name" in value) return fieldOfObject(value as Record<string, unknown>);
  const [pair, ...otherPairs] = Object.entries(value as Record<string, unknown>);
  if (pair === undefined || otherPairs.length > 0 || typeof pair[1] !== "string") return undefined;
  const field = parseField(`${pair[0]}: ${pair[1]}`);
  return "name" in field ? field : undefined;
}

/** The field of an object with the keys of rrd.json; undefined if a value has another type. */
function fieldOfObject({ id, name, ask, type = "text", unit, choices }: Record<string, unknown>): NewField | undefined {
  const isText = (item: unknown) => item === undefined || typeof item === "string";
  const isList = choices === undefined || (Array.isArray(choices) && choices.every((item) => isScalar(item)));
  if (typeof name !== "string" || ![id, ask, unit].every(isText) || !typeNames.some((item) => item === type) || !isList)
    return undefined;
  const settings = { id, ask, unit, type: type === "text" ? undefined : type, choices: choices?.map(String) };
  return { name: oneLine(name), ...withoutUndefined(settings) } as NewField;
}

/** YAML parses a choice `yes` as a boolean and `2024` as a number. */
const isScalar = (item: unknown): boolean => ["string", "number", "boolean"].includes(typeof item);

/** The form with these fields added. A field with the same name replaces the earlier one and keeps its id. */
export function formWith(form: readonly Field[], newFields: readonly NewField[]): Field[] {
  const fields = [...form];
  for (const { id, ...field } of newFields) {
    const index = fields.findIndex(({ name }) => normalName(name) === normalName(field.name));
    const newId = unusedId(id ?? idOf(field.name), fields, index);
    if (index === -1) fields.push({ id: newId, ...field });
    else fields[index] = { id: fields[index]?.id ?? newId, ...field };
  }
  return fields;
}

const normalName = (name: string): string => oneLine(name).normalize("NFKC").toLowerCase();

/** An id such as "sample-size" for the name "Sample size". */
const idOf = (name: string): string =>
  (
    name
      .normalize("NFKD")
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? ["field"]
  )
    .join("-")
    .slice(0, 36)
    .replace(/-$/, "");

function unusedId(baseId: string, fields: readonly Field[], ownIndex: number): string {
  const usedIds = new Set(fields.flatMap(({ id }, index) => (index === ownIndex ? [] : id)));
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? baseId : `${baseId}-${number}`;
    if (!usedIds.has(id)) return id;
  }
}

/**
 * Problems of the form in an rrd.json that the schema does not find: two fields with one id or name, a choice without
 * choices, or too many words for a brief. Pointers are into rrd.json.
 */
export function formProblems(value: unknown): Problem[] {
  const { requirements } = fieldsOf(value);
  const { fields } = fieldsOf(requirements);
  if (!Array.isArray(fields)) return [];
  const problems: Problem[] = [];
  const firstIndexes = { id: new Map<string, number>(), name: new Map<string, number>() };
  for (const [index, item] of fields.map(fieldsOf).entries()) {
    for (const key of ["id", "name"] as const) {
      const text = item[key];
      if (typeof text !== "string") continue;
      const first = firstIndexes[key].get(normalName(text));
      if (first === undefined) firstIndexes[key].set(normalName(text), index);
      else
        problems.push({
          pointer: `${pointer}/${index}/${key}`,
          message: `"${text}" is the ${key} of ${pointer}/${first} too`,
          hint: "Remove one of them.",
        });
    }
    if (item["type"] === "choice" && !Array.isArray(item["choices"]))
      problems.push({
        pointer: `${pointer}/${index}`,
        message: "is a choice without choices",
        hint: 'Add "choices", a list of the values that it may have.',
      });
  }
  const tokens = estimateTokens(JSON.stringify(fields));
  if (tokens > maxFormTokens)
    problems.push({
      pointer,
      message: `have about ${tokens} tokens together; at most ${maxFormTokens.toLocaleString("en")} are allowed, because every brief of a reading shows them`,
      hint: "Shorten them.",
    });
  return problems;
}

const pointer = "/requirements/fields";

/** A field in the format of parseField: "dose (number, mg): of the first arm". */
export function fieldText({ name, ask = "", type = "text", unit, choices = [] }: Field): string {
  const detail = type === "choice" ? `: ${choices.join(" | ")}` : unit === undefined ? "" : `, ${unit}`;
  return `${name}${type === "text" ? "" : ` (${type}${detail})`}${ask === "" ? "" : `: ${ask}`}`;
}

/** The field with this name or id. @throws ExpectedError (exit code 2) if there is no such field. */
export function fieldNamed(form: readonly Field[], typedText: string): Field {
  const normalInput = oneLine(typedText).trim().toLowerCase();
  const field = form.find(({ id, name }) => id.toLowerCase() === normalInput || name.toLowerCase() === normalInput);
  if (field !== undefined) return field;
  throw new ExpectedError(
    form.length === 0
      ? `There is no field '${oneLine(typedText)}'; the project has no fields.`
      : `There is no field '${oneLine(typedText)}'; the fields are ${form.map((item) => item.name).join(", ")}.`,
    2,
  );
}
