import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Makes JavaScript of the store in `folder`, for child processes that a test can kill: Node 20 does not run TypeScript. Returns the folder of the store. */
export const compileStore = (folder: string): string => join(compileRooms(folder, ["store", "lib"]), "store");

/** The same of any rooms of src/, without their inner folders. Returns the folder that holds them. */
export function compileRooms(folder: string, rooms: readonly string[]): string {
  for (const part of rooms) {
    mkdirSync(join(folder, "dist", part), { recursive: true });
    for (const name of readdirSync(join(root, "src", part)).filter((each) => each.endsWith(".ts"))) {
      const source = readFileSync(join(root, "src", part, name), "utf8");
      const { outputText } = ts.transpileModule(source, {
        compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
      });
      writeFileSync(join(folder, "dist", part, name.replace(/\.ts$/, ".js")), outputText);
    }
  }
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  for (const name of ["schemas", "node_modules"]) symlinkSync(join(root, name), join(folder, name));
  return join(folder, "dist");
}
