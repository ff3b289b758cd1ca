import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fastGlob from "fast-glob";
import ts from "typescript";
import { packageFile } from "../../src/engine/lib/package-root.js";

/** Makes JavaScript of folders of src/ in `folder`, for child processes that a test can kill: Node 20 does not run TypeScript. Returns the folder that holds them. */
export function compileFolders(folder: string, parts: readonly string[]): string {
  for (const name of fastGlob.sync(
    parts.map((part) => `${part}/**/*.ts`),
    { cwd: packageFile("src") },
  )) {
    const { outputText } = ts.transpileModule(readFileSync(packageFile("src", name), "utf8"), {
      compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
    });
    const target = join(folder, "dist", name.replace(/\.ts$/, ".js"));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, outputText);
  }
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  for (const name of ["schemas", "node_modules"]) symlinkSync(packageFile(name), join(folder, name));
  return join(folder, "dist");
}
