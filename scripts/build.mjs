// Bundles src/ into dist/. Also npm's `prepare`: in a git clone it builds; in an unpacked package, which has no src/, it does nothing.
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");

if (existsSync(join(root, "src"))) await build();

async function build() {
  const { bundle, entries } = await import("./bundle.mjs");
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const mapsDir = join(root, ".build/maps", version);
  rmSync(mapsDir, { recursive: true, force: true });
  const modules = await bundle({ input: entries, outDir: dist, mapsDir });
  writeFileSync(join(dist, "LICENSES.md"), licencesOf(modules));
  const cli = join(dist, "cli.js");
  if (!readFileSync(cli, "utf8").startsWith("#!/usr/bin/env node\n")) {
    throw new Error(
      "dist/cli.js does not start with '#!/usr/bin/env node': put it back on the first line of src/cli.ts.",
    );
  }
  chmodSync(cli, 0o755);
}

/** The licence texts of the packages that the bundle holds: whoever ships their code ships those too. */
function licencesOf(modules) {
  const packages = new Set(
    modules.flatMap((id) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(inRoot(id))?.[1] ?? []),
  );
  const parts = [...packages].sort().map((name) => {
    const folder = join(root, "node_modules", name);
    const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (file === undefined) throw new Error(`${name} has no licence text, so it must not be bundled.`);
    return `## ${name} ${version} (${license})\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
  });
  return ["# Packages whose code is part of dist/, and their licences\n", ...parts].join("\n");
}

function inRoot(id) {
  return relative(root, id).split(sep).join("/");
}
