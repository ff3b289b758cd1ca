import { existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { entries } from "../../../scripts/bundle.mjs";
import { compileEntries } from "./compiled.js";

/**
 * One program of the package, built alone from the sources when a test first needs it: the whole package takes six
 * times as long. The test files of a run share it, and it goes with the run's temporary folder.
 */
export async function programAlone(name: string): Promise<string> {
  const shared = join(tmpdir(), `rr-program-${name}`);
  if (!existsSync(shared)) {
    const made = mkdtempSync(join(tmpdir(), "rr-program-"));
    await compileEntries(made, { [name]: entries[name] ?? "" });
    try {
      renameSync(made, shared);
    } catch {
      // Another process was quicker.
      rmSync(made, { recursive: true, force: true });
    }
  }
  return join(shared, "dist", `${name}.js`);
}
