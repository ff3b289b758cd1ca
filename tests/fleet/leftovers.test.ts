import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { times } from "../../src/fleet/keys.js";
import { removeDeadWorkers, openWorkerFolder } from "../../src/fleet/leftovers.js";
import { distantTranscripts, workerNote, workersFolder } from "../../src/engine/lib/layout.js";
import { markVariable } from "../../src/engine/process/descendants.js";
import { runProcess } from "../../src/engine/process/run-process.js";
import { isAtWork } from "../support/processes/alive.js";

const fresh = (): string => realpathSync(mkdtempSync(join(tmpdir(), "rr-leftovers-")));
const wait = "setInterval(() => {}, 1000)";
const idle = (env: Record<string, string>) =>
  spawn(process.execPath, ["-e", wait], { detached: true, stdio: "ignore", env });
const day = 24 * 3_600_000;
const usual = { ...times };
afterEach(() => Object.assign(times, usual));

/** The folder of a worker that was killed, whose agents have the marks of this starter. */
async function deadWorker(stateDir: string, starter: string, host = hostname()): Promise<string> {
  const gone = spawn(process.execPath, ["-e", ""]);
  await once(gone, "exit");
  const folder = join(workersFolder(stateDir), "dead");
  mkdirSync(join(folder, "1"), { recursive: true });
  writeFileSync(join(folder, "1", "brief.txt"), "a brief");
  writeFileSync(workerNote(folder), JSON.stringify({ pid: gone.pid, started: "1", host, starter }));
  return folder;
}
const onLinux = test.skipIf(process.platform !== "linux");

onLinux("agents of a killed worker are ended by their marks, and nothing else is; its workspaces go", async () => {
  const stateDir = fresh();
  const [starter, another] = [randomUUID(), randomUUID()];
  const agents = [1, 12].map((at) => idle({ [markVariable]: `${starter}.${at}` }));
  const inherited: Record<string, string>[] = [{}, { [markVariable]: `${another}.1` }, { [markVariable]: starter }];
  const others = [...inherited, { OTHER: `${starter}.1` }].map(idle);
  const folder = await deadWorker(stateDir, starter);
  const ended = Promise.all(agents.map((agent) => once(agent, "exit")));
  expect(await removeDeadWorkers(stateDir, Date.now())).toBe(true);
  expect(await ended).toEqual([
    [null, "SIGKILL"],
    [null, "SIGKILL"],
  ]);
  expect(existsSync(folder)).toBe(false);
  // A part of a starter, or none, would be in the environment of others too.
  for (const part of ["", starter.slice(0, 8)]) {
    await deadWorker(stateDir, part);
    expect(await removeDeadWorkers(stateDir, Date.now())).toBe(false);
  }
  for (const child of others) {
    expect([child.exitCode, child.signalCode]).toEqual([null, null]);
    child.kill("SIGKILL");
    await once(child, "exit");
  }
});

onLinux("what a worker has on the disk before its first agent starts is enough to end that one", async () => {
  const stateDir = fresh();
  const folder = await openWorkerFolder(stateDir, "begun");
  const note = workerNote(join(workersFolder(stateDir), "begun"));
  const text = readFileSync(note, "utf8");
  const request = { command: "sh", args: ["-c", "echo begun; exec sleep 1000"], cwd: stateDir, env: {}, stdin: "" };
  const limits = { timeoutMs: 60_000, idleMs: 0, isFinished: () => false, signal: new AbortController().signal };
  const agent = runProcess({ ...request, ...limits, graceMs: 0 });
  expect((await agent.next()).value).toBe("begun");
  folder.close();
  // As it is where the worker is killed at this instant: its note is one of a process that is gone.
  const { pid, starter } = JSON.parse(text) as { pid: number; starter: string };
  expect(pid).toBe(process.pid);
  await deadWorker(stateDir, starter);
  expect(await removeDeadWorkers(stateDir, Date.now())).toBe(true);
  expect((await agent.next()).value).toMatchObject({ cause: "exited", signal: "SIGKILL" });
});

onLinux("the programs of an agent are ended, though the agent itself has ended with the worker's pipe", async () => {
  const stateDir = fresh();
  const starter = randomUUID();
  const tool = `require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(wait)}], { detached: true, stdio: "ignore" })`;
  const agent = spawn(process.execPath, ["-e", `console.log(${tool}.pid); process.exit()`], {
    detached: true,
    env: { [markVariable]: `${starter}.1` },
  });
  const [said] = (await once(agent.stdout, "data")) as [Buffer];
  await once(agent, "close");
  const child = Number(said);
  expect(isAtWork(child)).toBe(true);
  await deadWorker(stateDir, starter);
  expect(await removeDeadWorkers(stateDir, Date.now())).toBe(true);
  expect(isAtWork(child)).toBe(false);
});

test("what a worker that lives has under way stays", async () => {
  const stateDir = fresh();
  const folder = await openWorkerFolder(stateDir, "alive");
  const workspace = folder.workspace("1");
  expect(await removeDeadWorkers(stateDir, Date.now())).toBe(false);
  expect(existsSync(workspace)).toBe(true);
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
  expect(await removeDeadWorkers(stateDir, Date.now())).toBe(false);
  expect([existsSync(young), existsSync(old)]).toEqual([true, false]);
});

test("in a home that machines share, the worker of another one is left alone for two weeks", async () => {
  const stateDir = fresh();
  const folder = await deadWorker(stateDir, randomUUID(), "another-machine");
  expect(await removeDeadWorkers(stateDir, Date.now() + 13 * day)).toBe(false);
  expect(existsSync(folder)).toBe(true);
  expect(await removeDeadWorkers(stateDir, Date.now() + 15 * day)).toBe(false);
  expect(existsSync(folder)).toBe(false);
});

test("no attempt is begun where a note can't be written, as on a full disk", async () => {
  const stateDir = fresh();
  const folder = await openWorkerFolder(stateDir, "full");
  symlinkSync("/dev/full", `${workerNote(join(workersFolder(stateDir), "full"))}.new`);
  expect(() => folder.workspace("1")).toThrow("ENOSPC");
  folder.close();
});

test("transcripts are kept for two weeks, and looked at each day", async () => {
  Object.assign(times, { cleanupInterval: 20 });
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
  expect(await removeDeadWorkers(stateDir, Date.now())).toBe(false);
  expect([existsSync(old), existsSync(recent)]).toEqual([false, true]);
  expect(distantTranscripts(stateDir)).toContain(stateDir);
});
