import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { drive } from "../../src/compose/drive.js";
import { resolveConfig } from "../../src/compose/config.js";
import { ExpectedError } from "../../src/engine/lib/errors.js";
import { zeroSpending } from "../../src/engine/loop/stop-conditions/budget.js";
import type { Unit, Workflow } from "../../src/engine/loop/types.js";
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

test("a budget of the project that cannot limit an agent is told of before its first unit", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "rr-drive-"));
  const io = fakeIo({ cwd, env: { HOME: cwd, RESEARCH_RALPH_STATE_DIR: join(cwd, "state") } });
  const config = await resolveConfig({ env: io.env, cwd }, { agent: "cmd:true", unconfined: true });
  const workflow: Workflow<object, Unit, undefined, undefined> = {
    name: "test",
    load: async () => ({}),
    next: () => ({ verdict: "complete", reason: "Done." }),
    progress: () => ({ done: 0, total: 0 }),
    account: () => ({ spent: zeroSpending, budget: { usd: 1 } }),
    brief: async () => "stale",
    accept: async () => ({ outcome: "accepted", summary: "" }),
  };
  await drive(config, io, { ...how, quiet: false }, async () => workflow);
  expect(io.err()).toContain("The budget cannot limit cmd:true, because it does not tell what it uses");
});
