// A JSON Schema as tables of a page.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const code = (value) => `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
const nameOf = (ref) => ref.split("/").at(-1);
const anchor = (name) => `[${name}](#${name.toLowerCase()})`;
const cell = (text) => text.replaceAll("|", "\\|").replaceAll("\n", " ");

/** A definition with fields can have a section of its own; the others are said in place. */
const hasFields = (schema) => schema.properties !== undefined || schema.additionalProperties?.properties !== undefined;

/** The type in words, such as "list of paper" or "0 to 5, or null". */
function typeOf(schema, all) {
  if (schema.$ref !== undefined) {
    const name = nameOf(schema.$ref);
    const target = all.$defs[name];
    if (!hasFields(target)) return typeOf(target, all);
    return all.shown.has(name) ? anchor(name) : name;
  }
  // A file may say false, the command line "false".
  if (schema.enum !== undefined) return [...new Set(schema.enum.map(code))].join(", ");
  if (schema.const !== undefined) return code(schema.const);
  if (schema.oneOf !== undefined) return schema.oneOf.map((part) => typeOf(part, all)).join(", ");
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map((part) => typeOf(part, all)))].join(" or ");
  const types = [schema.type].flat();
  return types.map((type) => (type === "null" ? "null" : words(type, schema, all))).join(" or ");
}

function words(type, schema, all) {
  if (type === "array") return schema.items === undefined ? "list" : `list of ${typeOf(schema.items, all)}`;
  if (type === "number" || type === "integer") {
    const { minimum, maximum, exclusiveMinimum } = schema;
    const name = type === "integer" ? "whole number" : "number";
    if (minimum !== undefined && maximum !== undefined) return `${name}, ${minimum} to ${maximum}`;
    if (minimum !== undefined) return `${name}, at least ${minimum}`;
    return exclusiveMinimum === undefined ? name : `${name}, above ${exclusiveMinimum}`;
  }
  if (type === "object" && typeof schema.additionalProperties === "object")
    return `map to ${typeOf(schema.additionalProperties, all)}`;
  return { string: "text", boolean: "true or false", object: "object" }[type] ?? type;
}

const descriptionOf = (schema, all) =>
  schema.description ?? (schema.$ref === undefined ? undefined : all.$defs[nameOf(schema.$ref)]?.description) ?? "";
// A browser would drop <name> as an unknown tag.
const describe = (schema, all) => descriptionOf(schema, all).replaceAll("<", "&lt;");

/** A schema, or the one of its alternatives that has fields. */
const withFields = (schema) =>
  [schema, ...(schema?.anyOf ?? []), ...(schema?.oneOf ?? [])].find((each) => each?.properties !== undefined);

/** Rows of a table of fields; a nested object's fields follow it as `outer.inner`. */
function rows(schema, all, prefix = "") {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = prefix + name;
    const must = schema.required?.includes(name) ? ", **required**" : "";
    const standard = field.default === undefined ? "" : ` Default: ${code(field.default)}.`;
    const named = withFields(field.additionalProperties);
    const listed = withFields(field.items);
    const inner = named ?? listed ?? withFields(field) ?? field;
    const step = named !== undefined ? ".<name>." : listed !== undefined ? "[]." : ".";
    return [
      `| \`${path}\` | ${cell(typeOf(field, all))}${must} | ${cell(describe(field, all) + standard)} |`,
      ...rows(inner, all, path + step),
    ];
  });
}

const table = (schema, all) => ["| field | type | meaning |", "| --- | --- | --- |", ...rows(schema, all)].join("\n");

/**
 * The tables of a page: one of the fields of a schema, and one for each definition with fields, under headings of the
 * third level. `schemas/rrd.schema.json: paper seed` shows of its definitions these alone.
 */
export function schemaTables(root, source) {
  const [path, chosen] = source.split(": ");
  const text = readFileSync(join(root, path), "utf8");
  const schema = JSON.parse(text);
  // Parts of a schema that others share are shown with it.
  for (const [, other, name] of text.matchAll(/"([a-z-]+\.schema\.json)#\/\$defs\/(\w+)"/g))
    share(schema.$defs, name, JSON.parse(readFileSync(join(root, "schemas", other), "utf8")).$defs);
  const parts = Object.entries(schema.$defs ?? {}).filter(
    ([name, part]) => hasFields(part) && (chosen === undefined || chosen.split(" ").includes(name)),
  );
  const all = { ...schema, shown: new Set(parts.map(([name]) => name)) };
  const sections = parts.map(
    ([name, part]) =>
      `### ${name}\n\n${part.description === undefined ? "" : `${part.description}\n\n`}${table(part, all)}`,
  );
  return [table(schema, all), ...sections].join("\n\n");
}

/** Adds a part of another schema, with the parts of it that it refers to. */
function share(defs, name, others) {
  if (defs[name] !== undefined) return;
  defs[name] = others[name];
  for (const [, inner] of JSON.stringify(others[name]).matchAll(/"#\/\$defs\/(\w+)"/g)) share(defs, inner, others);
}
