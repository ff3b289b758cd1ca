import { realpathSync, type Stats, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { javascriptEndings } from "./javascript.js";

/** What the resolver's answers depend on. */
export const javascriptManifests = /(?:^|\/)(?:package\.json|[tj]sconfig[^/]*\.json|pnpm-workspace\.yaml)$/;

/** A larger file is not a manifest. */
const maxBytes = 1_000_000;

export interface JavascriptResolver {
  /** Paths, relative to the folder, of the file that an import names; none where it names none. */
  find(from: string, name: string): string[];
  /** Manifests in the way of imports, relative to the folder: these imports are followed to no file. */
  readonly unreadable: ReadonlySet<string>;
}

/**
 * Finds the file that an import of TypeScript or JavaScript names: tsconfig paths, exports, workspaces. The library
 * opens manifests itself, and would wait forever for a pipe that an agent has left in the place of one, or read a
 * device without an end: it is not asked for an import on whose way such a manifest stands.
 */
export async function javascriptResolver(folder: string, files: ReadonlySet<string>): Promise<JavascriptResolver> {
  const { ResolverFactory } = await import("oxc-resolver");
  const resolver = new ResolverFactory({
    tsconfig: "auto",
    extensions: [...javascriptEndings, ".json"],
    conditionNames: ["import", "require", "node", "types", "default"],
    mainFields: ["module", "main"],
    extensionAlias: {
      ".js": [".ts", ".tsx", ".js", ".jsx"],
      ".jsx": [".tsx", ".jsx"],
      ".mjs": [".mts", ".mjs"],
      ".cjs": [".cts", ".cjs"],
    },
  });
  const unreadable = new Set<string>();
  const known = new Map<string, boolean>();
  /** Whether the manifests of a folder and of those above it can be read, where there are any. */
  const isPlain = (at: string): boolean => {
    const before = known.get(at);
    if (before !== undefined) return before;
    const found = ["package.json", "tsconfig.json"].filter((name) => isInTheWay(join(at, name)));
    for (const name of found) unreadable.add(relative(folder, join(at, name)));
    const plain = found.length === 0 && (dirname(at) === at || isPlain(dirname(at)));
    known.set(at, plain);
    return plain;
  };
  /** The same of a package that is installed, which may be a link to another place. */
  const isPlainPackage = (at: string): boolean => {
    const real = realOf(at);
    return real === undefined || (isPlain(at) && isPlain(real));
  };
  // A tsconfig or a package may send an import into any folder of the project.
  const isAllPlain = [...new Set([...files].map((path) => dirname(join(folder, path))))].every(isPlain);
  return {
    unreadable,
    find(from, name) {
      if (!isAllPlain) return [];
      const start = dirname(join(folder, from));
      const places = /^\.{0,2}\//.test(name) ? [resolve(start, name)] : packagesNamed(name, start);
      if (!places.every(isPlainPackage)) return [];
      const { path } = resolver.resolveFileSync(join(folder, from), name);
      return path === undefined || path === null ? [] : [relative(folder, path)];
    },
  };
}

/** Where a package and what is named within it may be installed, from the folder of the import upwards. */
function packagesNamed(name: string, start: string): string[] {
  const parts = name.split("/");
  const found: string[] = [];
  for (let at = start; ; at = dirname(at)) {
    for (const depth of parts.keys()) found.push(join(at, "node_modules", ...parts.slice(0, depth + 1)));
    if (dirname(at) === at) return found;
  }
}

const realOf = (path: string): string | undefined => {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
};

/** Whether something stands there that is not a file of a manifest's size. A folder of this name is passed over. */
function isInTheWay(path: string): boolean {
  let found: Stats | undefined;
  try {
    found = statSync(path, { throwIfNoEntry: false });
  } catch {
    return false;
  }
  return found !== undefined && !found.isDirectory() && (!found.isFile() || found.size > maxBytes);
}
