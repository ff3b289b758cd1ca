import { ExpectedError } from "../../engine/lib/errors.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { isObject } from "../../engine/lib/json-fields.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { estimateTokens } from "../../engine/lib/tokens.js";
import type { Problem } from "../../engine/storage/schema-check.js";
import type { Field, Rrd } from "../generated/rrd.js";

/** The form of a project: the fields that each reading extracts; none where it has none. */
export const formOf = ({ requirements }: Pick<Rrd, "requirements">): readonly Field[] => requirements.fields ?? [];

/** A field that may have no id yet. */
export interface NewField extends Pick<Field, "name" | "ask" | "type" | "unit" | "choices"> {
  readonly id?: string;
}

export const typeOf = ({ type = "text" }: Pick<Field, "type">): NonNullable<Field["type"]> => type;

/** All fields of a project together, in estimated tokens: every brief of a reading shows them whole. */
const maxFormTokens = 1_000;

const typeNames = ["text", "number", "choice", "date", "list"] as const;

/** "sample size (number, participants): how many were randomised", "design (choice: trial | cohort)". */
const typedForm = new RegExp(
  `^\\s*([^:(]+?)\\s*(?:\\(\\s*(${typeNames.join("|")})\\s*(?:[,:]\\s*([^)]*?)\\s*)?\\)\\s*)?(?::\\s*([\\s\\S]*))?$`,
  "i",
);

/** What a person typed as "sample size: how many participants, per arm", or what is wrong with it, one sentence. */
export function typedField(typed: string): NewField | { readonly problem: string } {
  const [, name = "", type, more = "", ask = ""] = typedForm.exec(oneLine(typed)) ?? withParenthesis(oneLine(typed));
  if (!/[\p{L}\p{N}]/u.test(name))
    return {
      problem: `'${oneLine(typed)}' has no name; write the name of the field, a colon and what to extract, such as 'sample size: how many participants, per arm'`,
    };
  const kind = type?.toLowerCase() as Field["type"];
  const choices = kind === "choice" ? more.split("|").map((each) => each.trim()) : [];
  if (kind === "choice" && choices.filter((each) => each !== "").length < 2)
    return { problem: `'${name}' names no choices; write them as in 'design (choice: trial | cohort | other)'` };
  return {
    name,
    ...(ask === "" ? {} : { ask }),
    ...(kind === undefined || kind === "text" ? {} : { type: kind }),
    ...(kind === "number" && more !== "" ? { unit: more } : {}),
    ...(kind === "choice" ? { choices: choices.filter((each) => each !== "") } : {}),
  };
}

/** A name with a parenthesis that names no type, up to the first colon. */
function withParenthesis(typed: string): readonly (string | undefined)[] {
  const at = typed.indexOf(":");
  return at === -1
    ? ["", typed.trim()]
    : ["", typed.slice(0, at).trim(), undefined, undefined, typed.slice(at + 1).trim()];
}

/**
 * The fields of a form in YAML or JSON: a list, or a list under `fields`, of fields as rrd.json has them or as they are
 * typed. Or what is wrong with it, one sentence.
 */
export function fieldsIn(value: unknown): readonly NewField[] | { readonly problem: string } {
  const list = isObject(value) ? (value as Record<string, unknown>)["fields"] : value;
  if (!Array.isArray(list)) return { problem: "it must be a list of fields, or have one under 'fields'" };
  const fields: NewField[] = [];
  for (const [index, each] of list.entries()) {
    const field = typeof each === "string" ? typedField(each) : isObject(each) ? withName(each) : undefined;
    if (field === undefined || !("name" in field)) {
      const why =
        field === undefined
          ? "needs a name, and a type of text, number, choice (with choices), date or list"
          : `is wrong: ${field.problem}`;
      return { problem: `its field ${index + 1} ${why}` };
    }
    fields.push(field);
  }
  return fields;
}

/** An object with a name; a single pair such as `sample size: how many` is a name with what to ask. */
function withName(value: object): NewField | undefined {
  if ("name" in value) return asWritten(value as Record<string, unknown>);
  const [pair, ...others] = Object.entries(value as Record<string, unknown>);
  if (pair === undefined || others.length > 0 || typeof pair[1] !== "string") return undefined;
  const field = typedField(`${pair[0]}: ${pair[1]}`);
  return "name" in field ? field : undefined;
}

/** A field of a file with what rrd.json has of one; undefined where something is of another type. */
function asWritten({ id, name, ask, type = "text", unit, choices }: Record<string, unknown>): NewField | undefined {
  const isText = (each: unknown) => each === undefined || typeof each === "string";
  const isList = choices === undefined || (Array.isArray(choices) && choices.every((each) => isScalar(each)));
  if (typeof name !== "string" || ![id, ask, unit].every(isText) || !typeNames.some((each) => each === type) || !isList)
    return undefined;
  const settings = { id, ask, unit, type: type === "text" ? undefined : type, choices: choices?.map(String) };
  return { name: oneLine(name), ...withoutUndefined(settings) } as NewField;
}

/** YAML reads `yes` as a truth and `2024` as a number. */
const isScalar = (each: unknown): boolean => ["string", "number", "boolean"].includes(typeof each);

/** These fields behind those of a form, each with an id of its own; one of the same name takes the former's place. */
export function formWith(form: readonly Field[], added: readonly NewField[]): Field[] {
  const fields = [...form];
  for (const { id, ...field } of added) {
    const at = fields.findIndex(({ name }) => sameName(name) === sameName(field.name));
    const free = freeId(id ?? idOf(field.name), fields, at);
    if (at === -1) fields.push({ id: free, ...field });
    else fields[at] = { id: fields[at]?.id ?? free, ...field };
  }
  return fields;
}

const sameName = (name: string): string => oneLine(name).normalize("NFKC").toLowerCase();

/** "sample-size" of "Sample size". */
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

function freeId(wanted: string, fields: readonly Field[], but: number): string {
  const taken = new Set(fields.flatMap(({ id }, index) => (index === but ? [] : id)));
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? wanted : `${wanted}-${number}`;
    if (!taken.has(id)) return id;
  }
}

/**
 * What is wrong with the form of an rrd.json besides its shape: two fields of one id or name, a choice without choices,
 * more words than a brief has room for. Pointers are into rrd.json.
 */
export function formProblems(value: unknown): Problem[] {
  const { requirements } = fieldsOf(value);
  const { fields } = fieldsOf(requirements);
  if (!Array.isArray(fields)) return [];
  const problems: Problem[] = [];
  const seen = { id: new Map<string, number>(), name: new Map<string, number>() };
  for (const [index, each] of fields.map(fieldsOf).entries()) {
    for (const key of ["id", "name"] as const) {
      const said = each[key];
      if (typeof said !== "string") continue;
      const first = seen[key].get(sameName(said));
      if (first === undefined) seen[key].set(sameName(said), index);
      else
        problems.push({
          pointer: `${pointer}/${index}/${key}`,
          message: `"${said}" is the ${key} of ${pointer}/${first} too`,
          hint: "Remove one of them.",
        });
    }
    if (each["type"] === "choice" && !Array.isArray(each["choices"]))
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
      message: `have about ${tokens} tokens together; ${maxFormTokens.toLocaleString("en")} are the most, because every brief of a reading shows them`,
      hint: "Shorten them.",
    });
  return problems;
}

const pointer = "/requirements/fields";
const fieldsOf = (value: unknown): Record<string, unknown> =>
  isObject(value) ? (value as Record<string, unknown>) : {};

/** A field in words, as it is typed: "dose (number, mg): of the first arm". */
export function fieldText({ name, ask = "", type = "text", unit, choices = [] }: Field): string {
  const more = type === "choice" ? `: ${choices.join(" | ")}` : unit === undefined ? "" : `, ${unit}`;
  return `${name}${type === "text" ? "" : ` (${type}${more})`}${ask === "" ? "" : `: ${ask}`}`;
}

/** The field of that name or id. @throws ExpectedError (exit code 2) where no field has it. */
export function fieldNamed(form: readonly Field[], typed: string): Field {
  const folded = oneLine(typed).trim().toLowerCase();
  const field = form.find(({ id, name }) => id.toLowerCase() === folded || name.toLowerCase() === folded);
  if (field !== undefined) return field;
  throw new ExpectedError(
    form.length === 0
      ? `There is no field '${oneLine(typed)}'; the project has no fields.`
      : `There is no field '${oneLine(typed)}'; the fields are ${form.map((each) => each.name).join(", ")}.`,
    2,
  );
}
