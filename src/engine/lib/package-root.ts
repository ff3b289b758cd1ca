import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The folder of our package.json; works from src/ and from dist/ and its chunks. Other files must not compute paths
 * from their own location, because the bundler moves code.
 */
const packageRoot = (() => {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return folder;
})();

/** A file that ships with the package, such as prompt.md or schemas/config.schema.json. */
export const packageFile = (...path: string[]): string => join(packageRoot, ...path);

/**
 * The JavaScript of a named entry of the build, such as a program that is started as a child; `<name>-main.ts`
 * in src/.
 */
export const entry = (name: string): string => packageFile("dist", `${name}.js`);

let findProgram: (name: string) => string | Promise<string> = entry;

/** As `entry`, for a program that tests also start. Tests run the sources, and build the program at its first start. */
export const builtProgram = (name: string): string | Promise<string> => findProgram(name);

/**
 * Sets the function by which `builtProgram` finds programs. Only for tests, which build a program at its first start.
 *
 * @internal
 */
export function useBuiltPrograms(finder: typeof findProgram): void {
  findProgram = finder;
}

let version: string | undefined;

/** The version of this package, from its package.json. */
export const packageVersion = (): string =>
  (version ??= (JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as { version: string }).version);
