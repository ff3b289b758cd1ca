import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { isObject } from "../engine/lib/json-fields.js";

/** The file that a plugin is imported from, and what of the disk it needs to see for that. */
export interface FoundModule {
  readonly file: string;
  readonly read: readonly string[];
}

/**
 * The module of a plugin. `name`: a path relative to `root`, to a file or to a folder; or a package in the
 * node_modules of `root` or of a folder around it. A file is seen alone, a folder whole, and a package with what stands
 * beside it in node_modules.
 */
export function findModule(name: string, root: string): FoundModule | { readonly problem: string } {
  if (/^\.{1,2}(?:\/|$)/.test(name) || isAbsolute(name)) {
    const path = resolve(root, name);
    if (!existsSync(path)) return { problem: `there is no ${path}` };
    return statSync(path).isDirectory() ? inFolder(path, [path]) : { file: realpathSync(path), read: seen(path) };
  }
  for (let folder = root; ; folder = dirname(folder)) {
    const modules = join(folder, "node_modules");
    const path = join(modules, name);
    if (existsSync(join(path, "package.json"))) return inFolder(path, [modules, path]);
    if (folder === dirname(folder))
      return { problem: `there is no package ${name} in node_modules of ${root}; a path begins with './'` };
  }
}

/** A path, and the one that links on the way to it lead to. */
const seen = (path: string): string[] => [...new Set([path, realpathSync(path)])];

function inFolder(folder: string, read: readonly string[]): FoundModule | { readonly problem: string } {
  const file = [mainOf(join(folder, "package.json")), "index.js", "index.mjs"]
    .filter((name) => name !== undefined)
    .map((name) => join(folder, name))
    .find((path) => existsSync(path) && statSync(path).isFile());
  if (file === undefined)
    return { problem: `${folder} has no module: name it under 'main' or 'exports' in its package.json` };
  return { file: realpathSync(file), read: [...new Set(read.flatMap(seen))] };
}

/** What a package.json names as its module. */
function mainOf(path: string): string | undefined {
  try {
    const { exports, main } = JSON.parse(readFileSync(path, "utf8")) as { exports?: unknown; main?: unknown };
    const named = conditional(isObject(exports) && "." in exports ? exports["."] : exports) ?? main;
    return typeof named === "string" ? named : undefined;
  } catch {
    return undefined;
  }
}

/** The file of an export that may depend on how it is loaded. */
function conditional(value: unknown): unknown {
  if (!isObject(value)) return value;
  const condition = ["node", "import", "default", "require"].find((each) => each in value);
  return condition === undefined ? undefined : conditional(value[condition]);
}
