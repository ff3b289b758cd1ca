import { join } from "node:path";
import { beforeAll } from "vitest";
import { type Ended, run, sharedPackage } from "./built.js";

beforeAll(sharedPackage, 180_000);

/** Runs the built CLI in `cwd`, which is HOME too. Ours is the only state it sees. */
export async function cli(args: readonly string[], cwd: string, env: Record<string, string> = {}): Promise<Ended> {
  return run(process.execPath, [join(await sharedPackage(), "dist/cli.js"), ...args], cwd, env);
}
