import { readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { isObject } from "../../engine/lib/json-fields.js";
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
  let own: ((name: string) => string | undefined) | undefined;
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
      const found = path === undefined || path === null ? undefined : relative(folder, path);
      // What a package of the project exports is often built, and then git does not list it.
      const source = found !== undefined && files.has(found) ? found : (own ??= packagesOf(folder, files))(name);
      return source === undefined ? [] : [source];
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

/** The source of what an import by the name of a package of the project means: its own name, or one of a workspace. */
function packagesOf(folder: string, files: ReadonlySet<string>): (name: string) => string | undefined {
  const packages = new Map(
    [...files]
      .filter((path) => basename(path) === "package.json")
      .map((path) => [path, manifestOf(join(folder, path))] as const)
      .map(([path, manifest]) => [manifest["name"], { at: dirname(path), manifest }] as const),
  );
  return (name) => {
    const parts = name.split("/");
    const length = name.startsWith("@") ? 2 : 1;
    const found = packages.get(parts.slice(0, length).join("/"));
    if (found === undefined) return undefined;
    const inner = parts.slice(length).join("/");
    const targets = [
      ...targetsIn(found.manifest, inner === "" ? "." : `./${inner}`),
      inner === "" ? "index.js" : inner,
    ];
    return targets
      .flatMap(sourcesOf)
      .map((path) => join(found.at, path))
      .find((path) => files.has(path));
  };
}

type Manifest = Readonly<Record<string, unknown>>;

function manifestOf(path: string): Manifest {
  try {
    const manifest: unknown = JSON.parse(readFileSync(path, "utf8"));
    return isObject(manifest) ? manifest : {};
  } catch {
    return {};
  }
}

/** The files that a manifest names for a path of its package, under any condition. */
function targetsIn({ exports, module, main, types }: Manifest, inner: string): string[] {
  const named =
    isObject(exports) && Object.keys(exports).every((key) => key.startsWith(".")) ? exports : { ".": exports };
  const found = Object.entries(named).flatMap(([key, value]) => {
    const [head = "", tail] = key.split("*");
    if (tail === undefined) return key === inner ? textsIn(value) : [];
    const isMatch = inner.startsWith(head) && inner.endsWith(tail) && inner.length >= key.length;
    const star = inner.slice(head.length, inner.length - tail.length);
    return isMatch ? textsIn(value).map((text) => text.replaceAll("*", star)) : [];
  });
  return inner === "." ? [...found, ...[module, main, types].filter((each) => typeof each === "string")] : found;
}

const textsIn = (value: unknown): string[] =>
  typeof value === "string" ? [value] : isObject(value) ? Object.values(value).flatMap(textsIn) : [];

/** Where the source of a built file may be: beside it, in `src` in place of the folder of what is built, or without. */
function sourcesOf(target: string): string[] {
  const [first = "", ...rest] = target.replace(/^\.\//, "").split("/");
  const inner = rest.join("/");
  const places =
    inner === "" ? [first, `src/${first}`] : [`${first}/${inner}`, `src/${inner}`, inner, `src/${first}/${inner}`];
  return places.flatMap((place) => {
    const bare = place.replace(/(?:\.d)?\.[cm]?[jt]sx?$/, "");
    return [place, ...javascriptEndings.flatMap((ending) => [`${bare}${ending}`, `${bare}/index${ending}`])];
  });
}
