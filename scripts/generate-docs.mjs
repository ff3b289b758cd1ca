// Writes the generated parts of the pages: tables of fields from their schemas into docs/configuration.md and docs/file-formats.md, and docs/cli.md from the
// program's --help. With --check it writes nothing and fails when a page is stale.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cliPage } from "./docs/cli-page.mjs";
import { schemaTables } from "./docs/schema-page.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Pages with a part between `<!-- generated from <schema> -->` and `<!-- end -->`; the rest of the page is written by hand. */
const schemaPages = [
  ["docs/configuration.md", "schemas/config.schema.json"],
  ["docs/file-formats.md", "schemas/rrd.schema.json"],
];

/** The page with its generated part replaced. Throws when the page has no such part. */
function pageWithTables([page, schema]) {
  const text = readFileSync(join(root, page), "utf8");
  const [before, rest] = text.split(`<!-- generated from ${schema} -->\n`);
  const [, after] = rest?.split("<!-- end -->\n") ?? [];
  if (after === undefined) throw new Error(`${page} has no part that is generated from ${schema}.`);
  return [
    page,
    `${before}<!-- generated from ${schema} -->\n\n${schemaTables(root, schema)}\n\n<!-- end -->\n${after}`,
  ];
}

const check = process.argv.includes("--check");
const stale = [];
for (const [name, text] of [...schemaPages.map(pageWithTables), ["docs/cli.md", await cliPage()]]) {
  const target = join(root, name);
  let before = "";
  try {
    before = readFileSync(target, "utf8");
  } catch {
    // A new page is not there yet.
  }
  if (before === text) continue;
  if (check) stale.push(name);
  else writeFileSync(target, text);
}
if (stale.length > 0) {
  console.error(`Generated pages are stale: ${stale.join(", ")}; run 'node scripts/generate-docs.mjs'.`);
  process.exitCode = 1;
}
