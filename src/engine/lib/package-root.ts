import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The folder of our own package.json, from src/ as well as from dist/ and its chunks. No other file asks where it lies:
 * a bundle moves it.
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

let find: (name: string) => string | Promise<string> = entry;

/** The same for a program that tests need too: they run the sources, and build it when it is first started. */
export const builtProgram = (name: string): string | Promise<string> => find(name);

/**
 * Sets where `builtProgram` looks, for tests, which build such a program when it is first started.
 *
 * @internal
 */
export function useBuiltPrograms(other: typeof find): void {
  find = other;
}

let version: string | undefined;

/** The version of this package, as its package.json has it. */
export const packageVersion = (): string =>
  (version ??= (JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as { version: string }).version);
