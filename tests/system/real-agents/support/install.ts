import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";

/** Versions that run on Node 20; newer ones may not, so they are asked for exactly. */
const wanted = {
  claude: ["@anthropic-ai/claude-code", "2.1.330"],
  codex: ["@openai/codex", "0.169.0"],
  gemini: ["@google/gemini-cli", "0.61.0"],
  opencode: ["opencode-ai", "1.18.33"],
} as const;

export type Cli = keyof typeof wanted;

const folder = resolve(fileURLToPath(new URL("../../../../.e2e/clis", import.meta.url)));
const problemFile = join(folder, "problem.txt");

/** Path of the installed CLI, or why it is not there. */
export function installed(cli: Cli): { program: string } | { problem: string } {
  const program = join(folder, "node_modules", ".bin", cli);
  if (existsSync(problemFile)) return { problem: readFileSync(problemFile, "utf8") };
  return existsSync(program) && versionOf(wanted[cli][0], folder) === wanted[cli][1]
    ? { program }
    : { problem: `${wanted[cli].join("@")} is not installed` };
}

function versionOf(name: string, where: string): string | undefined {
  const file = join(where, "node_modules", name, "package.json");
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).version : undefined;
}

/** Test frameworks of npm: a project in a sandbox needs them in its own folder. */
const frameworks = { vitest: "4.1.12", jest: "29.7.0", mocha: "11.7.2" } as const;
const frameworksFolder = resolve(folder, "../test-frameworks");

/** The folder `node_modules` that holds vitest, jest and mocha, or why it is not there. */
export function testFrameworks(): { folder: string } | { problem: string } {
  const missing = Object.entries(frameworks).find(([name, version]) => versionOf(name, frameworksFolder) !== version);
  return missing === undefined
    ? { folder: join(frameworksFolder, "node_modules") }
    : { problem: `${missing.join("@")} is not installed` };
}

/** Installs what is missing (about 900 MB, once). Where that can't be done the tests say so and are skipped. */
export default async function install(): Promise<void> {
  if ("problem" in testFrameworks()) {
    const problem = await add(
      frameworksFolder,
      Object.entries(frameworks).map((each) => each.join("@")),
    );
    if (problem !== undefined)
      process.stderr.write(`The test frameworks could not be installed: ${problem}\nTheir tests are skipped.\n`);
  }
  rmSync(problemFile, { force: true });
  const missing = (Object.keys(wanted) as Cli[]).filter((cli) => "problem" in installed(cli));
  if (missing.length === 0) return;
  const problem =
    (await add(
      folder,
      missing.map((cli) => wanted[cli].join("@")),
    )) ?? (await notRunning(missing));
  if (problem === undefined) return;
  writeFileSync(problemFile, `The agent CLIs could not be installed: ${problem}`);
  process.stderr.write(`The agent CLIs could not be installed: ${problem}\nTheir tests are skipped.\n`);
}

/** Adds packages to a folder of their own; answers with what went wrong. */
async function add(into: string, packages: readonly string[]): Promise<string | undefined> {
  mkdirSync(into, { recursive: true });
  writeFileSync(join(into, "package.json"), '{ "name": "e2e", "private": true }\n');
  process.stderr.write(`Installing ${packages.join(" and ")} into ${into}; this takes a few minutes, once.\n`);
  const args = ["install", "--no-audit", "--no-fund", "--save-exact", ...packages];
  const { exitCode, stderr } = await execa("npm", args, {
    cwd: into,
    reject: false,
    timeout: 540_000,
    stdin: "ignore",
  });
  return exitCode === 0 ? undefined : stderr.trim().split("\n").slice(-3).join(" ");
}

/** An npm that runs no install scripts leaves a claude without its binary. */
async function notRunning(clis: readonly Cli[]): Promise<string | undefined> {
  for (const cli of clis) {
    const { exitCode, stderr } = await execa(join(folder, "node_modules", ".bin", cli), ["--version"], {
      reject: false,
      timeout: 60_000,
      stdin: "ignore",
    });
    if (exitCode !== 0) return `${cli} --version fails: ${stderr.trim().slice(-300)}`;
  }
  return undefined;
}
