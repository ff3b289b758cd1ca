import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";

/** Versions that run on Node 20; newer ones may not, so they are asked for exactly. */
const wanted = { claude: ["@anthropic-ai/claude-code", "2.1.330"], codex: ["@openai/codex", "0.169.0"] } as const;

export type Cli = keyof typeof wanted;

const folder = resolve(fileURLToPath(new URL("../../../../.e2e/clis", import.meta.url)));
const problemFile = join(folder, "problem.txt");

/** Path of the installed CLI, or why it is not there. */
export function installed(cli: Cli): { program: string } | { problem: string } {
  const program = join(folder, "node_modules", ".bin", cli);
  if (existsSync(problemFile)) return { problem: readFileSync(problemFile, "utf8") };
  return existsSync(program) && versionOf(cli) === wanted[cli][1]
    ? { program }
    : { problem: `${wanted[cli].join("@")} is not installed` };
}

function versionOf(cli: Cli): string | undefined {
  const file = join(folder, "node_modules", wanted[cli][0], "package.json");
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).version : undefined;
}

/** Installs what is missing (about 800 MB, once). Where that can't be done the tests say so and are skipped. */
export default async function install(): Promise<void> {
  rmSync(problemFile, { force: true });
  const missing = (Object.keys(wanted) as Cli[]).filter((cli) => "problem" in installed(cli));
  if (missing.length === 0) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "name": "e2e-clis", "private": true }\n');
  const packages = missing.map((cli) => wanted[cli].join("@"));
  process.stderr.write(`Installing ${packages.join(" and ")} into ${folder}; this takes a few minutes, once.\n`);
  const args = ["install", "--no-audit", "--no-fund", "--save-exact", ...packages];
  const { exitCode, stderr } = await execa("npm", args, {
    cwd: folder,
    reject: false,
    timeout: 540_000,
    stdin: "ignore",
  });
  const problem = exitCode === 0 ? await notRunning(missing) : stderr.trim().split("\n").slice(-3).join(" ");
  if (problem === undefined) return;
  writeFileSync(problemFile, `The agent CLIs could not be installed: ${problem}`);
  process.stderr.write(`The agent CLIs could not be installed: ${problem}\nTheir tests are skipped.\n`);
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
