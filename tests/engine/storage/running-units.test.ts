import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { lockFile } from "../../../src/engine/lib/layout.js";
import type { NewEvent } from "../../../src/engine/loop/types.js";
import { acquireLock } from "../../../src/engine/storage/lock.js";
import { readRunningUnits, recordRunningUnits } from "../../../src/engine/storage/running-units.js";
import { cli } from "../../support/processes/in-process.js";
import { freshFolder, makeResearch, paper } from "../../support/projects/research-folder.js";

const started = (iteration: number, unit: string, more: object = {}): NewEvent => ({
  type: "iteration-started",
  iteration,
  unit,
  phase: "ANALYSIS",
  title: `Paper ${unit}`,
  agent: "claude",
  brief_tokens: 1,
  workspace: "/nowhere",
  progress: { done: 0, total: 2 },
  ...more,
});
const ended = (iteration: number, unit: string): NewEvent => ({
  type: "iteration-ended",
  iteration,
  unit,
  outcome: { outcome: "noted", summary: "" },
  duration_seconds: 1,
  usage: { input: 0, cached: 0, output: 0, requests: 0 },
});

async function held() {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, "hands-2026-03-01", {
    papers_pool: [paper("p1", "pending"), paper("p2", "pending")],
  });
  mkdirSync(join(folder, ".ralph"));
  const lock = await acquireLock(lockFile(folder), { subject: "the project" });
  onTestFinished(() => lock.release());
  const told: NewEvent[] = [];
  const tell = recordRunningUnits(folder, async (event) => void told.push(event), Date.now);
  return { cwd, folder, lock, told, tell, file: join(folder, ".ralph", "under-way.json") };
}

test("status and watch tell what is under way while its run holds the lock, and rrd.json is left alone", async () => {
  const { cwd, folder, told, tell, file } = await held();
  const before = readFileSync(join(folder, "rrd.json"), "utf8");
  await tell(started(1, "p1"));
  await tell(started(2, "p2", { role: "critic", round: 2, agent: "codex" }));
  expect(told).toHaveLength(2);
  const { out } = await cli(["status", "hands"], cwd);
  expect(out).toMatch(/Under way {2}#1 reads paper, claude: Paper p1, since/);
  expect(out).toMatch(/#2 critic 2 of paper-2, codex/);
  expect(out).toContain("being read");
  expect(JSON.parse((await cli(["status", "hands", "--json"], cwd)).out)).toMatchObject({
    under_way: [{ unit: "p1" }, { unit: "p2", role: "critic" }],
    pool: [{ id: "p1", status: "analyzing" }, { status: "analyzing" }],
  });
  await tell(ended(1, "p1"));
  expect((await readRunningUnits(folder)).map(({ unit }) => unit)).toEqual(["p2"]);
  await tell(ended(2, "p2"));
  expect(existsSync(file)).toBe(false);
  expect(readFileSync(join(folder, "rrd.json"), "utf8")).toBe(before);
  await tell(started(3, "p1"));
  await tell({ type: "run-ended", verdict: { verdict: "complete", reason: "" } });
  expect(await readRunningUnits(folder)).toEqual([]);
  expect(existsSync(file)).toBe(false);
});

test("what a killed run left is not told of: not without a lock, nor under the lock of another run", async () => {
  const { cwd, folder, lock, tell, file } = await held();
  await tell(started(1, "p1"));
  const left = readFileSync(file, "utf8");
  await lock.release();
  expect(existsSync(file)).toBe(true);
  expect(await readRunningUnits(folder)).toEqual([]);
  expect((await cli(["status", "hands"], cwd)).out).not.toContain("Under way");
  const again = await acquireLock(lockFile(folder), { subject: "the project" });
  onTestFinished(() => again.release());
  writeFileSync(file, left.replace(`"pid":${process.pid}`, '"pid":1'));
  expect(await readRunningUnits(folder)).toEqual([]);
  // The same process number, of a run before this one.
  writeFileSync(file, left.replace(/"since":"[^"]*"/, '"since":"2020-01-01T00:00:00.000Z"'));
  expect(await readRunningUnits(folder)).toEqual([]);
});

test.each(["", "[]", "{", '{"pid":1}', "null", '{"pid":0,"iterations":[1,null,{}]}'])(
  "a file that says %s is none",
  async (text) => {
    const { folder, file } = await held();
    writeFileSync(file, text.replace('"pid":0', `"pid":${process.pid}`));
    expect(await readRunningUnits(folder)).toEqual([]);
  },
);
