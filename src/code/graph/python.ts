import { basename, dirname, join } from "node:path";
import { type Imports, loadParser } from "./language.js";

/**
 * Reads the imports of Python: `a.b` for `import a.b`, and `a.b:c` for `from a.b import c`. Relative imports keep their
 * dots.
 */
export async function pythonImports(_path: string, text: string): Promise<Imports> {
  const parse = await loadParser();
  const root = parse("python", text).root();
  const statements = root.findAll({ rule: { any: [{ kind: "import_statement" }, { kind: "import_from_statement" }] } });
  const names = statements.flatMap((node) =>
    namesIn(
      node
        .text()
        .replace(/#[^\n]*/g, "")
        .replace(/\\\n/g, " "),
    ),
  );
  const isBroken = root.find({ rule: { kind: "ERROR" } }) !== null;
  return { names: [...new Set(names)], ...(isBroken ? { problem: "it does not parse as Python" } : {}) };
}

function namesIn(statement: string): string[] {
  const words = statement
    .replace(/[()]/g, " ")
    .replaceAll(",", " , ")
    .split(/\s/)
    .filter((word) => word !== "");
  const isFrom = words[0] === "from";
  const names: string[] = [];
  let expectsName = true;
  for (const word of words.slice(isFrom ? 3 : 1)) {
    if (word === ",") expectsName = true;
    else if (expectsName) {
      names.push(word);
      expectsName = false;
    }
  }
  return isFrom ? names.map((name) => `${words[1] ?? ""}:${name}`) : names;
}

/**
 * Finds the file of a Python import: in the folders that contain packages, beside a pyproject.toml or in its `src`, or
 * next to the importing file. In a workspace, the nearest folder is used first.
 */
export function pythonResolver(files: ReadonlySet<string>) {
  const roots = rootsOf(files);
  const rootsByFolder = new Map<string, readonly string[]>();
  return (from: string, name: string): string[] => {
    const [module = "", importedName] = name.split(":");
    const dots = /^\.*/.exec(module)?.[0].length ?? 0;
    const moduleParts = module
      .slice(dots)
      .split(".")
      .filter((part) => part !== "");
    const parentParts = Array.from({ length: Math.max(0, dots - 1) }, () => "..");
    const fromFolder = dirname(from);
    const searchRoots = rootsByFolder.get(fromFolder) ?? [
      ...roots.toSorted((a, b) => sharedDepth(b, fromFolder) - sharedDepth(a, fromFolder)),
      fromFolder,
    ];
    rootsByFolder.set(fromFolder, searchRoots);
    for (const root of dots > 0 ? [join(fromFolder, ...parentParts)] : searchRoots) {
      const paths = [
        ...(importedName === undefined || importedName === "*" ? [] : [[...moduleParts, importedName]]),
        moduleParts,
      ];
      for (const path of paths) {
        const base = join(root, ...path);
        const file = [`${base}.py`, join(base, "__init__.py")].find((path) => files.has(path));
        if (file !== undefined) return [file];
      }
    }
    return [];
  };
}

/** The folders from which packages are imported. */
function rootsOf(files: ReadonlySet<string>): string[] {
  const paths = [...files];
  const projects = paths.filter((path) => basename(path) === "pyproject.toml").map((path) => dirname(path));
  const packages = paths
    .filter((path) => basename(path) === "__init__.py")
    .map((path) => dirname(dirname(path)))
    .filter((folder) => !files.has(join(folder, "__init__.py")));
  return [...new Set([".", "src", ...projects.flatMap((project) => [project, join(project, "src")]), ...packages])];
}

/** The number of leading folders that two paths share; 0 for the project's root folder. */
function sharedDepth(root: string, folder: string): number {
  const [a, b] = [root.split("/"), folder.split("/")];
  const firstDifference = a.findIndex((part, index) => part !== b[index]);
  return firstDifference === -1 ? a.length : firstDifference;
}
