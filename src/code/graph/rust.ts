import { basename, dirname, join } from "node:path";
import { textOf } from "../../task/place/project.js";
import { type FileReader, grammars, type Imports } from "./language.js";

/** Reads the imports of Rust: `mod:a` of `mod a;`, with the modules around it, and `use:crate::a::b` of each `use`. */
export async function rustReader(): Promise<FileReader> {
  const parse = await grammars();
  return {
    read(_path, text): Imports {
      const root = parse("rust", text).root();
      const names: string[] = [];
      for (const node of root.findAll({ rule: { kind: "mod_item" } })) {
        if (!node.text().trimEnd().endsWith(";")) continue;
        const around = node
          .ancestors()
          .filter((each) => each.kind() === "mod_item")
          .map((each) => each.field("name")?.text() ?? "");
        names.push(`mod:${[...around.toReversed(), node.field("name")?.text() ?? ""].join("/")}`);
      }
      for (const node of root.findAll({ rule: { kind: "use_declaration" } })) {
        const tree = node.field("argument")?.text() ?? "";
        names.push(...expanded(plain(tree)).map((path) => `use:${path}`));
      }
      const isBroken = root.find({ rule: { kind: "ERROR" } }) !== null;
      return { names: [...new Set(names)], ...(isBroken ? { problem: "it does not parse as Rust" } : {}) };
    },
  };
}

/** A tree of paths without spaces, other names and comments. */
const plain = (tree: string): string =>
  tree
    .split("\n")
    .map((line) => line.split("//")[0])
    .join(" ")
    .split(/\s/)
    .filter((word, at, words) => word !== "as" && words[at - 1] !== "as")
    .join("");

/** Most paths of one declaration. */
const maxPaths = 500;

/** The paths of a tree such as `a::{b, c::{d, e}}`. */
function expanded(tree: string): string[] {
  const paths: string[] = [];
  const prefixes: string[] = [""];
  let word = "";
  const take = () => {
    if (word !== "" && paths.length < maxPaths) paths.push(`${prefixes.at(-1) ?? ""}${word}`);
    word = "";
  };
  for (const letter of tree) {
    if (letter === "{") {
      prefixes.push(`${prefixes.at(-1) ?? ""}${word}`);
      word = "";
    } else if (letter === "}") {
      take();
      prefixes.pop();
    } else if (letter === ",") take();
    else word += letter;
  }
  take();
  return paths;
}

/** Finds the file of a Rust import among the project's. */
export function rustResolver(folder: string, files: ReadonlySet<string>) {
  /** The folders that hold a Cargo.toml, the deepest first, and the names of their crates. */
  const crates = [...files]
    .filter((path) => basename(path) === "Cargo.toml")
    .map((path) => ({ root: dirname(path), ...crateIn(join(folder, path)) }))
    .toSorted((a, b) => b.root.length - a.root.length);
  const within = (path: string, root: string) => root === "." || path.startsWith(`${root}/`);
  const isThere = (paths: readonly string[]) => paths.find((path) => files.has(path));
  const entryOf = (root: string) => isThere([join(root, "src/lib.rs"), join(root, "src/main.rs")]);

  /** Roots of programs that a Cargo.toml names. */
  const named = new Set(crates.flatMap(({ root, paths }) => paths.map((path) => join(root, path))));
  /** Whether a file is the root of a library, program, test, example or build script. */
  const isRoot = (path: string): boolean =>
    named.has(path) ||
    ["lib.rs", "main.rs", "build.rs"].includes(basename(path)) ||
    /(?:^|\/)(?:tests|examples|benches|bin)$/.test(dirname(path));

  /** Where the modules of a file lie: next to a root or a mod.rs, else in a folder of its name. */
  function homeOf(path: string): string {
    const name = basename(path, ".rs");
    return isRoot(path) || name === "mod" ? dirname(path) : join(dirname(path), name);
  }

  /** The root of the program or library that a file belongs to, and where its modules lie. */
  function rootOf(from: string, crate: string): { readonly home: string; readonly root: string | undefined } {
    if (isRoot(from)) return { home: dirname(from), root: from };
    for (let at = dirname(from); within(at, crate) && at !== crate; at = dirname(at)) {
      const root = isThere([
        join(at, "lib.rs"),
        join(at, "main.rs"),
        ...[...named].filter((path) => dirname(path) === at),
      ]);
      if (root !== undefined) return { home: at, root };
      // Modules that several tests share belong to each of them.
      if (/(?:^|\/)(?:tests|examples|benches|bin)$/.test(at)) return { home: at, root: undefined };
    }
    return { home: join(crate, "src"), root: entryOf(crate) };
  }
  const fileOf = (home: string, module: readonly string[]): string | undefined =>
    isThere([`${join(home, ...module)}.rs`, join(home, ...module, "mod.rs")]);

  /** The file of the longest beginning of a path of modules: what follows is an item of it. */
  function longest(home: string, parts: readonly string[], otherwise: string | undefined): string[] {
    for (let length = parts.length; length > 0; length -= 1) {
      const found = fileOf(home, parts.slice(0, length));
      if (found !== undefined) return [found];
    }
    return otherwise === undefined ? [] : [otherwise];
  }

  return (from: string, name: string): string[] => {
    const at = name.indexOf(":");
    const [kind, path] = [name.slice(0, at), name.slice(at + 1)];
    if (kind === "mod") {
      const found = fileOf(homeOf(from), path.split("/"));
      return found === undefined ? [] : [found];
    }
    const [first = "", ...rest] = path.replace(/^::/, "").split("::");
    const crate = crates.find(({ root }) => within(from, root));
    if (first === "crate") {
      if (crate === undefined) return [];
      const { home, root } = rootOf(from, crate.root);
      return longest(home, rest, root);
    }
    if (first === "self") return longest(homeOf(from), rest, undefined);
    if (first === "super") {
      let home = dirname(homeOf(from));
      let parts = rest;
      while (parts[0] === "super") [home, parts] = [dirname(home), parts.slice(1)];
      const above = isThere([`${home}.rs`, join(home, "mod.rs"), join(home, "lib.rs"), join(home, "main.rs")]);
      return longest(home, parts, above);
    }
    const other = crates.find((each) => each.name === first);
    if (other !== undefined) return longest(join(other.root, "src"), rest, entryOf(other.root));
    // Since 2018 a path may begin with a module of the file itself.
    return longest(homeOf(from), [first, ...rest], undefined);
  };
}

/** The name of a crate, and the roots of programs that its manifest names. */
function crateIn(manifest: string): { readonly name: string; readonly paths: readonly string[] } {
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
