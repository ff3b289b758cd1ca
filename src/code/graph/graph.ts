import { createHash } from "node:crypto";
import { lstatSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { runGit } from "../../engine/storage/git-command.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { generatedFiles } from "../../task/project-files/snapshots.js";
import { graphFile } from "../project-files/layout.js";
import { javascriptExtensions, javascriptImports } from "./javascript.js";
import { javascriptManifests, type JavascriptResolver, javascriptResolver } from "./javascript-resolver.js";
import type { Imports } from "./language.js";
import { pythonImports, pythonResolver } from "./python.js";
import { rustImports, rustResolver } from "./rust.js";

/** The imports between the files of a project. Paths are relative to its folder. */
export interface ImportGraph {
  /** Every file of a supported language, and the files that it imports. */
  readonly imports: ReadonlyMap<string, readonly string[]>;
  /**
   * Files that do not parse and manifests that can't be read, each with the reason. The graph has all other imports.
   */
  readonly problems: ReadonlyMap<string, string>;
}

type Language = "javascript" | "python" | "rust";

/** Larger files are not read, because they are not source code. */
const maxBytes = 1_000_000;
/** Version of the cache. A cache with another version is ignored. */
const cacheFormat = 2;

interface Entry {
  readonly size: number;
  readonly mtime: number;
  readonly names: readonly string[];
  readonly problem?: string;
  readonly imports: readonly string[];
}

interface Cache {
  readonly format: number;
  /** Hash of all file names and of the manifests. They decide which file an import means. */
  readonly layout: string;
  readonly files: Readonly<Record<string, Entry>>;
}

const languageOf = (path: string): Language | undefined => {
  const ending = extname(path);
  if ((javascriptExtensions as readonly string[]).includes(ending)) return "javascript";
  return ending === ".py" ? "python" : ending === ".rs" ? "rust" : undefined;
};

const isManifest = (path: string): boolean =>
  javascriptManifests.test(path) || /(?:^|\/)(?:Cargo\.toml|pyproject\.toml)$/.test(path);

/**
 * Reads the import graph of the project in `folder`. The files are those that git lists, without ignored files, links,
 * binary files and files larger than 1 MB. Unchanged files are read from the cache.
 */
export async function readGraph(folder: string): Promise<ImportGraph> {
  const listArgs = ["--cached", "--others", "--exclude-standard", "--", ".", ...generatedFiles];
  const gitAnswer = await runGit(folder, ["ls-files", "-z", ...listArgs]);
  const names = [...new Set(gitAnswer.stdout.split("\0").filter((name) => name !== ""))].toSorted();
  const stamps = new Map<string, { readonly size: number; readonly mtime: number }>();
  const layout = createHash("sha256");
  for (const name of names) {
    const isManifestFile = isManifest(name);
    if (!isManifestFile && languageOf(name) === undefined) continue;
    const stats = lstatSync(join(folder, name), { throwIfNoEntry: false });
    if (stats?.isFile() !== true || stats.size > maxBytes) continue;
    stamps.set(name, { size: stats.size, mtime: stats.mtimeMs });
    layout.update(isManifestFile ? `${name}\0${stats.size}\0${stats.mtimeMs}\0` : `${name}\0`);
  }
  const hash = layout.digest("hex");
  const cache = readCache(folder);
  const isSameLayout = cache?.layout === hash;
  const { resolve, unreadable } = resolverFor(folder, new Set(stamps.keys()));
  const files: Record<string, Entry> = {};
  let hasChanged = cache === undefined || !isSameLayout;
  for (const [path, fileStamp] of stamps) {
    const language = languageOf(path);
    if (language === undefined) continue;
    const cachedEntry = cache !== undefined && Object.hasOwn(cache.files, path) ? cache.files[path] : undefined;
    const isUnchanged = cachedEntry?.size === fileStamp.size && cachedEntry.mtime === fileStamp.mtime;
    if (isUnchanged && isSameLayout) {
      files[path] = cachedEntry;
      continue;
    }
    hasChanged = true;
    const entry = isUnchanged ? cachedEntry : await importsIn(folder, path, language);
    if (entry === undefined) continue;
    const { names: importedNames, problem } = entry;
    const resolvedPaths = (await Promise.all(importedNames.map((name) => resolve(language, path, name)))).flat();
    const imports = [...new Set(resolvedPaths)].filter(
      (importedPath) => importedPath !== path && stamps.has(importedPath) && languageOf(importedPath) !== undefined,
    );
    files[path] = { ...fileStamp, names: importedNames, imports, ...withoutUndefined({ problem }) };
  }
  const unreadableManifests = await unreadable();
  // If a manifest is unreadable, the cache is not written: the missing imports must be resolved after it is repaired.
  if (hasChanged && unreadableManifests.size === 0)
    await writeCache(folder, { format: cacheFormat, layout: hash, files });
  const entries = Object.entries(files);
  return {
    imports: new Map(
      entries.map(([path, { imports }]) => [path, imports.filter((imported) => Object.hasOwn(files, imported))]),
    ),
    problems: new Map([
      ...entries.flatMap(([path, { problem }]) => (problem === undefined ? [] : [[path, problem] as const])),
      ...[...unreadableManifests].map((path) => [path, unreadableManifestText] as const),
    ]),
  };
}

const readers: Readonly<Record<Language, (path: string, text: string) => Promise<Imports>>> = {
  javascript: javascriptImports,
  python: pythonImports,
  rust: rustImports,
};

/** The imports of a file; undefined if it is binary or can't be read. */
async function importsIn(folder: string, path: string, language: Language): Promise<Imports | undefined> {
  let text: string;
  try {
    text = readFileSync(join(folder, path), "utf8");
  } catch {
    return undefined;
  }
  if (text.includes("\0")) return undefined;
  try {
    return await readers[language](path, text);
  } catch (error) {
    return { names: [], problem: String(error).slice(0, 200) };
  }
}

const unreadableManifestText =
  "It is not a regular file of at most 1 MB, so imports of JavaScript and TypeScript that depend on it are not followed.";

/** Finds the files of imports. The resolver of a language is created when it is first needed. */
function resolverFor(folder: string, files: ReadonlySet<string>) {
  type Resolve = (from: string, name: string) => string[];
  let javascript: Promise<JavascriptResolver> | undefined;
  let [python, rust]: [Resolve | undefined, Resolve | undefined] = [undefined, undefined];
  const resolve = async (language: Language, from: string, name: string): Promise<string[]> => {
    if (language === "python") return (python ??= pythonResolver(files))(from, name);
    if (language === "rust") return (rust ??= rustResolver(folder, files))(from, name);
    return (await (javascript ??= javascriptResolver(folder, files))).find(from, name);
  };
  return { resolve, unreadable: async () => (await javascript)?.unreadable ?? new Set<string>() };
}

function readCache(folder: string): Cache | undefined {
  try {
    const cache = JSON.parse(readFileSync(graphFile(folder), "utf8")) as Cache;
    return cache.format === cacheFormat && typeof cache.files === "object" ? cache : undefined;
  } catch {
    return undefined;
  }
}

/** Writes the cache. An error is ignored, because the cache only saves time. */
async function writeCache(folder: string, cache: Cache): Promise<void> {
  await writeFileAtomic(graphFile(folder), JSON.stringify(cache), { isDurable: false }).catch(() => undefined);
}

/**
 * The distance of each file from the nearest of `starts`, along imports in both directions. Files without a connection
 * have none. Breadth-first search visits each file once.
 */
export function distancesFrom({ imports }: ImportGraph, starts: readonly string[]): ReadonlyMap<string, number> {
  const importers = new Map<string, string[]>();
  for (const [path, targets] of imports)
    for (const target of targets) {
      const importersOfTarget = importers.get(target);
      if (importersOfTarget === undefined) importers.set(target, [path]);
      else importersOfTarget.push(path);
    }
  const distances = new Map<string, number>();
  let frontier = [...new Set(starts)].filter((path) => imports.has(path));
  for (const path of frontier) distances.set(path, 0);
  for (let distance = 1; frontier.length > 0; distance += 1) {
    const nextFrontier: string[] = [];
    for (const path of frontier)
      for (const neighbour of [...(imports.get(path) ?? []), ...(importers.get(path) ?? [])])
        if (!distances.has(neighbour)) {
          distances.set(neighbour, distance);
          nextFrontier.push(neighbour);
        }
    frontier = nextFrontier;
  }
  return distances;
}
