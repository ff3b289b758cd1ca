import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fieldsIn } from "../../engine/lib/json-fields.js";
import { readTextSync } from "../../engine/storage/regular-file.js";

/** What a project's folder says of itself: what stands in it, its manifest, and the programs that belong to it. */

interface Manifest {
  readonly scripts?: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, unknown>>;
  readonly devDependencies?: Readonly<Record<string, unknown>>;
  readonly jest?: unknown;
  readonly mocha?: unknown;
}

/** The package.json of the folder; undefined where it is missing or unusable. */
export const manifestOf = (folder: string): Manifest | undefined =>
  fieldsIn<Manifest>(readTextSync(join(folder, "package.json"), maxBytes) ?? "");

/** The script of this name. */
export function scriptOf(folder: string, name: string): string | undefined {
  const script = manifestOf(folder)?.scripts?.[name];
  return typeof script === "string" && script.trim() !== "" ? script : undefined;
}

export function entriesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Larger is not a file that says what a project is. */
const maxBytes = 10_000_000;

/** The text of a file, of at most 200,000 characters; empty where it can't be read. */
export const textOf = (path: string): string => (readTextSync(path, maxBytes) ?? "").slice(0, 200_000);

/** The program of an npm package that is installed for the folder; the plain name where none is. */
export function localProgram(folder: string, name: string): string {
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, "node_modules", ".bin", name);
    if (existsSync(path)) return path;
    if (dirname(at) === at) return name;
  }
}

const manifests = [
  ...["package.json", "pnpm-workspace.yaml", "lerna.json", "Cargo.toml", "go.mod", "go.work", "pyproject.toml"],
] as const;

/**
 * The outermost folder with a manifest around this one, in the same repository: a package of several has its tools and
 * its sisters there. None where the folder is the top of its repository, or in none, and never the user's home or what
 * holds it.
 */
export function packagesAround(folder: string, home: string): string | undefined {
  let found: string | undefined;
  for (let at = folder; !existsSync(join(at, ".git"));) {
    const above = dirname(at);
    if (above === at || home === above || home.startsWith(above.endsWith("/") ? above : `${above}/`)) return undefined;
    at = above;
    if (manifests.some((name) => existsSync(join(at, name)))) found = at;
  }
  return found;
}

/** The Python of the folder: that of its virtual environment where it has one. */
export const pythonOf = (folder: string): string =>
  [".venv", "venv"].map((name) => join(folder, name, "bin", "python")).find((path) => existsSync(path)) ?? "python3";
