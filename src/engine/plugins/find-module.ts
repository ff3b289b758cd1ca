import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { isObject } from "../lib/json-fields.js";

/** The file of a plugin's module. `read`: the paths that the module needs to read. */
export interface FoundModule {
  readonly file: string;
  readonly read: readonly string[];
  /** The plugin's own file or folder. */
  readonly modulePath: string;
}

/**
 * Finds the module of a plugin. `name`: a path relative to `root`, to a file or a folder; or a package in node_modules
 * of `root` or of a parent folder. The plugin can read the file, the whole folder, or the package with its neighbours
 * in node_modules.
 */
export function findModule(name: string, root: string): FoundModule | { readonly problem: string } {
  if (/^\.{1,2}(?:\/|$)/.test(name) || isAbsolute(name)) {
    const path = resolve(root, name);
    if (!existsSync(path)) return { problem: `there is no ${path}` };
    return statSync(path).isDirectory()
      ? findInFolder(path, [path])
      : { file: realpathSync(path), read: withRealPath(path), modulePath: path };
  }
  for (let folder = root; ; folder = dirname(folder)) {
    const modules = join(folder, "node_modules");
    const path = join(modules, name);
    if (existsSync(join(path, "package.json"))) return findInFolder(path, [modules, path]);
    if (folder === dirname(folder))
      return { problem: `there is no package ${name} in node_modules of ${root}; a path begins with './'` };
  }
}

/** A path, and the real path to which it leads through links. */
const withRealPath = (path: string): string[] => [...new Set([path, realpathSync(path)])];

function findInFolder(folder: string, read: readonly string[]): FoundModule | { readonly problem: string } {
  const file = [moduleFileIn(join(folder, "package.json")), "index.js", "index.mjs"]
    .filter((name) => name !== undefined)
    .map((name) => join(folder, name))
    .find((path) => existsSync(path) && statSync(path).isFile());
  if (file === undefined)
    return { problem: `${folder} has no module: name it under 'main' or 'exports' in its package.json` };
  return { file: realpathSync(file), read: [...new Set(read.flatMap(withRealPath))], modulePath: folder };
}

/** Maximum number of files and bytes of a plugin, without the packages in its node_modules. */
const [maxFiles, maxBytes] = [1_000, 20_000_000];

/**
 * A hash of all files of a plugin; undefined if there are too many files or too many bytes. An agent may work in the
 * folder of the plugin, so the hash shows whether it has changed the plugin.
 */
export function hashOfPlugin(root: string): string | undefined {
  const hash = createHash("sha256");
  let [files, bytes] = [0, 0];
  const pendingPaths = [root];
  for (let path = pendingPaths.pop(); path !== undefined; path = pendingPaths.pop()) {
    const stats = statSync(path, { throwIfNoEntry: false });
    hash.update(`${path}\0${stats?.isFile() === true ? stats.size : ""}\0`);
    if (stats?.isDirectory() === true) {
      const names = readdirSync(path).filter((name) => name !== "node_modules" && name !== ".git");
      for (const name of names.toSorted()) pendingPaths.push(join(path, name));
    } else if (stats?.isFile() === true) {
      files += 1;
      bytes += stats.size;
      if (bytes <= maxBytes) hash.update(readFileSync(path));
    }
    if (files > maxFiles || bytes > maxBytes || pendingPaths.length > maxFiles) return undefined;
  }
  return hash.digest("hex");
}

/** The file that a package.json names as its module. */
function moduleFileIn(path: string): string | undefined {
  try {
    const { exports, main } = JSON.parse(readFileSync(path, "utf8")) as { exports?: unknown; main?: unknown };
    const modulePath = resolveCondition(isObject(exports) && "." in exports ? exports["."] : exports) ?? main;
    return typeof modulePath === "string" ? modulePath : undefined;
  } catch {
    return undefined;
  }
}

/** The file of an export, which may be nested in conditions such as `import`. */
function resolveCondition(value: unknown): unknown {
  if (!isObject(value)) return value;
  const condition = ["node", "import", "default", "require"].find((name) => name in value);
  return condition === undefined ? undefined : resolveCondition(value[condition]);
}
