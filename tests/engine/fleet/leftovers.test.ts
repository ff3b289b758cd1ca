import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { clearUp, openWorkerFolder } from "../../../src/engine/fleet/leftovers.js";
import { distantTranscripts, workerNote, workersFolder } from "../../../src/engine/lib/layout.js";
import { marker } from "../../../src/engine/process/descendants.js";
import { startOfProcess } from "../../../src/engine/process/process-identity.js";

const fresh = (): string => realpathSync(mkdtempSync(join(tmpdir(), "rr-leftovers-")));
const idle = (env: Record<string, string>) =>
  spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { detached: true, stdio: "ignore", env });

/** The folder of a worker that was killed, with notes of these agents. */
async function deadWorker(stateDir: string, agents: readonly object[]): Promise<string> {
  const gone = spawn(process.execPath, ["-e", ""]);
  await once(gone, "exit");
  const folder = join(workersFolder(stateDir), "dead");
  mkdirSync(join(folder, "1"), { recursive: true });
  writeFileSync(join(folder, "1", "brief.txt"), "a brief");
  writeFileSync(workerNote(folder), JSON.stringify({ pid: gone.pid, started: "1", agents }));
  return folder;
}

test.skipIf(process.platform !== "linux")(
  "agents of a killed worker are ended by what names them for good, and nothing else is; its workspaces go",
  async () => {
    const stateDir = fresh();
    const [agent, other, restarted] = [idle({ [marker]: "a-run" }), idle({}), idle({ [marker]: "another" })];
    const pids = [agent, other, restarted].map(({ pid }) => pid ?? 0);
    const [agentStart, otherStart] = await Promise.all(pids.map(startOfProcess));
    const folder = await deadWorker(stateDir, [
      { pid: pids[0], started: agentStart },
      // Numbers that were given out again: to a program that is none of ours, and to a later agent.
      { pid: pids[1], started: otherStart },
      { pid: pids[2], started: "1" },
      { pid: 1 },
      { pid: -1 },
    ]);
    const ended = once(agent, "exit");
    expect(await clearUp(stateDir, Date.now())).toBe(1);
    expect(await ended).toEqual([null, "SIGKILL"]);
    expect(existsSync(folder)).toBe(false);
    expect([other.exitCode, other.signalCode, restarted.exitCode, restarted.signalCode]).toEqual([
      null,
      null,
      null,
      null,
    ]);
    for (const child of [other, restarted]) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
  },
);

test("what a worker that lives has under way stays, and what it notes of its agents", async () => {
  const stateDir = fresh();
  const folder = await openWorkerFolder(stateDir, "alive");
  const workspace = folder.workspace("1");
  const over = folder.started(process.pid);
  expect(await clearUp(stateDir, Date.now())).toBe(0);
  expect(existsSync(workspace)).toBe(true);
  over();
  folder.remove(workspace);
  expect(existsSync(workspace)).toBe(false);
  folder.close();
  expect(existsSync(join(workersFolder(stateDir), "alive"))).toBe(false);
});

test("transcripts are kept for two weeks; notes that nobody can read are no reason to fail", async () => {
  const stateDir = fresh();
  const folder = await openWorkerFolder(stateDir, "w");
  const [old, recent] = [folder.transcript("old"), folder.transcript("recent")];
  for (const path of [old, recent]) writeFileSync(path, "said");
  const day = 24 * 3_600_000;
  utimesSync(old, new Date(Date.now() - 15 * day), new Date(Date.now() - 15 * day));
  folder.close();
  const broken = join(workersFolder(stateDir), "broken");
  mkdirSync(broken, { recursive: true });
  writeFileSync(workerNote(broken), "{");
  expect(await clearUp(stateDir, Date.now())).toBe(0);
  expect([existsSync(old), existsSync(recent), existsSync(broken)]).toEqual([false, true, false]);
  expect(distantTranscripts(stateDir)).toContain(stateDir);
});
