import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { times } from "../../src/fleet/keys.js";
import { clearUp, openWorkerFolder } from "../../src/fleet/leftovers.js";
import { distantTranscripts, workerNote, workersFolder } from "../../src/engine/lib/layout.js";
import { marker } from "../../src/engine/process/descendants.js";
import { startOfProcess } from "../../src/engine/process/process-identity.js";
import { isAtWork } from "../support/processes/alive.js";

const fresh = (): string => realpathSync(mkdtempSync(join(tmpdir(), "rr-leftovers-")));
const wait = "setInterval(() => {}, 1000)";
const idle = (env: Record<string, string>) =>
  spawn(process.execPath, ["-e", wait], { detached: true, stdio: "ignore", env });
const day = 24 * 3_600_000;
const usual = { ...times };
afterEach(() => Object.assign(times, usual));

/** The folder of a worker that was killed, with notes of these agents. */
async function deadWorker(stateDir: string, agents: readonly object[], host = hostname()): Promise<string> {
  const gone = spawn(process.execPath, ["-e", ""]);
  await once(gone, "exit");
  const folder = join(workersFolder(stateDir), "dead");
  mkdirSync(join(folder, "1"), { recursive: true });
  writeFileSync(join(folder, "1", "brief.txt"), "a brief");
  writeFileSync(workerNote(folder), JSON.stringify({ pid: gone.pid, started: "1", host, agents }));
  return folder;
}
const onLinux = test.skipIf(process.platform !== "linux");

onLinux("agents of a killed worker are ended by their marks, and nothing else is; its workspaces go", async () => {
  const stateDir = fresh();
  const marks = [randomUUID(), randomUUID(), randomUUID()];
  const [agent, other, later] = [idle({ [marker]: marks[0] ?? "" }), idle({}), idle({ [marker]: marks[1] ?? "" })];
  const pids = [agent, other, later].map(({ pid }) => pid ?? 0);
  const [agentStart, otherStart] = await Promise.all(pids.map(startOfProcess));
  const folder = await deadWorker(stateDir, [
    { pid: pids[0], started: agentStart, mark: marks[0] },
    // Numbers that were given out again: to a program that is none of ours, and to a later agent.
    { pid: pids[1], started: otherStart, mark: marks[2] },
    { pid: pids[2], started: "1", mark: marks[2] },
    // No marks: they stand in the environment of others too.
    { pid: pids[2], mark: "" },
    { pid: pids[2], mark: marks[1]?.slice(0, 8) },
    { pid: 1 },
    { pid: -1 },
  ]);
  const ended = once(agent, "exit");
  expect(await clearUp(stateDir, Date.now())).toBe(1);
  expect(await ended).toEqual([null, "SIGKILL"]);
  expect(existsSync(folder)).toBe(false);
  expect([other.exitCode, other.signalCode, later.exitCode, later.signalCode]).toEqual([null, null, null, null]);
  for (const child of [other, later]) {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
});

onLinux("the programs of an agent are ended, though the agent itself has ended with the worker's pipe", async () => {
  const stateDir = fresh();
  const mark = randomUUID();
  const tool = `require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(wait)}], { detached: true, stdio: "ignore" })`;
  const agent = spawn(process.execPath, ["-e", `console.log(${tool}.pid); process.exit()`], {
    detached: true,
    env: { [marker]: mark },
  });
  const [said] = (await once(agent.stdout, "data")) as [Buffer];
  await once(agent, "close");
  const child = Number(said);
  expect(isAtWork(child)).toBe(true);
  await deadWorker(stateDir, [{ pid: agent.pid, started: "1", mark }]);
  expect(await clearUp(stateDir, Date.now())).toBe(1);
  expect(isAtWork(child)).toBe(false);
});

test("what a worker that lives has under way stays, and what it notes of its agents", async () => {
  const stateDir = fresh();
  const folder = await openWorkerFolder(stateDir, "alive");
  const workspace = folder.workspace("1");
  const over = folder.started(process.pid, randomUUID());
  expect(await clearUp(stateDir, Date.now())).toBe(0);
  expect(existsSync(workspace)).toBe(true);
  over();
  folder.remove(workspace);
  expect(existsSync(workspace)).toBe(false);
  folder.close();
  expect(existsSync(join(workersFolder(stateDir), "alive"))).toBe(false);
});

test("a folder without a note may be one that is just being made; an old one goes", async () => {
  const stateDir = fresh();
  const [young, old] = ["young", "old"].map((name) => join(workersFolder(stateDir), name)) as [string, string];
  for (const folder of [young, old]) mkdirSync(folder, { recursive: true });
  writeFileSync(workerNote(old), "{");
  const before = new Date(Date.now() - day);
  utimesSync(old, before, before);
  expect(await clearUp(stateDir, Date.now())).toBe(0);
  expect([existsSync(young), existsSync(old)]).toEqual([true, false]);
});

test("in a home that machines share, the worker of another one is left alone for two weeks", async () => {
  const stateDir = fresh();
  const folder = await deadWorker(stateDir, [], "another-machine");
  expect(await clearUp(stateDir, Date.now() + 13 * day)).toBe(0);
  expect(existsSync(folder)).toBe(true);
  expect(await clearUp(stateDir, Date.now() + 15 * day)).toBe(0);
  expect(existsSync(folder)).toBe(false);
});

test("a note that can't be written ends nothing; no attempt is begun without one", async () => {
  const stateDir = fresh();
  const folder = await openWorkerFolder(stateDir, "full");
  const at = join(workersFolder(stateDir), "full");
  // Stands for a full disk: nothing can be written there.
  renameSync(at, `${at}-away`);
  expect(() => folder.started(process.pid, randomUUID())()).not.toThrow();
  expect(() => folder.workspace("1")).toThrow("ENOENT");
  rmSync(`${at}-away`, { recursive: true });
  folder.close();
});

test("transcripts are kept for two weeks, and looked at each day", async () => {
  Object.assign(times, { tidy: 20 });
  const stateDir = fresh();
  const aged = (path: string, days: number): string => {
    const at = new Date(Date.now() - days * day);
    writeFileSync(path, "said");
    utimesSync(path, at, at);
    return path;
  };
  const folder = await openWorkerFolder(stateDir, "w");
  const [old, recent] = [aged(folder.transcript("old"), 15), aged(folder.transcript("recent"), 13)];
  while (existsSync(old)) await new Promise((resolve) => setTimeout(resolve, 10));
  folder.close();
  aged(old, 15);
  expect(await clearUp(stateDir, Date.now())).toBe(0);
  expect([existsSync(old), existsSync(recent)]).toEqual([false, true]);
  expect(distantTranscripts(stateDir)).toContain(stateDir);
});
