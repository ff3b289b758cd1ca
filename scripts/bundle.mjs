// Bundles TypeScript of src/ into JavaScript for Node: the package's own build, and the entries that tests and
// benchmarks ask for.
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { isolatedDeclarationSync } from "rolldown/experimental";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * The files of the package that are started or imported by name; `entry()` of engine/lib/package-root.ts finds them at
 * run time.
 */
export const entries = {
  cli: "src/cli.ts",
  ralph: "src/ralph.ts",
  index: "src/index.ts",
  loop: "src/loop.ts",
  // Programs that are started as a child: each is called after its file.
  ...Object.fromEntries(
    readdirSync(join(root, "src"), { recursive: true })
      .filter((file) => file.endsWith("-main.ts"))
      .map((file) => [basename(file, "-main.ts"), join("src", file)]),
  ),
};

/**
 * Writes `<outDir>/<name>.js` for each entry and what several of them share to `<outDir>/chunks/`, in place of what lay
 * there.
 *
 * A package of `dependencies` or `peerDependencies` in package.json stays outside and is imported when it is
 * needed; every other package goes into the bundle. With `mapsDir`, source maps are written there and never next to the
 * code. Answers with the ids of all modules that went in.
 */
export async function bundle({ input, outDir, mapsDir }) {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const outside = Object.keys({ ...dependencies, ...peerDependencies });
  const build = await rolldown({
    cwd: root,
    input,
    platform: "node",
    external: (id) => outside.some((name) => id === name || id.startsWith(`${name}/`)),
    logLevel: "warn",
    onLog(level, log, handle) {
      // Only part of the program is built for a script: there a dynamic import may have nothing to save.
      if (log.code === "INEFFECTIVE_DYNAMIC_IMPORT" && input !== entries) return;
      // An import that resolves nowhere would otherwise fail on a user's machine.
      handle(log.code === "UNRESOLVED_IMPORT" ? "error" : level, log);
    },
  });
  try {
    const { output } = await build.generate({
      format: "esm",
      chunkFileNames: "chunks/[name]-[hash].js",
      comments: { legal: true, annotation: false, jsdoc: false },
      sourcemap: mapsDir === undefined ? false : "hidden",
    });
    rmSync(outDir, { recursive: true, force: true });
    for (const file of output) {
      const isMap = file.fileName.endsWith(".map");
      const target = join(isMap ? mapsDir : outDir, file.fileName);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, file.type === "chunk" ? file.code : file.source);
    }
    return output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
  } finally {
    await build.close();
  }
}

/** What of the development dependencies is copied, and where to. */
const copies = [
  // unpdf ships none of pdf.js's tables for Chinese, Japanese and Korean fonts. Their own licence lies among them.
  ["pdfjs-dist/cmaps", "cmaps"],
  ["@ast-grep/lang-python/prebuilds", "grammars/python"],
  ["@ast-grep/lang-rust/prebuilds", "grammars/rust"],
];

/**
 * Writes all of what `dist/` holds: the entries, the types of what can be imported, and the licences of the packages
 * inside.
 */
export async function build({ outDir, mapsDir }) {
  const modules = await bundle({ input: entries, outDir, mapsDir });
  const { exports: exported } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  for (const { types } of Object.values(exported))
    if (types !== undefined) writeTypes(types.replace("./dist/types/", "").replace(/\.d\.ts$/, ".ts"), outDir);
  const copied = copies.map(([folder, target]) => {
    const source = join(root, "node_modules", folder);
    if (!existsSync(source)) throw new Error(`A development dependency is not installed (${folder}): run 'npm ci'.`);
    cpSync(source, join(outDir, target), { recursive: true });
    return source;
  });
  writeFileSync(join(outDir, "LICENSES.md"), licencesOf([...modules, ...copied]));
  for (const name of ["cli", "ralph"]) {
    const program = join(outDir, `${name}.js`);
    if (!readFileSync(program, "utf8").startsWith("#!/usr/bin/env node\n"))
      throw new Error(
        `${name}.js does not start with '#!/usr/bin/env node': put it on the first line of src/${name}.ts.`,
      );
    chmodSync(program, 0o755);
  }
}

/**
 * Writes the types of a file of src/ and of those it names to `<outDir>/types/`. What they hold is written out in the
 * sources, not inferred.
 */
function writeTypes(file, outDir, written = new Set()) {
  if (written.has(file)) return;
  written.add(file);
  const { code, errors } = isolatedDeclarationSync(file, readFileSync(join(root, "src", file), "utf8"));
  if (errors.length > 0) throw new Error(`src/${file}: ${errors[0].message}`);
  const target = join(outDir, "types", file.replace(/\.ts$/, ".d.ts"));
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, code);
  for (const [, other] of code.matchAll(/from "(\.[^"]+)\.js"/g))
    writeTypes(join(dirname(file), `${other}.ts`), outDir, written);
}

/**
 * The licence texts of the packages whose modules the bundle holds: who ships their code ships those too. A package
 * without one takes the text of another package of its repository or author with the same licence, or the licence's own text.
 */
function licencesOf(modules) {
  const folders = new Set(modules.flatMap((id) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(inRoot(id)) ?? []));
  const packages = [...folders].map((folder) => {
    const path = join(root, folder);
    const { name, version, license, repository, author } = JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
    const files = readdirSync(path).filter((entry) => /^(?:licen[cs]e|notice)/i.test(entry));
    const text = files.map((file) => readFileSync(join(path, file), "utf8").trim()).join("\n\n");
    return { name, version, license, repository: repository?.url, author: author?.name ?? author, text };
  });
  const parts = packages.map((one) => {
    const { name, version, license, text } = one;
    const terms =
      text || packages.find((other) => isOfSameOrigin(one, other) && other.text !== "")?.text || standardText(one);
    if (terms === undefined) throw new Error(`${name} has no licence text, so it must not be bundled.`);
    return `## ${name} ${version} (${license})\n\n${terms}\n`;
  });
  return ["# Packages whose code is part of dist/, and their licences\n", ...[...new Set(parts)].sort()].join("\n");
}

/** The text of the licence that a package only names, with its author as the holder. */
function standardText({ license, author }) {
  if (license !== "MIT" || author === undefined) return undefined;
  const terms = readFileSync(join(root, "LICENSE"), "utf8");
  return terms.replace(/^Copyright .*$/m, `Copyright (c) ${author.replace(/\s*[<(].*$/, "")}`);
}

const isOfSameOrigin = (one, other) =>
  one.license === other.license &&
  ((one.repository !== undefined && one.repository === other.repository) ||
    (one.author !== undefined && one.author === other.author));

function inRoot(id) {
  return relative(root, id).split(sep).join("/");
}

/**
 * Modules of src/ for a script or a benchmark, such as `{ memory: "src/engine/loop/run-record/loop-memory.ts" }`, built on
 * demand; one built together share their state.
 */
export async function load(input) {
  // In the repository, so that they find its packages and its files.
  mkdirSync(join(root, ".build"), { recursive: true });
  const outDir = mkdtempSync(join(root, ".build", "loaded-"));
  try {
    await bundle({ input, outDir });
    const modules = Object.keys(input).map(async (name) => [
      name,
      await import(pathToFileURL(join(outDir, `${name}.js`)).href),
    ]);
    return Object.fromEntries(await Promise.all(modules));
  } finally {
    // What a module imports only when it is used is still read from there.
    process.once("exit", () => rmSync(outDir, { recursive: true, force: true }));
  }
}
