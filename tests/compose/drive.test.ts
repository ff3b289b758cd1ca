import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { drive } from "../../src/compose/drive.js";
import { resolveConfig } from "../../src/compose/config.js";
import { ExpectedError } from "../../src/engine/lib/errors.js";
import { fakeIo } from "../engine/ui/fake-io.js";

const how = { json: false, quiet: true, iterations: 1 };

/** A run of the baseline agent whose project can't be opened; `signal` is sent while it is tried. */
async function opening(error: Error, signal?: "SIGINT" | "SIGTERM") {
  const cwd = mkdtempSync(join(tmpdir(), "rr-drive-"));
  const io = fakeIo({ cwd, env: { HOME: cwd, RESEARCH_RALPH_STATE_DIR: join(cwd, "state") } });
  const config = await resolveConfig({ env: io.env, cwd }, { agent: "baseline" });
  return await drive(config, io, how, async () => {
    if (signal !== undefined) io.signals.emit(signal);
    throw error;
  });
}

test.each(["SIGINT", "SIGTERM"] as const)(
  "what %s keeps from being opened is interrupted, not failed",
  async (signal) => {
    const verdict = await opening(new ExpectedError("Reading the document was interrupted."), signal);
    expect(verdict).toMatchObject({ verdict: "interrupted", signal });
  },
);

test("what can't be opened otherwise is the caller's to tell, and a bug goes through whatever the signal", async () => {
  await expect(opening(new ExpectedError("There is no such file."))).rejects.toThrow("There is no such file.");
  await expect(opening(new Error("a bug"), "SIGINT")).rejects.toThrow("a bug");
});
