// Writes src/<wing>/generated/<schema>.ts from schemas/*.schema.json. With --check it writes nothing and fails when a
// file is stale.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compile } from "json-schema-to-typescript";

const root = fileURLToPath(new URL("..", import.meta.url));
const schemas = join(root, "schemas");
/** Schemas of files that the engine and the wing of tasks have; all others are the research wing's. */
const engine = new Set(["config", "event", "journal", "ledger", "memory", "query"]);
const task = new Set(["ralph", "ralph-state", "test-results"]);
/** Schemas whose types the files after them import instead of repeating them. */
const shared = ["rrd", "ralph", "memory"];
/** Name and body of every type of the shared schemas, and the file that has them. */
const known = new Map();
const check = process.argv.includes("--check");
const stale = [];

// Names are kept short of the parts that only JSON Schema needs, so `$id` goes before the compiler sees it.
const first = (file) => shared.findIndex((name) => file.startsWith(`${name}.`));
for (const file of readdirSync(schemas)
  .filter((name) => name.endsWith(".schema.json"))
  .sort((a, b) => first(b) - first(a) || (a < b ? -1 : 1))) {
  const schema = JSON.parse(readFileSync(join(schemas, file), "utf8"));
  delete schema.$id;
  const compiled = await compile(schema, schema.title, {
    cwd: schemas,
    bannerComment: `// Generated from schemas/${file} by scripts/generate-types.mjs. Do not edit: change the schema.`,
    additionalProperties: true,
    unreachableDefinitions: true,
    enableConstEnums: false,
    unknownAny: true,
    ignoreMinAndMaxItems: true,
    format: true,
    style: { printWidth: 140 },
  });
  const name = basename(file, ".schema.json");
  const wing = engine.has(name) ? "engine" : task.has(name) ? "task" : "research";
  const target = join(root, "src", wing, "generated", `${name}.ts`);
  const text = withoutDoubles(compiled, wing, name);
  let before = "";
  try {
    before = readFileSync(target, "utf8");
  } catch {
    // A new schema has no types yet.
  }
  if (before === text) continue;
  if (check) stale.push(file);
  else writeFileSync(target, text);
}
if (stale.length > 0) {
  console.error(`Generated types are stale for ${stale.join(", ")}: run 'npm run generate'.`);
  process.exitCode = 1;
}

/**
 * A type that the compiler has numbered because it met it twice becomes the first again; one that a shared file has is
 * imported.
 */
function withoutDoubles(compiled, wing, name) {
  const declaration =
    /(?:^\/\*\*(?:(?!\*\/)[^])*\*\/\n)?^export (?:interface|type) (\w+)([^]*?)(?=\n(?:\/\*\*|export )|$(?![^]))\n?/gm;
  const bodies = new Map([...compiled.matchAll(declaration)].map(([, type, body]) => [type, body.trim()]));
  const imported = new Map();
  let text = compiled;
  for (const [type, body] of bodies) {
    const plain = type.replace(/\d+$/, "");
    const from = known.get(`${type} ${body}`);
    const isDouble = plain !== type && bodies.get(plain) === body;
    if (from !== undefined && (from.wing === "engine" || wing === from.wing))
      imported.set(from, [...(imported.get(from) ?? []), type]);
    else if (!isDouble) continue;
    text = text.replace(declaration, (whole, found) => (found === type ? "" : whole));
    if (isDouble) text = text.replace(new RegExp(`\\b${type}\\b`, "g"), plain);
  }
  const place = { wing, name };
  if (shared.includes(name)) for (const [type, body] of bodies) known.set(`${type} ${body}`, place);
  // A type of a shared file may be used by none but those that are left out with it.
  const isUsed = (type) => new RegExp(`\\b${type}\\b`).test(text);
  const lines = [...imported].map(([from, types]) => {
    const folder = from.wing === wing ? "." : `../../${from.wing}/generated`;
    return `import type { ${types.filter(isUsed).sort().join(", ")} } from "${folder}/${from.name}.js";\n`;
  });
  return lines.length === 0 ? text : text.replace(/(?=\n\/\*\*|\nexport )/, `\n${lines.join("")}`);
}
