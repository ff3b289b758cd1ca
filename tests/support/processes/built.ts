import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdtempSync, realpathSync, renameSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fastGlob from "fast-glob";
import { build } from "../../../scripts/bundle.mjs";
import { packageFile } from "../../../src/engine/lib/package-root.js";

/**
 * Builds the package into a folder of its own, so that nobody's dist/ is replaced under their feet; returns the folder.
 */
export async function buildPackage(): Promise<string> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "rr-built-")));
  for (const file of ["package.json", "bin"]) cpSync(packageFile(file), join(root, file), { recursive: true });
  for (const folder of ["schemas", "node_modules", "demo", "prompt.md", "AGENTS.md", "CLAUDE.md"])
    symlinkSync(packageFile(folder), join(root, folder));
  await build({ outDir: join(root, "dist") });
  return root;
}

let building: Promise<string> | undefined;

/**
 * The built package of the sources as they were when a test file first asked; the test files of a run share it. Nobody
 * may write into it, and it goes with the run's temporary folder.
 */
export const sharedPackage = (): Promise<string> => (building ??= findOrBuild());

async function findOrBuild(): Promise<string> {
  const files = await fastGlob(["src/**/*.ts", "package.json", "scripts/bundle.mjs"], {
    cwd: packageFile("."),
    absolute: true,
  });
  const state = files.sort().map((file) => [file, statSync(file).mtimeMs, statSync(file).size]);
  const shared = join(
    tmpdir(),
    `rr-shared-${createHash("sha256").update(JSON.stringify(state)).digest("hex").slice(0, 16)}`,
  );
  if (existsSync(shared)) return shared;
  const built = await buildPackage();
  try {
    renameSync(built, shared);
  } catch {
    // Another test file was quicker.
    rmSync(built, { recursive: true, force: true });
  }
  return shared;
}

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/**
 * For a test that is the author of the settings it runs by: nobody else's folder is a matter of it. Sentences are
 * checked where a test is about that.
 */
const ownSettings = { RESEARCH_RALPH_TRUST: "true", RESEARCH_RALPH_CHECK: "false" };

/** Runs a program to its end. */
export function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { PATH: process.env["PATH"], HOME: cwd, ...ownSettings, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const ended = { out: "", err: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => (ended.out += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (ended.err += text));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, ...ended }));
  });
}
