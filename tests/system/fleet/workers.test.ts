import { readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { workerCommand } from "../../../src/commands/fleet/worker.js";
import { readAddress } from "../../../src/fleet/address.js";
import { entriesKey, times } from "../../../src/fleet/keys.js";
import { readFleetState } from "../../../src/fleet/overview.js";
import { ExpectedError } from "../../../src/engine/lib/errors.js";
import { workerNote, workersFolder } from "../../../src/engine/lib/layout.js";
import { fakeIo, fakeSignals } from "../../engine/ui/fake-io.js";
import { killProcesses } from "../../support/processes/kill-processes.js";
import { noRedis, redisNote, type RedisServer, startRedis } from "../../support/network/redis.js";
import { sampleResearch } from "../../support/projects/research-folder.js";
import { hasBegun, offered, offering, processesWith, type Program, quickProgram, start } from "./support/programs.js";
import { asking, coordinate, fresh, heardOf, runOptions, settingsIn, startWorker, until } from "./support/rig.js";

const usual = { ...times };
let server: RedisServer;
const toClose: (() => Promise<unknown>)[] = [];
const worker = async (more: Parameters<typeof startWorker>[1] = {}) => {
  const one = await startWorker(server, more);
  toClose.push(() => one.end());
  return one;
};
const coordinator = async () => {
  const one = await coordinate(server);
  toClose.push(() => one.close());
  return one;
};
const launch = (...args: Parameters<typeof start>): Program => {
  const program = start(...args);
  toClose.push(async () => {
    const { exitCode, pid } = program.child;
    killProcesses(exitCode === null && pid !== undefined ? [pid] : []);
    await program.ended;
  });
  return program;
};

describe.skipIf(noRedis !== undefined)(`workers${redisNote}`, () => {
  beforeEach(async () => {
    server = await startRedis();
  });
  afterEach(async () => {
    for (const close of toClose.splice(0).toReversed()) await close();
    Object.assign(times, usual);
    await server.stop();
  });

  test("a job of a worker whose disk is full is taken by another that was idle, and waits for no lock to run out", async () => {
    Object.assign(times, { lock: 3_600_000, stallCheckInterval: 3_600_000 });
    const stateDir = fresh();
    const full = await worker({ settings: settingsIn(stateDir) });
    const [id = ""] = readdirSync(workersFolder(stateDir));
    symlinkSync("/dev/full", `${workerNote(join(workersFolder(stateDir), id))}.new`);
    const other = await worker();
    const one = await coordinator();
    const isPutBack = () => full.told.some((event) => event.type === "ended" && event.outcome === "put back");
    let took = Infinity;
    for (let iteration = 1; !isPutBack(); iteration++) {
      const sentAt = performance.now();
      const heard = await heardOf(one.run("scripted", asking(iteration, { message: "here" }), runOptions()));
      expect(heard.at(-1)).toEqual({ type: "end", message: "here" });
      took = performance.now() - sentAt;
    }
    console.log(`A job that was put back was done after ${(took / 1000).toFixed(1)} s.`);
    expect(full.told).toContainEqual(
      expect.objectContaining({ type: "ended", outcome: "put back", reason: expect.stringContaining("no space") }),
    );
    expect(full.told.filter(({ type }) => type === "notice")).not.toEqual([]);
    await until(() => other.told.some(({ type }) => type === "ended"));
  });

  test("a user without rights for the queue ends the worker: exit code 5, the queue and the line, and nothing stays", async () => {
    const rights = ["on", ">open-sesame", "resetkeys", "~rr:agent-other:*", "+@all", "-@dangerous", "+info"];
    await server.redis.call("ACL", "SETUSER", "lab", ...rights);
    const url = server.url.replace("//", "//lab:open-sesame@");
    const stateDir = fresh();
    const connections = async () => String(await server.redis.call("CLIENT", "LIST")).match(/ user=lab /g)?.length ?? 0;
    const refused = await startWorker({ url }, { settings: settingsIn(stateDir) }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ExpectedError);
    expect(refused).toMatchObject({
      exitCode: 5,
      message: expect.stringContaining("ACL SETUSER lab ~rr:agent-scripted:* ~rr:talk:* %R~rr:wanted:*"),
    });
    expect(String(refused)).not.toContain("open-sesame");
    expect(readdirSync(workersFolder(stateDir))).toEqual([]);
    await until(async () => (await connections()) === 0);

    await server.redis.call("ACL", "SETUSER", "lab", "~rr:agent-scripted:*");
    // Its queue alone is not enough to talk to runs.
    await expect(startWorker({ url }, { settings: settingsIn(stateDir) })).rejects.toMatchObject({ exitCode: 5 });
    await server.redis.call("ACL", "SETUSER", "lab", "~rr:talk:*", "%R~rr:wanted:*");
    const allowed = await startWorker({ url }, { settings: settingsIn(stateDir) });
    await allowed.end();
    await server.redis.hset("rr:agent-secret:meta", "opts.maxLenEvents", "1");
    await expect(readFleetState(readAddress(url, false))).rejects.toMatchObject({
      exitCode: 5,
      message: expect.stringMatching(/the queue agent-secret needs; .*ACL SETUSER lab ~rr:\* /),
    });
    await until(async () => (await connections()) === 0);
  });

  test("an agent that names a year for its limit rests its worker for a day", async () => {
    const one = await coordinator();
    const it = await worker();
    const reset_at = new Date(Date.now() + 365 * 24 * 3_600_000).toISOString();
    const fails = { kind: "rate-limit", message: "used up", reset_at } as const;
    await heardOf(one.run("scripted", asking(1, { fails }), runOptions()));
    await until(() => it.told.some(({ type }) => type === "notice"));
    const notice = it.told.find(({ type }) => type === "notice");
    const restsUntil = Date.parse(/until (\S+Z)/.exec(JSON.stringify(notice))?.[1] ?? "");
    expect(Math.round((restsUntil - Date.now()) / 3_600_000)).toBe(24);
    expect(JSON.stringify(it.told)).not.toContain(reset_at);
    const [{ workers: [offer] = [] } = {}] = (await readFleetState(readAddress(server.url, false))).queues;
    expect(offer?.rests_until).toBe(new Date(restsUntil).toISOString());
  });

  test("what a worker says is forgotten within minutes where nobody reads it", async () => {
    const one = await coordinator();
    await worker();
    let ttl = 0;
    await heardOf(one.run("scripted", asking(1, { lines: 3, workMs: 500 }), runOptions()), async () => {
      const [key = ""] = await server.redis.keys(entriesKey("*"));
      ttl ||= await server.redis.pttl(key);
    });
    expect(ttl).toBeGreaterThan(0);
    expect(ttl).toBeLessThanOrEqual(10 * 60_000);
  });

  test("a terminal that closes is no first signal to a worker under nohup", async () => {
    const signals = fakeSignals({ underNohup: true });
    const home = fresh();
    const io = fakeIo({ cwd: home, env: { HOME: home, PATH: process.env["PATH"] }, signals });
    const flags = { agent: "baseline", redis: server.url };
    const code = workerCommand({ flags, json: false, quiet: false }, io);
    await until(() => io.err().includes("offers baseline"));
    signals.emit("SIGHUP");
    signals.emit("SIGTERM");
    expect(await code).toBe(0);
    expect(io.err()).toContain("ends after its iterations");
  });

  test("a killed worker leaves no program of an agent that printed, and a run says that TLS is missing", async () => {
    const program = await quickProgram();
    const [cwd, home] = [fresh(), fresh()];
    const span = 300_000 + process.pid;
    // It prints, and so ends with the pipe of its worker; what it has started does not.
    const mark = `rr-mark-${process.pid}-${Date.now()}`;
    const agent = `cmd:sh -c 'if [ -e ${home}/again ]; then cat >/dev/null; echo "{}"; else touch ${home}/again; setsid sleep ${span} & while :; do echo "{}"; sleep 0.05; : ${mark}; done; fi'`;
    const args = offering(agent, server.url);
    const first = await offered(launch(program, args, home));
    sampleResearch(cwd);
    const project = launch(
      program,
      ["run", "--agent", `fleet:${agent}`, "--redis", server.url, "--insecure-redis", "-i", "1", "--no-git"],
      cwd,
    );
    const tool = `sleep\u0000${span}`;
    await until(() => hasBegun(project) && processesWith(tool).length > 0);
    expect(project.said()).toContain("is reached without TLS: anyone on the network between can read briefs");
    first.child.kill("SIGKILL");
    await first.ended;
    await until(() => processesWith(mark).filter((pid) => pid !== project.child.pid).length === 0);
    expect(processesWith(tool)).toHaveLength(1);
    const second = launch(program, args, home);
    await until(() => second.said().includes("its agents were still running"));
    expect(processesWith(tool)).toEqual([]);
  });
});
