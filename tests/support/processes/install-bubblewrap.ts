import { execFileSync } from "node:child_process";
import { findBubblewrap } from "../../../src/engine/sandbox/bubblewrap.js";

/** Installs Debian's bubblewrap where that can be done; the tests that need it are skipped by name where it can't. */
export default async function install(): Promise<void> {
  const found = await findBubblewrap(process.env);
  if ("program" in found || process.getuid?.() !== 0) return;
  try {
    const options = {
      stdio: "ignore",
      timeout: 120_000,
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    } as const;
    execFileSync("apt-get", ["update", "-qq"], options);
    execFileSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "bubblewrap"], options);
  } catch {
    process.stderr.write(`Tests of sandboxes are skipped, because ${found.problem}.\n`);
  }
}
