import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import fastGlob from "fast-glob";
import ts from "typescript";
import { load } from "../../../scripts/bundle.mjs";
import { Absent, inFolder, root } from "../../measure.mjs";

/** Packages that ship the sources they are built from. */
const packages = ["ai", "rxjs", "zod"];
/** Packages of Python that are measured where they are installed, besides its own library. */
const modules = ["sympy", "trio", "werkzeug", "pip"];

export const row = {
  name: "graph-recall",
  what: "import graph: imports between the files of a tree that it finds, of those that TypeScript's own resolution finds, or Python's `ast` and `importlib`",
  hold: "≥ 0.98",
  command: "npm run bench -- graph-recall",
  async run({ rehearse }) {
    const { graph } = await load({ graph: "src/code/graph/graph.ts" });
    const trees = [...scriptTrees(), ...(rehearse ? [] : pythonTrees())];
    const said = [];
    for (const tree of rehearse ? trees.slice(1, 2) : trees)
      said.push(
        await inFolder(async (folder) => {
          await tree.copyTo(folder);
          execFileSync("git", ["init", "-q", folder]);
          mkdirSync(join(folder, ".ralph"));
          const { imports } = await graph.readGraph(folder);
          return compared(tree.name, imports, await tree.edges(folder));
        }),
      );
    return { ours: said.join("; ") };
  },
};

/** `truth`: the edges of each file, as the other resolver has them. */
function compared(name, imports, truth) {
  const [missed, extra] = [[], []];
  let [all, found, ours] = [0, 0, 0];
  for (const [file, targets] of truth) {
    const own = new Set(imports.get(file));
    ours += own.size;
    for (const target of targets) {
      all += 1;
      if (own.has(target)) found += 1;
      else missed.push(`${file} → ${target}`);
    }
    for (const target of own) if (!targets.has(target)) extra.push(`${file} → ${target}`);
  }
  if (process.env.BENCH_MISSED === "1")
    console.error([name, ...missed.slice(0, 20), "+", ...extra.slice(0, 20)].join("\n  "));
  return `${name}: ${truth.size} files, ${found} of ${all} imports (${(found / all).toFixed(3)}), ${ours - found} more`;
}

function scriptTrees() {
  const own = {
    name: "research-ralph, TypeScript",
    copyTo(folder) {
      const names = execFileSync("git", [
        "-C",
        root,
        "ls-files",
        "src",
        "tests",
        "bench",
        "scripts",
        "package.json",
        "tsconfig.json",
      ]);
      for (const name of names.toString().split("\n").filter(Boolean)) copy(join(root, name), join(folder, name));
    },
    edges: (folder) => scriptEdges(folder),
  };
  const others = packages
    .map((name) => join(root, "node_modules", name))
    .filter((path) => existsSync(join(path, "src")))
    .map((path) => ({
      name: `${basename(path)}, TypeScript`,
      copyTo(folder) {
        for (const name of ["src", "package.json", "tsconfig.json"])
          if (existsSync(join(path, name))) copy(join(path, name), join(folder, name));
      },
      edges: (folder) => scriptEdges(folder),
    }));
  return [own, ...others];
}

/** What TypeScript reads from each file, resolved by TypeScript. */
async function scriptEdges(folder) {
  const files = await fastGlob("**/*.{ts,tsx,mts,cts,js,mjs,cjs}", {
    cwd: folder,
    ignore: ["**/*.d.ts", "**/node_modules/**"],
  });
  const options = {
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    allowJs: true,
    resolveJsonModule: false,
  };
  return new Map(
    files.map((file) => {
      const path = join(folder, file);
      const { importedFiles } = ts.preProcessFile(readFileSync(path, "utf8"), true, true);
      const targets = importedFiles.flatMap(({ fileName }) => {
        const found = ts.resolveModuleName(fileName, path, options, ts.sys).resolvedModule?.resolvedFileName;
        if (found === undefined) return [];
        // Of a declaration beside a program, the program.
        const program = found.replace(/\.d\.([cm]?)ts$/, ".$1js");
        const target = relative(folder, existsSync(program) ? program : found);
        return target.startsWith("..") || /\.d\.[cm]?ts$/.test(target) ? [] : [target];
      });
      return [file, new Set(targets.filter((target) => target !== file))];
    }),
  );
}

function pythonTrees() {
  const ask = (code) => {
    try {
      return execFileSync("python3", ["-c", code], { encoding: "utf8" }).trim();
    } catch {
      throw new Absent("there is no python3");
    }
  };
  const library = ask("import os; print(os.path.dirname(os.__file__))");
  const version = ask("import platform; print(platform.python_version())");
  const own = {
    name: `the library of Python ${version}`,
    copyTo: (folder) =>
      copy(library, folder, (path) => !/site-packages|__pycache__|lib2to3|test\/|\/tests?$|config-3/.test(path)),
  };
  const others = modules
    .map((name) => join(library, "site-packages", name))
    .filter(existsSync)
    .map((path) => ({
      name: `${basename(path)}, Python`,
      copyTo: (folder) => copy(path, join(folder, basename(path))),
    }));
  return [own, ...others].map((tree) => ({ ...tree, edges: pythonEdges }));
}

/** Reads every file by `ast`, and finds each module by the finders of `importlib`, without running any of them. */
const script = `
import ast, json, os, sys
from importlib.machinery import PathFinder
root = os.path.realpath(sys.argv[1])
def spec(name):
    path = [root]
    found = None
    for part in name.split("."):
        found = PathFinder.find_spec(part, path)
        if found is None: return None
        within = found.submodule_search_locations
        path = list(getattr(within, "_path", within) or [])
    return found
known = {}
def file_of(name):
    if name not in known:
        found = spec(name) if name else None
        origin = found.origin if found and found.has_location else None
        known[name] = os.path.relpath(origin, root) if origin and origin.startswith(root + os.sep) and origin.endswith(".py") else None
    return known[name]
edges = {}
for folder, _, names in os.walk(root):
    for name in names:
        if not name.endswith(".py"): continue
        path = os.path.join(folder, name)
        own = os.path.relpath(path, root)
        try: tree = ast.parse(open(path, encoding="utf8").read())
        except Exception: continue
        parts = own[:-3].split(os.sep)
        package = parts[:-1]
        found = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names: found.add(file_of(alias.name))
            elif isinstance(node, ast.ImportFrom):
                above = package[: len(package) - (node.level - 1)] if node.level else []
                base = ".".join([*above, *([node.module] if node.module else [])])
                for alias in node.names:
                    inner = file_of(f"{base}.{alias.name}" if base else alias.name)
                    found.add(inner if inner else file_of(base))
        found.discard(None); found.discard(own)
        edges[own] = sorted(found)
print(json.dumps(edges))
`;

function pythonEdges(folder) {
  const said = execFileSync("python3", ["-c", script, folder], { encoding: "utf8", maxBuffer: 1 << 28 });
  return new Map(Object.entries(JSON.parse(said)).map(([file, targets]) => [file, new Set(targets)]));
}

function copy(from, to, filter = () => true) {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to, {
    recursive: true,
    dereference: true,
    filter: (path) => !/__pycache__|\.pyc$|\.so$/.test(path) && filter(path),
  });
}
