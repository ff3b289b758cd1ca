import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll } from "vitest";
import { type Ended, run, sharedPackage } from "./built.js";
import { makeResearch } from "./research-folder.js";

/** The unit agent as an --agent, for the settings of its environment see its head. */
export const unitAgent = `cmd:${process.execPath} ${fileURLToPath(new URL("./unit-agent.mjs", import.meta.url))}`;

beforeAll(sharedPackage, 180_000);

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
