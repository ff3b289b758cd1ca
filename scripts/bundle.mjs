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
import { dirname, join, relative, sep } from "node:path";
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
  "baseline-agent": "src/research/baseline-agent/main.ts",
  reader: "src/research/full-text/reader-main.ts",
};

/**
 * Writes `<outDir>/<name>.js` for each entry and what several of them share to `<outDir>/chunks/`, in place of what lay
 * there.
 *
 * A package of `dependencies` or `optionalDependencies` in package.json stays outside and is imported when it is
 * needed; every other package goes into the bundle. With `mapsDir`, source maps are written there and never next to the
 * code. Answers with the ids of all modules that went in.
 */
export async function bundle({ input, outDir, mapsDir }) {
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const outside = Object.keys({ ...dependencies, ...optionalDependencies });
  const build = await rolldown({
    cwd: root,
    input,
    platform: "node",
    external: (id) => outside.some((name) => id === name || id.startsWith(`${name}/`)),
    logLevel: "warn",
    onLog(level, log, handle) {
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

/**
 * Writes all of what `dist/` holds: the entries, the types of what can be imported, and the licences of the packages
 * inside.
 */
export async function build({ outDir, mapsDir }) {
  const modules = await bundle({ input: entries, outDir, mapsDir });
  for (const file of ["index.ts", "loop.ts"]) writeTypes(file, outDir);
  writeFileSync(join(outDir, "LICENSES.md"), licencesOf(modules));
  // unpdf ships none of pdf.js's tables for Chinese, Japanese and Korean fonts. Their own licence lies among them.
  const cmaps = join(root, "node_modules/pdfjs-dist/cmaps");
  if (!existsSync(cmaps)) throw new Error("The development dependency pdfjs-dist is not installed: run 'npm ci'.");
  cpSync(cmaps, join(outDir, "cmaps"), { recursive: true });
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

/** The licence texts of the packages that the bundle holds: a package that ships their code ships those too. */
function licencesOf(modules) {
  const packages = new Set(
    modules.flatMap((id) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(inRoot(id))?.[1] ?? []),
  );
  const parts = [...packages].sort().map((name) => {
    const folder = join(root, "node_modules", name);
    const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (file === undefined) throw new Error(`${name} has no licence text, so it must not be bundled.`);
    return `## ${name} ${version} (${license})\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
  });
  return ["# Packages whose code is part of dist/, and their licences\n", ...parts].join("\n");
}

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
