// Writes src/<wing>/generated/<schema>.ts from schemas/*.schema.json. With --check it writes nothing and fails when a file is stale.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compile } from "json-schema-to-typescript";

const root = fileURLToPath(new URL("..", import.meta.url));
const schemas = join(root, "schemas");
/** Schemas of files that the engine writes; all others are the research wing's. */
const engine = new Set(["config", "event", "journal", "ledger", "memory", "query"]);
const check = process.argv.includes("--check");
const stale = [];

// Names are kept short of the parts that only JSON Schema needs, so `$id` goes before the compiler sees it.
for (const file of readdirSync(schemas)
  .filter((name) => name.endsWith(".schema.json"))
  .sort()) {
  const schema = JSON.parse(readFileSync(join(schemas, file), "utf8"));
  delete schema.$id;
  const text = await compile(schema, schema.title, {
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
  const target = join(root, "src", engine.has(name) ? "engine" : "research", "generated", `${name}.ts`);
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
