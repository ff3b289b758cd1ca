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
    .map((path) => ({ root: dirname(path), name: crateName(join(folder, path)) }))
    .toSorted((a, b) => b.root.length - a.root.length);
  const within = (path: string, root: string) => root === "." || path.startsWith(`${root}/`);
  const isThere = (paths: readonly string[]) => paths.find((path) => files.has(path));
  const entryOf = (root: string) => isThere([join(root, "src/lib.rs"), join(root, "src/main.rs")]);

  /** Where the modules of a file lie: next to a root or a mod.rs, else in a folder of its name. */
  function homeOf(path: string): string {
    const [folderOf, name] = [dirname(path), basename(path, ".rs")];
    const isRoot =
      ["lib", "main", "mod", "build"].includes(name) || /(?:^|\/)(?:tests|examples|benches|bin)$/.test(folderOf);
    return isRoot ? folderOf : join(folderOf, name);
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
    if (first === "crate")
      return crate === undefined ? [] : longest(join(crate.root, "src"), rest, entryOf(crate.root));
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

function crateName(manifest: string): string {
  const lines = textOf(manifest)
    .split("\n")
    .map((line) => line.trim());
  const named = lines.slice(lines.indexOf("[package]") + 1).find((line) => line.startsWith("name"));
  return (named?.split('"')[1] ?? "").replaceAll("-", "_");
}
