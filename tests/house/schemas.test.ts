import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

interface Schema {
  $ref?: string;
  title?: string;
  description?: string;
  properties?: Record<string, Schema>;
  $defs?: Record<string, Schema>;
}

const folder = fileURLToPath(new URL("../../schemas", import.meta.url));
const files = readdirSync(folder).filter((name) => name.endsWith(".schema.json"));
const schemaOf = (file: string) => JSON.parse(readFileSync(join(folder, file), "utf8")) as Schema;

/** Pointers of fields that say nothing about themselves, neither in place nor where their $ref leads. */
function silent(node: unknown, all: Schema, pointer = ""): string[] {
  if (typeof node !== "object" || node === null) return [];
  const fields = Object.entries((node as Schema).properties ?? {});
  const mute = fields.filter(
    ([, field]) => (field.description ?? all.$defs?.[field.$ref?.split("/").at(-1) ?? ""]?.description) === undefined,
  );
  return [
    ...mute.map(([name]) => `${pointer}/properties/${name}`),
    ...Object.entries(node).flatMap(([name, part]) => silent(part, all, `${pointer}/${name}`)),
  ];
}

describe("schemas are the authority on every file", () => {
  test.each(files)("%s says in a title and a description what it is", (file) => {
    const { title, description } = schemaOf(file);

    expect(title).toMatch(/^[A-Z]\w+$/);
    expect(description).toMatch(/\.$/);
  });

  test.each(["rrd.schema.json", "config.schema.json"])(
    "every field of %s says what it is, for its page in docs/",
    (file) => {
      const schema = schemaOf(file);
      for (const [, other = "", name = ""] of JSON.stringify(schema).matchAll(
        /"([a-z-]+\.schema\.json)#\/\$defs\/(\w+)"/g,
      ))
        schema.$defs = { ...schema.$defs, [name]: schemaOf(other).$defs?.[name] ?? {} };

      expect(silent(schema, schema)).toEqual([]);
    },
  );
});
