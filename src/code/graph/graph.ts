import { createHash } from "node:crypto";
import { lstatSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { runGit } from "../../engine/storage/git-command.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { generatedFiles } from "../../task/project-files/snapshots.js";
import { graphFile } from "../project-files/layout.js";
import { javascriptEndings, javascriptReader } from "./javascript.js";
import { javascriptManifests, type JavascriptResolver, javascriptResolver } from "./javascript-resolver.js";
import type { FileReader } from "./language.js";
import { pythonReader, pythonResolver } from "./python.js";
import { rustReader, rustResolver } from "./rust.js";

/** Which file of a project imports which. Paths are relative to its folder. */
export interface ImportGraph {
  /** Every file of a language that is read, and what it imports. */
  readonly imports: ReadonlyMap<string, readonly string[]>;
  /** Files that do not parse, and manifests that can't be read, and why; what was understood is in the graph. */
  readonly problems: ReadonlyMap<string, string>;
}

type Language = "javascript" | "python" | "rust";

/** A larger file is not source code. */
const maxBytes = 1_000_000;
/** How the cache is written; another one is read anew. */
const format = 2;

interface Entry {
  readonly size: number;
  readonly mtime: number;
  readonly names: readonly string[];
  readonly problem?: string;
  readonly imports: readonly string[];
}

interface Cache {
  readonly format: number;
  /** Hash of the names of all files and of the manifests: on these it depends which file an import names. */
  readonly layout: string;
  readonly files: Readonly<Record<string, Entry>>;
}

const languageOf = (path: string): Language | undefined => {
  const ending = extname(path);
  if ((javascriptEndings as readonly string[]).includes(ending)) return "javascript";
  return ending === ".py" ? "python" : ending === ".rs" ? "rust" : undefined;
};

const isManifest = (path: string): boolean =>
  javascriptManifests.test(path) || /(?:^|\/)(?:Cargo\.toml|pyproject\.toml)$/.test(path);

/**
 * Reads the import graph of the project in `folder`, as git lists its files: what is ignored is not among them, and
 * neither are links, binaries and files of more than 1 MB. What did not change since is taken from the cache.
 */
export async function readGraph(folder: string): Promise<ImportGraph> {
  const which = ["--cached", "--others", "--exclude-standard", "--", ".", ...generatedFiles];
  const listed = await runGit(folder, ["ls-files", "-z", ...which]);
  const names = [...new Set(listed.stdout.split("\0").filter((name) => name !== ""))].toSorted();
  const stamps = new Map<string, { readonly size: number; readonly mtime: number }>();
  const layout = createHash("sha256");
  for (const name of names) {
    const manifest = isManifest(name);
    if (!manifest && languageOf(name) === undefined) continue;
    const found = lstatSync(join(folder, name), { throwIfNoEntry: false });
    if (found?.isFile() !== true || found.size > maxBytes) continue;
    stamps.set(name, { size: found.size, mtime: found.mtimeMs });
    layout.update(manifest ? `${name}\0${found.size}\0${found.mtimeMs}\0` : `${name}\0`);
  }
  const hash = layout.digest("hex");
  const cache = cached(folder);
  const isSame = cache?.layout === hash;
  const readers = new Map<Language, FileReader>();
  const { resolve, unreadable } = resolverFor(folder, new Set(stamps.keys()));
  const files: Record<string, Entry> = {};
  let changed = cache === undefined || !isSame;
  for (const [path, stamp] of stamps) {
    const language = languageOf(path);
    if (language === undefined) continue;
    const known = cache !== undefined && Object.hasOwn(cache.files, path) ? cache.files[path] : undefined;
    const isKnown = known?.size === stamp.size && known.mtime === stamp.mtime;
    if (known !== undefined && isKnown && isSame) {
      files[path] = known;
      continue;
    }
    changed = true;
    const read = isKnown && known !== undefined ? known : await readFile(folder, path, language, readers);
    if (read === undefined) continue;
    const { names: imported, problem } = read;
    const found = (await Promise.all(imported.map((name) => resolve(language, path, name)))).flat();
    const imports = [...new Set(found)].filter(
      (each) => each !== path && stamps.has(each) && languageOf(each) !== undefined,
    );
    files[path] = { ...stamp, names: imported, imports, ...withoutUndefined({ problem }) };
  }
  const stopped = await unreadable();
  // Once the manifest is mended, what was not followed is to be followed.
  if (changed && stopped.size === 0) await keep(folder, { format, layout: hash, files });
  const all = Object.entries(files);
  return {
    imports: new Map(all.map(([path, { imports }]) => [path, imports.filter((each) => Object.hasOwn(files, each))])),
    problems: new Map([
      ...all.flatMap(([path, { problem }]) => (problem === undefined ? [] : [[path, problem] as const])),
      ...[...stopped].map((path) => [path, notPlain] as const),
    ]),
  };
}

async function readFile(folder: string, path: string, language: Language, readers: Map<Language, FileReader>) {
  let text: string;
  try {
    text = readFileSync(join(folder, path), "utf8");
  } catch {
    return undefined;
  }
  if (text.includes("\0")) return undefined;
  const make = { javascript: javascriptReader, python: pythonReader, rust: rustReader };
  const reader = readers.get(language) ?? (await make[language]());
  readers.set(language, reader);
  try {
    return reader.read(path, text);
  } catch (error) {
    return { names: [], problem: String(error).slice(0, 200) };
  }
}

const notPlain =
  "It is not a regular file of at most 1 MB, so imports of JavaScript and TypeScript that depend on it are not followed.";

/** Finds what an import names; what is needed for a language is made when it is first asked for. */
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

function cached(folder: string): Cache | undefined {
  try {
    const cache = JSON.parse(readFileSync(graphFile(folder), "utf8")) as Cache;
    return cache.format === format && typeof cache.files === "object" ? cache : undefined;
  } catch {
    return undefined;
  }
}

/** It only makes the next reading quicker: where it can't be kept, nothing is lost. */
async function keep(folder: string, cache: Cache): Promise<void> {
  await writeFileAtomic(graphFile(folder), JSON.stringify(cache), { durable: false }).catch(() => undefined);
}

/**
 * The distance of each file from the nearest of `starts`, over imports in both directions; a file that nothing connects
 * with them has none. Breadth first, so each file is met once.
 */
export function distancesFrom({ imports }: ImportGraph, starts: readonly string[]): ReadonlyMap<string, number> {
  const importers = new Map<string, string[]>();
  for (const [path, all] of imports)
    for (const each of all) {
      const known = importers.get(each);
      if (known === undefined) importers.set(each, [path]);
      else known.push(path);
    }
  const distances = new Map<string, number>();
  let border = [...new Set(starts)].filter((path) => imports.has(path));
  for (const path of border) distances.set(path, 0);
  for (let distance = 1; border.length > 0; distance += 1) {
    const next: string[] = [];
    for (const path of border)
      for (const each of [...(imports.get(path) ?? []), ...(importers.get(path) ?? [])])
        if (!distances.has(each)) {
          distances.set(each, distance);
          next.push(each);
        }
    border = next;
  }
  return distances;
}
