// Packs a release: the package as npm publishes it, and beside it the source maps of its code, with which the stack of
// a bug report is read. `npm run build` has to come first.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const { name, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const maps = join(root, ".build/maps", version);
if (!existsSync(maps)) {
  console.error(`There are no source maps in .build/maps/${version}; run 'npm run build'.`);
  process.exitCode = 1;
} else {
  const target = process.cwd();
  execFileSync("npm", ["pack", "--ignore-scripts", "--pack-destination", target, root], { stdio: "inherit" });
  const debug = join(target, `${name}-${version}.maps.tgz`);
  execFileSync("tar", ["-czf", debug, "-C", join(maps, ".."), version]);
  console.log(debug);
}
