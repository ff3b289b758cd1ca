import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The folder with this program's package.json. This code finds it from src/ and from every file in dist/. Other files
 * must not compute paths from their own location, because the bundler moves code.
 */
const packageRoot = (() => {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return folder;
})();

/** A file that ships with the package, such as prompt.md or schemas/config.schema.json. */
export const packageFile = (...path: string[]): string => join(packageRoot, ...path);

/**
 * The path of the program `name` in dist/, which is started as a child process. It is built from src/<name>-main.ts.
 */
export const builtFile = (name: string): string => packageFile("dist", `${name}.js`);

let findProgram: (name: string) => string | Promise<string> = builtFile;

/** Like `builtFile`, but tests can replace it (`setProgramFinder`), because they run without a build. */
export const builtProgram = (name: string): string | Promise<string> => findProgram(name);

/**
 * Sets the function by which `builtProgram` finds programs. Only for tests, which build a program at its first start.
 *
 * @internal
 */
export function setProgramFinder(finder: typeof findProgram): void {
  findProgram = finder;
}

let version: string | undefined;

/** The version of this package, from its package.json. */
export const packageVersion = (): string =>
  (version ??= (JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as { version: string }).version);
