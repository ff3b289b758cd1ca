// One command for a release: version, changelog, checks, the packed file, and its install tried in an empty folder.
// npm run release -- 0.2.0. It ends with a commit and a tag, and publishes nothing.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Files that name the version, where in them, and what is written there. */
const named = [
  [".claude-plugin/plugin.json", /"version": "[^"]+/, (version) => `"version": "${version}`],
  [
    "CITATION.cff",
    /^version: .+\n(?:date-released: .+\n)?/m,
    (version, date) => `version: ${version}\ndate-released: ${date}\n`,
  ],
];

/** Files of changes below `.changes`, without what explains them. */
const changesIn = (root) =>
  readdirSync(join(root, ".changes"))
    .filter((name) => name.endsWith(".md") && name !== "README.md")
    .sort();

const textOf = (root, name) => readFileSync(join(root, ".changes", name), "utf8").trim();

/**
 * Writes the version and its section of the changelog, made of the files in `.changes`, which go. A section that is
 * written and says "unreleased" gets its date. `date`: YYYY-MM-DD.
 * @throws Error for a word that names no version, for one that is released, and where nothing has changed.
 */
export function prepare(root, version, date) {
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`'${version}' is not a version; give one such as 0.2.0.`);
  const path = join(root, "CHANGELOG.md");
  const before = readFileSync(path, "utf8");
  const changes = changesIn(root);
  const lines = changes.map((name) => `- ${textOf(root, name).replaceAll("\n", "\n  ")}`);
  const list = lines.length === 0 ? "" : `\n${lines.join("\n")}\n`;
  const open = `## ${version} – unreleased\n`;
  if (new RegExp(`^## ${version.replaceAll(".", "\\.")} – \\d`, "m").test(before))
    throw new Error(`${version} is released; give a later version.`);
  if (!before.includes(open) && lines.length === 0)
    throw new Error("Nothing has changed since the last release: there is no file in .changes.");
  const heading = `## ${version} – ${date}\n`;
  const [start, sections] = [before.slice(0, before.search(/^## /m)), before.slice(before.search(/^## /m))];
  // Behind what the section says already, and before the one that follows.
  const next = sections.slice(open.length).search(/^## /m);
  const end = next < 0 ? sections.length : open.length + next;
  const [written, others] = before.includes(open)
    ? [`${heading}${sections.slice(open.length, end).trimEnd()}\n`, sections.slice(end)]
    : [heading, sections];
  writeFileSync(path, `${start}${written}${list}${others === "" ? "" : `\n${others}`}`);
  for (const name of changes) rmSync(join(root, ".changes", name));
  for (const [file, place, textFor] of named) {
    const target = join(root, file);
    writeFileSync(target, readFileSync(target, "utf8").replace(place, textFor(version, date)));
  }
}

/** Runs a program, shows what it prints, and ends the release where it fails. Answers with what it printed where that is kept. */
function run(cwd, command, args, stdout = "inherit") {
  console.log(`\n▸ ${[command, ...args].join(" ")}`);
  const ended = spawnSync(command, args, { cwd, stdio: ["ignore", stdout, "inherit"], encoding: "utf8" });
  if (ended.status !== 0) throw new Error(`${command} ${args[0] ?? ""} ended with ${ended.status ?? ended.signal}.`);
  return ended.stdout?.trim() ?? "";
}

/** Installs the packed file in an empty folder, and runs a whole project there. */
function tryInstall(file, version) {
  const folder = mkdtempSync(join(tmpdir(), "research-ralph-release-"));
  try {
    run(folder, "npm", ["install", "--no-audit", "--no-fund", file]);
    const program = join(folder, "node_modules/.bin/research-ralph");
    const installed = run(folder, program, ["--version"], "pipe");
    if (installed !== version) throw new Error(`The installed version is ${installed}.`);
    run(folder, program, ["demo"]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Releases the version. @throws Error where a step fails; the tree is then as it was, without a commit or a tag. */
function release(root, version) {
  const git = (...args) => run(root, "git", args, "pipe");
  if (git("status", "--porcelain") !== "") throw new Error("The tree has changes; commit them first.");
  if (git("tag", "--list", `v${version}`) !== "") throw new Error(`There is a tag v${version}; give a later version.`);
  const before = git("rev-parse", "HEAD");
  try {
    prepare(root, version, new Date().toISOString().slice(0, 10));
    run(root, "npm", ["version", version, "--no-git-tag-version", "--allow-same-version", "--ignore-scripts"]);
    run(root, "npm", ["run", "check"]);
    run(root, "node", ["scripts/pack.mjs"]);
    const file = join(root, `research-ralph-${version}.tgz`);
    tryInstall(file, version);
    git("add", "--all");
    git("commit", "--quiet", "--message", `Release ${version}`);
    git("tag", "--annotate", `v${version}`, "--message", `research-ralph ${version}`);
    console.log(`\n${version} is ready in ${file}. To publish it: git push --follow-tags, then npm publish ${file}`);
  } catch (error) {
    // Nothing of a person's is lost: the tree had no changes.
    git("reset", "--quiet", "--hard", before);
    throw error;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  // The step that runs ends by it, and what was written is taken back.
  process.on("SIGINT", () => undefined);
  try {
    release(fileURLToPath(new URL("..", import.meta.url)), process.argv[2] ?? "");
  } catch (error) {
    console.error(`release: ${error.message} Nothing was published, and the tree is as it was.`);
    process.exitCode = 1;
  }
}
