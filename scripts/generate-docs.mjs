// Writes docs/rrd.md and docs/config.md from their schemas and docs/cli.md from the built program. With --check it writes nothing and fails when a page is stale.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cliPage } from "./docs/cli-page.mjs";
import { schemaPage } from "./docs/schema-page.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

const schemaPages = [
  {
    schema: "schemas/rrd.schema.json",
    page: "docs/rrd.md",
    title: "rrd.json",
    intro: [
      "`rrd.json` is the whole state of one research. Agents never write it: research-ralph does, and you may, also during a run.",
      "`research-ralph validate <folder>` prints every problem with its place; an invalid file is never overwritten.",
      "Fields that this page does not name are kept as they are.",
      "Other shapes that runs of the original tool and models left, such as numbers as texts, lists as lines or a status in upper case, are read as what they mean:",
      "`validate` says what was read as what, and the file is written in this shape with the next result, after a copy in `.ralph/backups/`.",
    ],
  },
  {
    schema: "schemas/config.schema.json",
    page: "docs/config.md",
    title: "ralph.config.yaml",
    intro: [
      "Settings, as YAML or JSON. A flag beats the environment, which beats `./ralph.config.{yaml,json}`,",
      "which beats `~/.local/ralph/config.{yaml,json}`, which beats the default. A key that is not on this page is an error.",
    ],
  },
];

const check = process.argv.includes("--check");
const stale = [];
for (const [name, text] of [
  ...schemaPages.map((page) => [page.page, schemaPage(root, page)]),
  ["docs/cli.md", await cliPage(root)],
]) {
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
  console.error(
    `Generated pages are stale: ${stale.join(", ")}; run 'npm run build && node scripts/generate-docs.mjs'.`,
  );
  process.exitCode = 1;
}
