// Writes schemas/validators/<schema>.cjs from schemas/*.schema.json: functions that answer whether a value is valid,
// and nothing more. With --check it writes nothing and fails when a file is stale. Ajv compiles a schema at each start
// for as long as Node itself takes to start, so the programs load these, and Ajv only to say what is wrong with an
// invalid file.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import standalone from "ajv/dist/standalone/index.js";
import { minifySync } from "rolldown/experimental";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "schemas");
const target = join(folder, "validators");
const ending = ".schema.json";

/** Keywords that say something to people, and nothing about what is valid. */
const prose = new Set(["title", "description", "default", "examples", "$comment"]);
/** Keywords whose value is a map from names to schemas: a field may be called `description`. */
const maps = new Set(["properties", "patternProperties", "dependentSchemas", "$defs"]);
/** Keywords whose value is data. */
const data = new Set(["enum", "const", "required"]);

function withoutProse(schema) {
  if (Array.isArray(schema)) return schema.map(withoutProse);
  if (typeof schema !== "object" || schema === null) return schema;
  const kept = Object.entries(schema).filter(([keyword]) => !prose.has(keyword));
  return Object.fromEntries(
    kept.map(([keyword, value]) => {
      if (data.has(keyword)) return [keyword, value];
      if (!maps.has(keyword)) return [keyword, withoutProse(value)];
      return [keyword, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutProse(each)]))];
    }),
  );
}

/**
 * In place of Ajv's own, which the code would fetch with `require`. JSON Schema counts code points, not UTF-16 units.
 */
const codePoints = `function (text) {
  let count = text.length;
  for (let at = 1; at < text.length; at++)
    if ((text.charCodeAt(at - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(at) & 0xfc00) === 0xdc00) count--;
  return count;
}`;

/** The code of one validator. */
function codeOf(name, schemas) {
  // Meta-schemas are checked by a test, once.
  const ajv = new Ajv2020({
    strict: false,
    validateSchema: false,
    messages: false,
    code: { source: true, lines: true },
  });
  for (const schema of schemas.values()) ajv.addSchema(schema);
  const validate = ajv.getSchema(schemas.get(name).$id);
  const written = standalone.default(ajv, validate);
  const plain = written
    // What is wrong is Ajv's to say: here any word of it does, and the code is a third as long.
    .replaceAll(/^((?:const|let) err\w+|validate\w+\.errors) = (\[?)\{instancePath.*\}\}(\]?);$/gm, "$1 = $20$3;")
    .replaceAll('require("ajv/dist/runtime/ucs2length").default', codePoints);
  if (plain.includes("require("))
    throw new Error(`The validator of ${name} needs another part of Ajv's: write it here.`);
  const { code, errors } = minifySync(`${name}.cjs`, plain, { module: false });
  if (errors.length > 0) throw new Error(`${name}: ${errors[0].message}`);
  return `// Generated from schemas/${name}${ending} by scripts/generate-validators.mjs. Do not edit: change the schema.\n${code}\n`;
}

const names = readdirSync(folder)
  .filter((file) => file.endsWith(ending))
  .map((file) => file.slice(0, -ending.length))
  .sort();
const schemas = new Map(
  names.map((name) => [name, withoutProse(JSON.parse(readFileSync(join(folder, name + ending), "utf8")))]),
);
const wanted = new Map(names.map((name) => [`${name}.cjs`, codeOf(name, schemas)]));
mkdirSync(target, { recursive: true });
const present = new Map(readdirSync(target).map((file) => [file, readFileSync(join(target, file), "utf8")]));
const stale = [...new Set([...wanted.keys(), ...present.keys()])].filter(
  (file) => wanted.get(file) !== present.get(file),
);
if (!process.argv.includes("--check")) {
  for (const file of stale) rmSync(join(target, file), { force: true });
  for (const file of stale) if (wanted.has(file)) writeFileSync(join(target, file), wanted.get(file));
} else if (stale.length > 0) {
  console.error(`Generated validators are stale: ${stale.join(", ")}; run 'npm run generate'.`);
  process.exitCode = 1;
}
