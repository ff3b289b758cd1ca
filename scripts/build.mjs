// Bundles src/ into dist/. Also npm's `prepublish`, which `npm ci` runs: in a git clone it builds; in an unpacked
// package, which has no src/, it does nothing.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

if (existsSync(join(root, "src"))) {
  // Where there is nothing to build, there is no bundler either.
  const { build } = await import("./bundle.mjs");
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  // A release keeps its maps; they are not published.
  const mapsDir = join(root, ".build/maps", version);
  rmSync(mapsDir, { recursive: true, force: true });
  await build({ outDir: join(root, "dist"), mapsDir });
}
