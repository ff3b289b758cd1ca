import { createHash } from "node:crypto";
import { existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fastGlob from "fast-glob";
import { beforeAll } from "vitest";
import { packageFile } from "../../src/lib/package-root.js";
import { buildPackage, type Ended, run } from "../cli/built.js";
import { makeResearch } from "./research-folder.js";

/** The unit agent as an --agent, for the settings of its environment see its head. */
export const unitAgent = `cmd:${process.execPath} ${fileURLToPath(new URL("./unit-agent.mjs", import.meta.url))}`;

let building: Promise<string> | undefined;

/**
 * The built package of the sources as they were when a test file first asked; test files that run over the same sources share it:
 * a build takes the two processors of a small machine some 20 s. Nobody may write into it.
 */
export const sharedPackage = (): Promise<string> => (building ??= findOrBuild());

beforeAll(sharedPackage, 180_000);

const prefix = "rr-shared-";
const hour = 3_600_000;

async function findOrBuild(): Promise<string> {
  const files = await fastGlob(["src/**/*.ts", "package.json", "tsconfig*.json"], { cwd: packageFile("."), absolute: true });
  const state = files.sort().map((file) => [file, statSync(file).mtimeMs, statSync(file).size]);
  const shared = join(tmpdir(), prefix + createHash("sha256").update(JSON.stringify(state)).digest("hex").slice(0, 16));
  if (existsSync(join(shared, "dist/cli.js"))) return shared;
  const built = await buildPackage();
  try {
    renameSync(built, shared);
  } catch {
    // Another test file was quicker.
    rmSync(built, { recursive: true, force: true });
  }
  for (const name of readdirSync(tmpdir()).filter((each) => each.startsWith(prefix))) {
    const old = join(tmpdir(), name);
    if (Date.now() - statSync(old).mtimeMs > hour) rmSync(old, { recursive: true, force: true });
  }
  return shared;
}

/** Runs the built CLI in `cwd`, which is HOME too. Ours is the only state it sees. */
export async function cli(args: readonly string[], cwd: string, env: Record<string, string> = {}): Promise<Ended> {
  return run(process.execPath, [join(await sharedPackage(), "dist/cli.js"), ...args], cwd, env);
}

/** Arguments that run the unit agent. */
export const withUnitAgent = ["--agent", unitAgent, "--unconfined", "--no-git"] as const;

/** A research that needs no network: two of the sample papers, then the report, then ideas. Five iterations of the unit agent. */
export const sampleResearch = (cwd: string, name = "grasping-2026-03-01"): string =>
  makeResearch(cwd, name, {
    phase: "DISCOVERY",
    mission: { blue_ocean_scoring: true },
    requirements: { target_papers: 2, sources: ["samples"], keywords: ["dexterous manipulation"] },
    handoff: { product_ideation: { enabled: true, min_ideas: 3, max_ideas: 12 } },
  });
