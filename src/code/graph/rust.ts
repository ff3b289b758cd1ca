import { basename, dirname, join } from "node:path";
import { textOf } from "../../task/place/project.js";
import { type Imports, loadParser } from "./language.js";

/** Reads the imports of Rust: `mod:a` for `mod a;`, with its outer modules, and `use:crate::a::b` for each `use`. */
export async function rustImports(_path: string, text: string): Promise<Imports> {
  const parse = await loadParser();
  const root = parse("rust", text).root();
  const names: string[] = [];
  for (const node of root.findAll({ rule: { kind: "mod_item" } })) {
    if (!node.text().trimEnd().endsWith(";")) continue;
    const outerModules = node
      .ancestors()
      .filter((ancestor) => ancestor.kind() === "mod_item")
      .map((ancestor) => ancestor.field("name")?.text() ?? "");
    names.push(`mod:${[...outerModules.toReversed(), node.field("name")?.text() ?? ""].join("/")}`);
  }
  for (const node of root.findAll({ rule: { kind: "use_declaration" } })) {
    const tree = node.field("argument")?.text() ?? "";
    names.push(...pathsIn(withoutAliasesAndComments(tree)).map((path) => `use:${path}`));
  }
  const isBroken = root.find({ rule: { kind: "ERROR" } }) !== null;
  return { names: [...new Set(names)], ...(isBroken ? { problem: "it does not parse as Rust" } : {}) };
}

/** A tree of paths without spaces, aliases and comments. */
const withoutAliasesAndComments = (tree: string): string =>
  tree
    .split("\n")
    .map((line) => line.split("//")[0])
    .join(" ")
    .split(/\s/)
    .filter((word, index, words) => word !== "as" && words[index - 1] !== "as")
    .join("");

/** Maximum number of paths in one declaration. */
const maxPaths = 500;

/** The paths of a tree such as `a::{b, c::{d, e}}`. */
function pathsIn(tree: string): string[] {
  const paths: string[] = [];
  const prefixes: string[] = [""];
  let word = "";
  const addWord = () => {
    if (word !== "" && paths.length < maxPaths) paths.push(`${prefixes.at(-1) ?? ""}${word}`);
    word = "";
  };
  for (const letter of tree) {
    if (letter === "{") {
      prefixes.push(`${prefixes.at(-1) ?? ""}${word}`);
      word = "";
    } else if (letter === "}") {
      addWord();
      prefixes.pop();
    } else if (letter === ",") addWord();
    else word += letter;
  }
  addWord();
  return paths;
}

/** Finds the file of a Rust import in the project. */
export function rustResolver(folder: string, files: ReadonlySet<string>) {
  /** The folders with a Cargo.toml, deepest first, with the names of their crates. */
  const crates = [...files]
    .filter((path) => basename(path) === "Cargo.toml")
    .map((path) => ({ root: dirname(path), ...readCrate(join(folder, path)) }))
    .toSorted((a, b) => b.root.length - a.root.length);
  const isInside = (path: string, root: string) => root === "." || path.startsWith(`${root}/`);
  const findExisting = (paths: readonly string[]) => paths.find((path) => files.has(path));
  const crateRootOf = (root: string) => findExisting([join(root, "src/lib.rs"), join(root, "src/main.rs")]);

  /** Root files of programs that a Cargo.toml names. */
  const programRoots = new Set(crates.flatMap(({ root, paths }) => paths.map((path) => join(root, path))));
  /** Whether a file is the root of a library, program, test, example or build script. */
  const isRoot = (path: string): boolean =>
    programRoots.has(path) ||
    ["lib.rs", "main.rs", "build.rs"].includes(basename(path)) ||
    /(?:^|\/)(?:tests|examples|benches|bin)$/.test(dirname(path));

  /** The folder of a file's modules: its own folder for a root file or a mod.rs, else a folder with its name. */
  function modulesFolderOf(path: string): string {
    const name = basename(path, ".rs");
    return isRoot(path) || name === "mod" ? dirname(path) : join(dirname(path), name);
  }

  /** The root file of the program or library that contains a file, and the folder of its modules. */
  function rootOf(from: string, crate: string): { readonly home: string; readonly root: string | undefined } {
    if (isRoot(from)) return { home: dirname(from), root: from };
    for (
      let folderAbove = dirname(from);
      isInside(folderAbove, crate) && folderAbove !== crate;
      folderAbove = dirname(folderAbove)
    ) {
      const root = findExisting([
        join(folderAbove, "lib.rs"),
        join(folderAbove, "main.rs"),
        ...[...programRoots].filter((path) => dirname(path) === folderAbove),
      ]);
      if (root !== undefined) return { home: folderAbove, root };
      // Modules that several tests share have no single root file.
      if (/(?:^|\/)(?:tests|examples|benches|bin)$/.test(folderAbove)) return { home: folderAbove, root: undefined };
    }
    return { home: join(crate, "src"), root: crateRootOf(crate) };
  }
  const fileOf = (moduleFolder: string, module: readonly string[]): string | undefined =>
    findExisting([`${join(moduleFolder, ...module)}.rs`, join(moduleFolder, ...module, "mod.rs")]);

  /** The file for the longest matching prefix of a module path; the rest of the path is an item in that file. */
  function longestMatch(moduleFolder: string, parts: readonly string[], fallback: string | undefined): string[] {
    for (let length = parts.length; length > 0; length -= 1) {
      const file = fileOf(moduleFolder, parts.slice(0, length));
      if (file !== undefined) return [file];
    }
    return fallback === undefined ? [] : [fallback];
  }

  return (from: string, name: string): string[] => {
    const separator = name.indexOf(":");
    const [kind, path] = [name.slice(0, separator), name.slice(separator + 1)];
    if (kind === "mod") {
      const file = fileOf(modulesFolderOf(from), path.split("/"));
      return file === undefined ? [] : [file];
    }
    const [firstPart = "", ...otherParts] = path.replace(/^::/, "").split("::");
    const crate = crates.find(({ root }) => isInside(from, root));
    if (firstPart === "crate") {
      if (crate === undefined) return [];
      const { home: moduleFolder, root } = rootOf(from, crate.root);
      return longestMatch(moduleFolder, otherParts, root);
    }
    if (firstPart === "self") return longestMatch(modulesFolderOf(from), otherParts, undefined);
    if (firstPart === "super") {
      let moduleFolder = dirname(modulesFolderOf(from));
      let parts = otherParts;
      while (parts[0] === "super") [moduleFolder, parts] = [dirname(moduleFolder), parts.slice(1)];
      const parentFile = findExisting([
        `${moduleFolder}.rs`,
        join(moduleFolder, "mod.rs"),
        join(moduleFolder, "lib.rs"),
        join(moduleFolder, "main.rs"),
      ]);
      return longestMatch(moduleFolder, parts, parentFile);
    }
    const otherCrate = crates.find((candidate) => candidate.name === firstPart);
    if (otherCrate !== undefined)
      return longestMatch(join(otherCrate.root, "src"), otherParts, crateRootOf(otherCrate.root));
    // Since Rust 2018, a path may begin with a module of the file itself.
    return longestMatch(modulesFolderOf(from), [firstPart, ...otherParts], undefined);
  };
}

/** The name of a crate, and the root files of programs that its manifest names. */
function readCrate(manifest: string): { readonly name: string; readonly paths: readonly string[] } {
  let section = "";
  let name = "";
  const paths: string[] = [];
  for (const line of textOf(manifest).split("\n")) {
    const [key = "", value = ""] = line.split("=").map((part) => part.trim());
    if (key.startsWith("[")) section = key;
    const text = value.split('"')[1] ?? "";
    if (section === "[package]" && key === "name") name = text.replaceAll("-", "_");
    if (/^\[(?:\[(?:bin|test|example|bench)\]|lib)\]/.test(section) && key === "path" && text !== "") paths.push(text);
  }
  return { name, paths };
}
