import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fieldsIn } from "../../engine/lib/json-fields.js";
import { entriesIn, readTextSync } from "../../engine/storage/regular-file.js";

/** Facts about a project that its folder contains: its files, its manifest, and its installed programs. */

interface Manifest {
  readonly scripts?: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, unknown>>;
  readonly devDependencies?: Readonly<Record<string, unknown>>;
  readonly jest?: unknown;
  readonly mocha?: unknown;
}

/** The package.json of the folder; undefined if it is missing or unusable. */
export const manifestOf = (folder: string): Manifest | undefined =>
  fieldsIn<Manifest>(readTextSync(join(folder, "package.json"), maxBytes) ?? "");

/** The script `name` in the package.json of the folder; undefined if it is missing or blank. */
export function scriptOf(folder: string, name: string): string | undefined {
  const script = manifestOf(folder)?.scripts?.[name];
  return typeof script === "string" && script.trim() !== "" ? script : undefined;
}

export const entriesOf = (folder: string): readonly string[] => entriesIn(folder).map(({ name }) => name);

/** Larger files are not read, because they do not describe a project. */
const maxBytes = 10_000_000;

/** The text of a file, at most 200,000 characters; empty if it can't be read. */
export const textOf = (path: string): string => (readTextSync(path, maxBytes) ?? "").slice(0, 200_000);

/** The path of an npm package's program that is installed for the folder; the plain name if it is not installed. */
export function localProgram(folder: string, name: string): string {
  for (let folderAbove = folder; ; folderAbove = dirname(folderAbove)) {
    const path = join(folderAbove, "node_modules", ".bin", name);
    if (existsSync(path)) return path;
    if (dirname(folderAbove) === folderAbove) return name;
  }
}

const manifestNames = [
  ...["package.json", "pnpm-workspace.yaml", "lerna.json", "Cargo.toml", "go.mod", "go.work", "pyproject.toml"],
] as const;

/**
 * The outermost folder with a manifest that contains this folder, in the same repository. A package of a monorepo needs
 * the tools and packages there. Undefined if the folder is the root of its repository, or in none. The user's home and
 * folders that contain it are never returned.
 */
export function outermostPackageFolder(folder: string, home: string): string | undefined {
  let outermost: string | undefined;
  for (let current = folder; !existsSync(join(current, ".git"));) {
    const parent = dirname(current);
    if (parent === current || home === parent || home.startsWith(parent.endsWith("/") ? parent : `${parent}/`))
      return undefined;
    current = parent;
    if (manifestNames.some((name) => existsSync(join(current, name)))) outermost = current;
  }
  return outermost;
}

/** The Python of the folder's virtual environment; `python3` if the folder has none. */
export const pythonOf = (folder: string): string =>
  [".venv", "venv"].map((name) => join(folder, name, "bin", "python")).find((path) => existsSync(path)) ?? "python3";
