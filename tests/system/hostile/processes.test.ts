import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { useBuiltCli } from "./support/built.js";

const house = useBuiltCli();
const threeSeconds = "0.05";

describe.concurrent("an agent that does not end is ended, its result counts for nothing, and nothing of it is left", () => {
  test.for([
    ["silent", ["--idle-minutes", threeSeconds], "idle", /nothing for 3 seconds/],
    ["silent", ["--iteration-minutes", threeSeconds], "timeout", /took longer than 3 seconds/],
    ["deaf-to-TERM", ["--iteration-minutes", threeSeconds], "timeout", /took longer than/],
  ] as const)("%s, %j: %s", async ([mode, limits, failure, reason], { expect }) => {
    const { run, rrd, ledger, progress, left } = house();
    const [before, log] = [rrd().papers_pool, progress()];
    const { code, verdict } = await run(`processes.mjs ${mode}`, "-i", "1", ...limits);
    expect({ code, verdict }).toMatchObject({ code: 3, verdict: { verdict: "limit" } });
    expect(ledger()).toMatchObject([
      { iteration: 1, unit: "first", outcome: "failed", failure, reasons: [expect.stringMatching(reason)] },
    ]);
    expect([rrd().papers_pool, progress()]).toEqual([before, log]);
    expect(left()).toEqual([]);
  });

  test("killed by a signal: crashed, never taken for an exit with 0", async ({ expect }) => {
    const { run, ledger, paper, left } = house();
    const { code } = await run("processes.mjs killed", "-i", "1");
    expect(code).toBe(3);
    expect(ledger()).toMatchObject([
      { outcome: "failed", failure: "crashed", reasons: [expect.stringMatching(/ended by SIGKILL|exit code 137/)] },
    ]);
    expect(paper("first")?.status).toBe("pending");
    expect(left()).toEqual([]);
  });
});

test("three failures of one unit in a row end the run with failed", async () => {
  const { run, ledger, rrd, left } = house();
  const { code, verdict } = await run("processes.mjs killed");
  expect({ code, verdict }).toMatchObject({
    code: 1,
    verdict: { verdict: "failed", reason: expect.stringContaining("three failures in a row") },
  });
  expect(ledger().map(({ outcome }) => outcome)).toEqual(["failed", "failed", "failed"]);
  expect(rrd().papers_pool.map(({ status }) => status)).toEqual(["pending", "pending"]);
  expect(left()).toEqual([]);
});

// One that keeps handing over to another is a race, which a busy machine may let it win now and then: only a sandbox
// can end that for good.
describe.concurrent("what an agent leaves running is ended with it, and its good result counts", { retry: 3 }, () => {
  test.for(["holds-stdout", "detaches", "daemonises-twice", "a-family", "fork-bomb", "passes-on"])(
    "%s",
    async (mode, { expect }) => {
      const { run, ledger, paper, left } = house();
      const { code } = await run(`processes.mjs ${mode}`, "-i", "1");
      expect(code).toBe(3);
      expect(ledger()).toMatchObject([{ outcome: "accepted" }]);
      expect(paper("first")?.status).toBe("presented");
      expect(left()).toEqual([]);
    },
  );
});

test("100,000 files in the workspace: accepted, and the workspace is gone", async () => {
  const { run, ledger, state, left } = house();
  const { code } = await run("processes.mjs 100000-files", "-i", "1");
  expect(code).toBe(3);
  expect(ledger()).toMatchObject([{ outcome: "accepted" }]);
  const workspaces = join(state, "workspaces");
  expect(existsSync(workspaces) ? readdirSync(workspaces, { recursive: true }).length : 0).toBeLessThan(2);
  expect(left()).toEqual([]);
});
