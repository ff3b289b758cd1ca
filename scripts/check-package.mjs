// What a release must and must not hold, read from what npm would pack. Needs dist/.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const { version, exports, bin } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/**
 * In bytes, a fifth above what it was when this was written: a package that grows more has taken something in by
 * mistake.
 */
const maxPacked = 4_500_000;
const maxUnpacked = 20_000_000;

/** Characters: no licence says less. */
const minLicence = 300;

const needed = [
  "package.json",
  "README.md",
  "LICENSE",
  "CHANGELOG.md",
  "prompt.md",
  "AGENTS.md",
  "CLAUDE.md",
  "dist/LICENSES.md",
  "dist/baseline-agent.js",
  "dist/cmaps/LICENSE",
  "dist/grammars/python/prebuild-macOS-ARM64/parser.so",
  "dist/grammars/rust/prebuild-Linux-X64/parser.so",
  "schemas/rrd.schema.json",
  "schemas/validators/rrd.cjs",
  ...Object.values(bin),
  ...[exports["."], exports["./loop"]].flatMap((entry) => Object.values(entry)).map((path) => path.slice(2)),
];
/** Of the projects only the report of the sample is read by users. */
const unwanted =
  /^(tests|src|bench|scripts|researches(?!\/sample-[^/]+\/research-report\.md$)|\.ci|\.e2e|\.build)\/|\.map$|\.test\.|\.tsbuildinfo$/;

/** All that is wrong with the package. */
function* faults() {
  const { status, stdout, stderr } = spawnSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: root,
    encoding: "utf8",
  });
  if (status !== 0) return yield `npm pack ended with ${status}: ${stderr}`;
  const [{ files, size, unpackedSize }] = JSON.parse(stdout);
  const paths = new Set(files.map(({ path }) => path));
  for (const path of needed) if (!paths.has(path)) yield `${path} is missing; 'npm run build' makes what is in dist/`;
  for (const path of paths) if (unwanted.test(path)) yield `${path} must not be published`;
  if (size > maxPacked) yield `it has ${size} bytes packed, more than ${maxPacked}`;
  if (unpackedSize > maxUnpacked) yield `it has ${unpackedSize} bytes unpacked, more than ${maxUnpacked}`;
  yield* unlicensed();
  if (!readFileSync(join(root, "CHANGELOG.md"), "utf8").includes(`\n## ${version}`))
    yield `CHANGELOG.md has no section on ${version}`;
  console.log(`${files.length} files, ${size} bytes packed, ${unpackedSize} unpacked`);
}

/** Each package whose code is in dist/ has its licence there, with a text. A source map names where code came from. */
function* unlicensed() {
  const licences = readFileSync(join(root, "dist/LICENSES.md"), "utf8");
  const maps = join(root, ".build/maps", version);
  if (!existsSync(maps)) return yield `there are no source maps in .build/maps/${version}; run 'npm run build'`;
  const inside = new Set(
    mapsIn(maps).flatMap((file) =>
      JSON.parse(readFileSync(file, "utf8")).sources.flatMap(
        (source) => /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(source)?.[1] ?? [],
      ),
    ),
  );
  if (inside.size === 0) yield "no source map names a package, so the licences can't be checked";
  const texts = new Map(
    licences
      .split(/^## (?=\S+ \d\S* \(.+\)$)/m)
      .map((part) => [part.split(" ")[0], part.split("\n").slice(1).join("\n").trim()]),
  );
  for (const name of [...inside, "pdfjs-dist", "@ast-grep/lang-python", "@ast-grep/lang-rust"])
    if ((texts.get(name) ?? "").length < minLicence) yield `dist/LICENSES.md has no licence text of ${name}`;
}

function mapsIn(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith(".map"))
    .map((name) => join(folder, name));
}

const found = [...faults()];
for (const fault of found) console.error(`The package: ${fault}.`);
if (found.length > 0) process.exitCode = 1;
