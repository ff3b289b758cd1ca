import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fastGlob from "fast-glob";
import { expect, test } from "vitest";
import { entries } from "../../scripts/bundle.mjs";
import { packageFile } from "../../src/engine/lib/package-root.js";

const src = packageFile("src");
const files = fastGlob.sync("**/*.ts", { cwd: src });

/** What each file imports, types included; the linter's own rule for cycles does not see those. Paths within src/. */
const importsOf = (text: string, from: string): string[] =>
  [...text.matchAll(/(?:from\s+|import\(\s*|import\s+)"(\.[^"]+)"/g)].map(([, to = ""]) =>
    join(dirname(from), to).replace(/\.js$/, ".ts"),
  );

/** The groups of nodes that reach each other (Tarjan's strongly connected components), those of one left out. */
function circlesIn(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const circles: string[][] = [];
  const visit = (node: string): void => {
    order.set(node, order.size);
    lowest.set(node, order.size - 1);
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) visit(next);
      if (stack.includes(next)) lowest.set(node, Math.min(lowest.get(node) ?? 0, lowest.get(next) ?? 0));
    }
    if (lowest.get(node) !== order.get(node)) return;
    const circle = stack.splice(stack.indexOf(node));
    if (circle.length > 1) circles.push(circle.toSorted());
  };
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return circles;
}

const graph = new Map(files.map((file) => [file, importsOf(readFileSync(join(src, file), "utf8"), file)]));

/** Tells whether a path is one of a file, as comments write it: from the root, from src/, or its end. */
const isInSrc = (path: string): boolean => files.some((file) => `/src/${file}`.endsWith(`/${path}`));

test("circles are found, also those of types alone", () => {
  const planted = new Map([
    ["a.ts", importsOf('import type { B } from "./b.js";', "a.ts")],
    ["b.ts", importsOf('export type { C } from "./deep/c.js";', "b.ts")],
    ["deep/c.ts", importsOf('const load = () => import("../a.js");', "deep/c.ts")],
    ["d.ts", importsOf('import { a } from "./a.js";', "d.ts")],
  ]);
  expect(circlesIn(planted)).toEqual([["a.ts", "b.ts", "deep/c.ts"]]);
});

/** What can be taken out, and the one file outside of it that knows it. */
const removable: [what: string, folders: string[], registration: string][] = [
  ["the Agent Client Protocol", ["engine/agents/acp"], "engine/agents/adapters.ts"],
  ["plugins", ["engine/plugins", "compose/extensions/plugins"], "compose/extensions/extensions.ts"],
  ["commands as tools", ["commands/as-tools"], "commands/search/mcp.ts"],
  [
    "the MCP server",
    ["commands/as-tools", "commands/search/mcp.ts", "engine/tools/mcp-server.ts"],
    "commands/command-line/answer.ts",
  ],
  ["skills", ["commands/task/skill.ts"], "commands/command-line/other-work.ts"],
  ["traces", ["engine/traces"], "compose/drive.ts"],
];

test.each(removable)("only its registration knows %s", (_what, folders, registration) => {
  const isInside = (file: string) => folders.some((folder) => file.startsWith(`${folder}/`) || file === folder);
  const outside = [...graph].filter(([file, imports]) => !isInside(file) && imports.some(isInside));
  expect(outside.map(([file]) => file)).toEqual([registration]);
});

test("no comment is wider than 120 characters; the formatter holds that for code", () => {
  const wide = files
    .filter((file) => !file.includes("/generated/"))
    .flatMap((file) =>
      readFileSync(join(src, file), "utf8")
        .split("\n")
        .flatMap((line, index) =>
          /^\s*(?:\/\/|\/?\*)/.test(line) && line.length > 120 ? [`${file}:${index + 1}`] : [],
        ),
    );
  expect(wide).toEqual([]);
});

test("a file that a comment names exists", () => {
  const names = new Set(files.map((file) => file.split("/").at(-1)));
  const missing = files
    .filter((file) => !file.includes("/generated/"))
    .flatMap((file) =>
      readFileSync(join(src, file), "utf8")
        .split("\n")
        .filter((line) => /^\s*(?:\/\/|\/?\*)/.test(line))
        .flatMap((line) => [...line.matchAll(/(?:^|[\s(`])((?:[\w-]+\/)*([\w-]+\.ts))\b/g)])
        .filter(([, path = "", name]) => (path.includes("/") ? !isInSrc(path) : !names.has(name)))
        .map(([, path]) => `${file}: ${path}`),
    );
  expect(missing).toEqual([]);
});

test("a file that a page names exists", () => {
  const root = join(src, "..");
  const known = fastGlob.sync("{src,tests,bench,scripts}/**/*.ts", { cwd: root });
  const pages = ["README.md", "CONTRIBUTING.md", ...fastGlob.sync("docs/**/*.md", { cwd: root })];
  const missing = pages.flatMap((page) =>
    [...readFileSync(join(root, page), "utf8").matchAll(/`([\w/.-]+\.ts)`/g)]
      .filter(([, path]) => !known.some((file) => `/${file}`.endsWith(`/${path}`)))
      .map(([, path]) => `${page}: ${path}`),
  );
  expect(missing).toEqual([]);
});

test("no file imports itself by way of others, types included", () => {
  expect(graph.size).toBeGreaterThan(100);
  expect(circlesIn(graph)).toEqual([]);
});

test("no two folders of a wing import each other", () => {
  const folderOf = (file: string) => file.split("/").slice(0, 2).join("/");
  const folders = new Map<string, string[]>();
  for (const [file, imports] of graph) {
    const own = folderOf(file);
    folders.set(own, [...(folders.get(own) ?? []), ...imports.map(folderOf).filter((other) => other !== own)]);
  }
  expect(circlesIn(folders)).toEqual([]);
});

const layouts = [
  "engine/lib/layout.ts",
  "research/project-files/layout.ts",
  "task/project-files/layout.ts",
  "code/project-files/layout.ts",
];
const textOf = (file: string) => readFileSync(join(src, file), "utf8");
const withoutImports = (text: string) => text.replace(/^import [^;]*;$/gm, "");
/** Every name that the layouts give to a file or a folder. */
const names = [
  ...new Set(
    layouts.flatMap((file) => [...withoutImports(textOf(file)).matchAll(/"([^"]+)"/g)].map(([, name = ""]) => name)),
  ),
];

/**
 * Names of the layouts that a file writes by itself: those with an ending or in capitals anywhere, plain words only in
 * a path.
 */
function strayNames(text: string): string[] {
  const code = withoutImports(text).replace(/^\s*(\/\/|\/?\*).*$/gm, "");
  const inPaths = [...code.matchAll(/\b(?:join|resolve)\(([^;]*?)\)/g)].map(([, args = ""]) => args).join("\n");
  const own = [...code.matchAll(/\binHidden\(\s*"([^"]+)|\bjoin\([\w.]*stateDir, ["`]([^"`$]+)/g)].map(
    ([, a, b]) => a ?? b ?? "",
  );
  return [...own, ...names.filter((name) => (/[.A-Z]/.test(name) ? code : inPaths).includes(`"${name}"`))];
}

test("only the layouts name the files of a project, of .ralph and of the state folder", () => {
  expect(names).toEqual(expect.arrayContaining([".ralph", "lock", "journal", "hosts", "rrd.json", "texts", "backups"]));
  const planted = 'const a = join(folder, "texts"), b = "rrd.json", c = "lock", d = join(x, name("http"));';
  expect(strayNames(planted).toSorted()).toEqual(["http", "rrd.json", "texts"]);
  expect(strayNames('const e = inHidden("new.json"), f = join(config.stateDir, "new");')).toEqual(["new.json", "new"]);
  // An agent like others: it has these names from its brief.
  const isAgent = (file: string) => file.startsWith("research/baseline-agent/");
  const stray = files
    .filter((file) => !layouts.includes(file) && !file.includes("/generated/") && !isAgent(file))
    .flatMap((file) => strayNames(textOf(file)).map((name) => `${file}: ${name}`));
  expect(stray).toEqual([]);
});

test("git is started in one place, which knows what must not run with it", () => {
  const starts = /\b(?:execa|spawn\w*|execFile\w*)\(\s*"git"/;
  expect(files.filter((file) => starts.test(textOf(file)))).toEqual(["engine/storage/git-command.ts"]);
});

/** A concept that needs more has parts of its own. */
const maxEntries = 16;

test(`no folder holds more than ${maxEntries} entries`, () => {
  const entries = new Map<string, Set<string>>();
  for (const file of files) {
    const parts = file.split("/");
    for (let depth = 0; depth < parts.length; depth++) {
      const folder = parts.slice(0, depth).join("/");
      entries.set(folder, (entries.get(folder) ?? new Set()).add(parts[depth] ?? ""));
    }
  }
  expect([...entries].filter(([, names]) => names.size > maxEntries).map(([folder]) => folder)).toEqual([]);
});

test("only one file asks where it lies: a bundle moves the others, and with them what they would find", () => {
  const asks = (text: string) => /\bimport\.meta\b|\b__(?:dir|file)name\b/.test(text);
  expect(asks('const here = new URL("../x.json", import.meta.url);')).toBe(true);
  expect(files.filter((file) => asks(readFileSync(join(src, file), "utf8")))).toEqual(["engine/lib/package-root.ts"]);
});

test("every program that is started by name is an entry of the build", () => {
  const named = files.flatMap((file) =>
    [...readFileSync(join(src, file), "utf8").matchAll(/\bbuiltFile\("([^"]+)"\)/g)].map(([, name]) => name),
  );
  expect(named).toContain("baseline-agent");
  expect(Object.keys(entries)).toEqual(expect.arrayContaining(named));
});

test("benchmarks, scripts and tests name no file deep in dist/: what they need of it is built on demand", () => {
  const names = (text: string) =>
    /(?<!ajv\/)\bdist\/(?!(?:chunks|types|cmaps|grammars)\b)[\w-]+\/|"dist",\s*"(?!cli\.js")\w/.test(text);
  expect(names('join(root, "dist/engine/loop/notes.js")')).toBe(true);
  expect(names('join(root, "dist", "agents", "main.js")')).toBe(true);
  const programs = fastGlob.sync("{bench,scripts,tests}/**/*.{ts,mjs}", { cwd: packageFile(".") });
  expect(programs.length).toBeGreaterThan(100);
  const deep = programs.filter((file) => names(readFileSync(packageFile(file), "utf8")));
  expect(deep).toEqual(["tests/house/layout.test.ts"]);
});

/** What a benchmark takes out of files that it builds on demand, as "file: name". */
function takenBy(program: string): string[] {
  const taken: string[] = [];
  for (const [, to = "", list = ""] of program.matchAll(/\b(\{[^}=]*\}|\w+) = await load\(\{([^}]*)\}\)/g))
    for (const [, key = "", file = ""] of list.matchAll(/(\w+): "([^"]+)"/g)) {
      taken.push(`${file}:`);
      const own = to.startsWith("{") ? (to.match(new RegExp(`\\b${key}: (\\w+)`))?.[1] ?? key) : `${to}.${key}`;
      // Another variable of the same name says nothing of the file.
      if (!own.includes(".") && new RegExp(`(?:const|let) ${own}\\b|[(,] ?${own}\\b[^(]*=>`).test(program)) continue;
      const used = program.matchAll(new RegExp(`(?<![\\w.])${own.replace(".", "\\.")}\\.(\\w+)`, "g"));
      const apart = program.matchAll(new RegExp(`const \\{([^}]*)\\} = ${own.replace(".", "\\.")};`, "g"));
      const parted = [...apart].flatMap(([, names = ""]) => names.split(",").map((name) => name.split(":")[0]?.trim()));
      taken.push(
        ...[...used]
          .map(([, name]) => name)
          .concat(parted)
          .map((name) => `${file}: ${name}`),
      );
    }
  return taken;
}

test("what benchmarks take out of the sources is there: nothing else reads them before somebody measures", () => {
  const isThere = (taken: string): boolean => {
    const [file = "", name = ""] = taken.split(/: ?/);
    const text = existsSync(packageFile(file)) ? readFileSync(packageFile(file), "utf8") : undefined;
    return text !== undefined && (name === "" || new RegExp(`^export .*\\b${name}\\b`, "m").test(text));
  };
  const planted = takenBy('const a = await load({ x: "src/cli.ts", y: "src/no.ts" }); const { b: c } = a.x; a.x.d();');
  expect(planted.filter((each) => !isThere(each))).toEqual(["src/cli.ts: d", "src/cli.ts: b", "src/no.ts:"]);
  const programs = fastGlob.sync("bench/**/*.mjs", { cwd: packageFile(".") });
  const taken = programs.flatMap((file) => takenBy(readFileSync(packageFile(file), "utf8")));
  expect(taken.length).toBeGreaterThan(60);
  expect(taken.filter((each) => !isThere(each))).toEqual([]);
});

/** What is loaded with a file before anything runs, files within src/ and packages: no types, nothing by `import()`. */
function loadedWith(start: string): Set<string> {
  const loaded = new Set([start]);
  for (const file of loaded) {
    if (!graph.has(file)) continue;
    const text = readFileSync(join(src, file), "utf8");
    for (const [, names = "", to = ""] of text.matchAll(
      /^(?:import|export)\s+(?!type\b)([^;"]*?)\bfrom\s+"([^"]+)"/gm,
    )) {
      const isOfTypes = /^\{\s*(?:type\s[^,}]+,?\s*)+\}\s*$/.test(names);
      if (!isOfTypes) loaded.add(to.startsWith(".") ? join(dirname(file), to).replace(/\.js$/, ".ts") : to);
    }
  }
  return loaded;
}

test("what reports and the local page are made with is loaded neither by --version nor by run", () => {
  const heavy = /^(?:web\/|research\/report\/|research\/papers\/export\/|hono|@hono\/|markdown-it|@citation-js\/)/;
  const heavyOf = (start: string) => [...loadedWith(start)].filter((each) => heavy.test(each));
  for (const start of ["cli.ts", "commands/main.ts", "commands/command-line/program.ts", "commands/run/run.ts"])
    expect([start, ...heavyOf(start)]).toEqual([start]);
  expect(heavyOf("commands/inspect/report.ts")).toContain("research/report/model.ts");
  expect(heavyOf("web/app.ts")).toContain("hono");
});

test("a run with nothing left to do loads nothing that finds, reads or judges, and the tools' server looks for no quotes", () => {
  const working =
    /^(?:text\/evidence\/(?!count-quotes)|research\/(?:full-text\/|screening\/(?!eligibility\/)|sources\/|tools\/|units\/\w+\/(?:work|prepare|brief|judge)))/;
  const loadedOf = (start: string, what: RegExp) => [...loadedWith(start)].filter((each) => what.test(each));
  expect(loadedOf("commands/run/run.ts", working)).toEqual([]);
  expect(loadedOf("research/units/reading/work.ts", working)).toContain("text/evidence/check-evidence.ts");
  const documents = /^text\/(?:evidence\/(?!count-quotes)|documents\/(?:pdf|jats|latex)\/)/;
  expect(loadedOf("commands/search/mcp.ts", documents)).toEqual([]);
});
