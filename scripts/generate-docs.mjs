// Writes the generated parts of the pages: tables of fields from their schemas, of units from their kinds, of figures
// from bench/results.json; and docs/cli.md from the program's --help. With --check it writes nothing and fails when a
// page is stale.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cliPage } from "./docs/cli-page.mjs";
import { resultsTable } from "./docs/results-page.mjs";
import { schemaTables } from "./docs/schema-page.mjs";
import { unitsTable } from "./docs/units-page.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const units = await unitsTable(root);

/**
 * Pages with parts between `<!-- generated from <source> -->` and `<!-- end -->`; the rest of the page is written by
 * hand.
 */
const pages = [
  ["docs/write-an-agent.md", () => units],
  ["docs/configuration.md", (schema) => schemaTables(root, schema)],
  ["docs/files.md", (schema) => schemaTables(root, schema)],
  ["docs/how-well-it-works.md", (source) => resultsTable(root, source)],
];
const part = /<!-- generated from (.+) -->\n[^]*?<!-- end -->\n/g;

/** The page with its generated parts replaced. Throws when the page has none. */
function pageWithTables([page, tableOf]) {
  const text = readFileSync(join(root, page), "utf8");
  if (text.search(part) === -1) throw new Error(`${page} has no generated part.`);
  return [
    page,
    text.replace(part, (_, source) => `<!-- generated from ${source} -->\n\n${tableOf(source)}\n\n<!-- end -->\n`),
  ];
}

const check = process.argv.includes("--check");
const stale = [];
for (const [name, text] of [...pages.map(pageWithTables), ["docs/cli.md", await cliPage()]]) {
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
