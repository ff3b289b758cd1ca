import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Gives a whole run of the tests, and all that it starts, a temporary folder of its own, and removes it: thousands of
 * small ones would stay.
 */
export default function ownTempFolder(): () => void {
  const usual = process.env["TMPDIR"];
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "rr-tests-")));
  process.env["TMPDIR"] = folder;
  return () => {
    if (usual === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = usual;
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
}
