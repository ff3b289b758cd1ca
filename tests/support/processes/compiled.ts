import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundle } from "../../../scripts/bundle.mjs";
import { packageFile } from "../../../src/engine/lib/package-root.js";

/**
 * Makes JavaScript of files of src/ in `folder`, for child processes that a test can kill: Node 20 does not run
 * TypeScript. `input` gives each a name; the answer is where it lies as `<name>.js`.
 */
export async function compileEntries(folder: string, input: Readonly<Record<string, string>>): Promise<string> {
  const outDir = join(folder, "dist");
  await bundle({ input, outDir });
  writeFileSync(join(folder, "package.json"), '{ "type": "module", "version": "0.0.0" }');
  for (const name of ["schemas", "node_modules", "bin"]) symlinkSync(packageFile(name), join(folder, name));
  return outDir;
}
