import { readFileSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fieldsOf, isObject } from "../../engine/lib/json-fields.js";
import { existingPath } from "../../engine/process/search-path.js";
import { javascriptExtensions } from "./javascript.js";

/** The manifests that the resolver reads. */
export const javascriptManifests = /(?:^|\/)(?:package\.json|[tj]sconfig[^/]*\.json|pnpm-workspace\.yaml)$/;

/** Larger files are not read, because they are not manifests. */
const maxBytes = 1_000_000;

export interface JavascriptResolver {
  /** The path, relative to the folder, of the file that an import means; empty if it means none of the project. */
  find(from: string, name: string): string[];
  /** Manifests that can't be read, relative to the folder. Imports that depend on them are not resolved. */
  readonly unreadable: ReadonlySet<string>;
}

/**
 * Finds the files of imports in TypeScript and JavaScript, with tsconfig paths, exports and workspaces. The library
 * opens manifests itself. If an agent left a pipe or a device in the place of a manifest, the library would wait or
 * read without end, so imports that depend on such a file are not resolved.
 */
export async function javascriptResolver(folder: string, files: ReadonlySet<string>): Promise<JavascriptResolver> {
  const { ResolverFactory } = await import("oxc-resolver");
  const resolver = new ResolverFactory({
    tsconfig: "auto",
    extensions: [...javascriptExtensions, ".json"],
    conditionNames: ["import", "require", "node", "types", "default"],
    mainFields: ["module", "main"],
    extensionAlias: {
      ".js": [".ts", ".tsx", ".js", ".jsx"],
      ".jsx": [".tsx", ".jsx"],
      ".mjs": [".mts", ".mjs"],
      ".cjs": [".cts", ".cjs"],
    },
  });
  let findPackageSource: ((name: string) => string | undefined) | undefined;
  const unreadable = new Set<string>();
  const readableFolders = new Map<string, boolean>();
  /** Whether the manifests of a folder and of the folders above it can be read. Missing manifests are fine. */
  const isReadable = (folderPath: string): boolean => {
    const knownAnswer = readableFolders.get(folderPath);
    if (knownAnswer !== undefined) return knownAnswer;
    const unreadablePaths = ["package.json", "tsconfig.json"].filter((name) => isBadManifest(join(folderPath, name)));
    for (const name of unreadablePaths) unreadable.add(relative(folder, join(folderPath, name)));
    const readable =
      unreadablePaths.length === 0 && (dirname(folderPath) === folderPath || isReadable(dirname(folderPath)));
    readableFolders.set(folderPath, readable);
    return readable;
  };
  /** Like `isReadable`, for an installed package, which may be a link to another place. */
  const isReadablePackage = (folderPath: string): boolean => {
    const real = existingPath(folderPath);
    return real === undefined || (isReadable(folderPath) && isReadable(real));
  };
  // A tsconfig or a package may redirect an import to any folder of the project.
  const areAllReadable = [...new Set([...files].map((path) => dirname(join(folder, path))))].every(isReadable);
  return {
    unreadable,
    find(from, name) {
      if (!areAllReadable) return [];
      const start = dirname(join(folder, from));
      const places = /^\.{0,2}\//.test(name) ? [resolve(start, name)] : packageFolders(name, start);
      if (!places.every(isReadablePackage)) return [];
      const { path } = resolver.resolveFileSync(join(folder, from), name);
      const foundPath = path === undefined || path === null ? undefined : relative(folder, path);
      // A package's exports often name built files, which git does not list; then the source file is searched.
      const source =
        foundPath !== undefined && files.has(foundPath)
          ? foundPath
          : (findPackageSource ??= packageSourceFinder(folder, files))(name);
      return source === undefined ? [] : [source];
    },
  };
}

/** The folders in which a package, and a path within it, may be installed: in the folder of the import and above it. */
function packageFolders(name: string, start: string): string[] {
  const parts = name.split("/");
  const candidates: string[] = [];
  for (let folderAbove = start; ; folderAbove = dirname(folderAbove)) {
    for (const depth of parts.keys()) candidates.push(join(folderAbove, "node_modules", ...parts.slice(0, depth + 1)));
    if (dirname(folderAbove) === folderAbove) return candidates;
  }
}

/** Whether a path is neither a folder nor a regular file with the size of a manifest. */
function isBadManifest(path: string): boolean {
  let stats: Stats | undefined;
  try {
    stats = statSync(path, { throwIfNoEntry: false });
  } catch {
    return false;
  }
  return stats !== undefined && !stats.isDirectory() && (!stats.isFile() || stats.size > maxBytes);
}

/**
 * Returns a function that finds the source file for an import of a package of the project: the project's own package,
 * or one of its workspace.
 */
function packageSourceFinder(folder: string, files: ReadonlySet<string>): (name: string) => string | undefined {
  const packages = new Map(
    [...files]
      .filter((path) => basename(path) === "package.json")
      .map((path) => [path, manifestOf(join(folder, path))] as const)
      .map(([path, manifest]) => [manifest["name"], { folder: dirname(path), manifest }] as const),
  );
  return (name) => {
    const parts = name.split("/");
    const length = name.startsWith("@") ? 2 : 1;
    const packageEntry = packages.get(parts.slice(0, length).join("/"));
    if (packageEntry === undefined) return undefined;
    const inner = parts.slice(length).join("/");
    const targets = [
      ...targetsIn(packageEntry.manifest, inner === "" ? "." : `./${inner}`),
      inner === "" ? "index.js" : inner,
    ];
    return targets
      .flatMap(sourcesOf)
      .map((path) => join(packageEntry.folder, path))
      .find((path) => files.has(path));
  };
}

type Manifest = Readonly<Record<string, unknown>>;

function manifestOf(path: string): Manifest {
  try {
    return fieldsOf(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return {};
  }
}

/** The files that a manifest names for a path of its package, under any condition. */
function targetsIn({ exports, module, main, types }: Manifest, inner: string): string[] {
  const exportMap =
    isObject(exports) && Object.keys(exports).every((key) => key.startsWith(".")) ? exports : { ".": exports };
  const targetPaths = Object.entries(exportMap).flatMap(([key, value]) => {
    const [prefix = "", suffix] = key.split("*");
    if (suffix === undefined) return key === inner ? stringsIn(value) : [];
    const isMatch = inner.startsWith(prefix) && inner.endsWith(suffix) && inner.length >= key.length;
    const wildcard = inner.slice(prefix.length, inner.length - suffix.length);
    return isMatch ? stringsIn(value).map((text) => text.replaceAll("*", wildcard)) : [];
  });
  return inner === "."
    ? [...targetPaths, ...[module, main, types].filter((entry) => typeof entry === "string")]
    : targetPaths;
}

const stringsIn = (value: unknown): string[] =>
  typeof value === "string" ? [value] : isObject(value) ? Object.values(value).flatMap(stringsIn) : [];

/** Possible source files of a built file: beside it, in `src` instead of its output folder, or without that folder. */
function sourcesOf(target: string): string[] {
  const [firstFolder = "", ...otherParts] = target.replace(/^\.\//, "").split("/");
  const innerPath = otherParts.join("/");
  const places =
    innerPath === ""
      ? [firstFolder, `src/${firstFolder}`]
      : [`${firstFolder}/${innerPath}`, `src/${innerPath}`, innerPath, `src/${firstFolder}/${innerPath}`];
  return places.flatMap((place) => {
    const withoutExtension = place.replace(/(?:\.d)?\.[cm]?[jt]sx?$/, "");
    return [
      place,
      ...javascriptExtensions.flatMap((ending) => [
        `${withoutExtension}${ending}`,
        `${withoutExtension}/index${ending}`,
      ]),
    ];
  });
}
