import { basename, dirname, join } from "node:path";
import { type FileReader, grammars, type Imports } from "./language.js";

/**
 * Reads the imports of Python: `a.b` of `import a.b`, and `a.b:c` of `from a.b import c`, with the dots of a relative
 * one.
 */
export async function pythonReader(): Promise<FileReader> {
  const parse = await grammars();
  return {
    read(_path, text): Imports {
      const root = parse("python", text).root();
      const found = root.findAll({ rule: { any: [{ kind: "import_statement" }, { kind: "import_from_statement" }] } });
      const names = found.flatMap((node) =>
        namesIn(
          node
            .text()
            .replace(/#[^\n]*/g, "")
            .replace(/\\\n/g, " "),
        ),
      );
      const isBroken = root.find({ rule: { kind: "ERROR" } }) !== null;
      return { names: [...new Set(names)], ...(isBroken ? { problem: "it does not parse as Python" } : {}) };
    },
  };
}

function namesIn(statement: string): string[] {
  const words = statement
    .replace(/[()]/g, " ")
    .replaceAll(",", " , ")
    .split(/\s/)
    .filter((word) => word !== "");
  const isFrom = words[0] === "from";
  const names: string[] = [];
  let isNext = true;
  for (const word of words.slice(isFrom ? 3 : 1)) {
    if (word === ",") isNext = true;
    else if (isNext) {
      names.push(word);
      isNext = false;
    }
  }
  return isFrom ? names.map((name) => `${words[1] ?? ""}:${name}`) : names;
}

/**
 * Finds the file of a Python import among the project's: below where packages lie, beside a pyproject.toml or in its
 * `src`, or next to the file that imports. Of several members of a workspace the nearest counts.
 */
export function pythonResolver(files: ReadonlySet<string>) {
  const roots = rootsOf(files);
  const near = new Map<string, readonly string[]>();
  return (from: string, name: string): string[] => {
    const [module = "", what] = name.split(":");
    const dots = /^\.*/.exec(module)?.[0].length ?? 0;
    const rest = module
      .slice(dots)
      .split(".")
      .filter((part) => part !== "");
    const above = Array.from({ length: Math.max(0, dots - 1) }, () => "..");
    const at = dirname(from);
    const around = near.get(at) ?? [...roots.toSorted((a, b) => sharedOf(b, at) - sharedOf(a, at)), at];
    near.set(at, around);
    for (const root of dots > 0 ? [join(at, ...above)] : around) {
      const paths = [...(what === undefined || what === "*" ? [] : [[...rest, what]]), rest];
      for (const path of paths) {
        const base = join(root, ...path);
        const found = [`${base}.py`, join(base, "__init__.py")].find((each) => files.has(each));
        if (found !== undefined) return [found];
      }
    }
    return [];
  };
}

/** The folders from which packages are imported. */
function rootsOf(files: ReadonlySet<string>): string[] {
  const all = [...files];
  const projects = all.filter((path) => basename(path) === "pyproject.toml").map((path) => dirname(path));
  const packages = all
    .filter((path) => basename(path) === "__init__.py")
    .map((path) => dirname(dirname(path)))
    .filter((outer) => !files.has(join(outer, "__init__.py")));
  return [...new Set([".", "src", ...projects.flatMap((each) => [each, join(each, "src")]), ...packages])];
}

/** How many folders two paths have in common from the top; the folder of the project has none with any. */
function sharedOf(root: string, at: string): number {
  const [a, b] = [root.split("/"), at.split("/")];
  const differs = a.findIndex((part, place) => part !== b[place]);
  return differs === -1 ? a.length : differs;
}
