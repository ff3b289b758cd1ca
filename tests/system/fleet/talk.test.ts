import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Queue } from "bullmq";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { attemptJob } from "../../../src/engine/fleet/attempt.js";
import type { Coordinator } from "../../../src/engine/fleet/coordinator.js";
import { takenJob } from "../../../src/engine/fleet/job.js";
import { limits, talkOf, times } from "../../../src/engine/fleet/keys.js";
import { fieldsOf } from "../../../src/engine/fleet/talk.js";
import type { FleetWorker } from "../../../src/engine/fleet/worker.js";
import { noRedis, redisNote, type RedisServer, startRedis } from "../../support/redis.js";
import {
  asking,
  atWork,
  coordinate,
  fresh,
  heardOf,
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
const endOf = (events: readonly { type: string }[]) => events.at(-1);

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
      stallCheck: 1_000,
      lease: 20_000,
      look: 200,
      announce: 500,
      silence: 800,
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
    await until(async () => (await server.redis.keys("rr:agent-scripted:*-1*")).length === 0);
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
    expect(endOf(heard)).toEqual({ type: "end", message: "", failure: { kind: "auth", message: "Log in." } });
    expect(existsSync(join(brief.workspace, "result.json"))).toBe(false);
  });

  test("an end does not overtake its events: 100,000 lines come in order, none is missing, and a slow reader holds the agent up", async () => {
    await worker();
    let [next, most] = [0, 0];
    const run = (await coordinator()).run("scripted", asking(1, { lines: 100_000 }), runOptions());
    for await (const event of run) {
      if (event.type !== "text") continue;
      expect(event.text.startsWith(`${next} `)).toBe(true);
      next += 1;
      if (next % 1_000 !== 0) continue;
      const [stream] = await server.redis.keys("rr:talk:*");
      most = Math.max(most, stream === undefined ? 0 : await server.redis.xlen(stream));
      if (next < 20_000) await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(next).toBe(100_000);
    expect(most).toBeGreaterThan(10);
    expect(most).toBeLessThanOrEqual(limits.unread);
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
    await worker();
    const one = await coordinator();
    const run = heardOf(one.run("scripted", asking(1, { workMs: 1_000, message: "right" }), runOptions()));
    await until(async () => (await server.redis.keys("rr:wanted:*")).length === 1);
    const [wanted = ""] = await server.redis.keys("rr:wanted:*");
    const [job = ""] = await server.redis.smembers(wanted);
    const stream = talkOf(wanted.split(":")[2] ?? "");
    const say = (attempt: number, ...items: Parameters<typeof fieldsOf>[0]["items"]) =>
      server.redis.xadd(stream, "*", ...fieldsOf({ job, attempt, sequence: 90, items }));
    await until(() => atWork.size === 1);
    await say(0, { type: "end", message: "wrong" });
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
    await server.redis.xadd(stream, "*", "j", job, "a", "1", "n", "91", "e", '{"type":"end"');
    expect(endOf(await run)).toEqual({ type: "end", message: "right" });
  });

  test("a worker that says more than 8 MB at once has its attempt ended", async () => {
    await worker();
    const run = heardOf((await coordinator()).run("scripted", asking(1, { workMs: 60_000 }), runOptions()));
    await until(() => atWork.size === 1);
    const [wanted = ""] = await server.redis.keys("rr:wanted:*");
    const [job = ""] = await server.redis.smembers(wanted);
    const much = JSON.stringify([{ type: "text", text: "x".repeat(limits.entry) }]);
    await server.redis.xadd(talkOf(wanted.split(":")[2] ?? ""), "*", "j", job, "a", "1", "n", "9", "e", much);
    expect(endOf(await run)).toMatchObject({
      failure: { kind: "crashed", message: expect.stringContaining("too much") },
    });
    await until(() => atWork.size === 0);
  });

  test("what Redis has no memory for is sent again, and nothing of it is lost", async () => {
    const one = await worker();
    const run = heardOf(
      (await coordinator()).run("scripted", asking(1, { workMs: 1_000, message: "kept" }), runOptions()),
    );
    await until(() => atWork.size === 1);
    await server.redis.config("SET", "maxmemory", "1");
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
    const patient = await coordinator({ patienceMs: 1_500 });
    const heard = await heardOf(patient.run("scripted", asking(1, {}), runOptions()));
    expect(heard).toEqual([
      { type: "notice", message: expect.stringContaining("research-ralph worker --agent scripted") },
      {
        type: "end",
        message: "",
        failure: { kind: "auth", message: expect.stringContaining("Nobody did within 1.5 seconds") },
      },
    ]);
    const waiting = heardOf((await coordinator()).run("scripted", asking(2, { message: "late" }), runOptions()));
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await worker();
    expect(endOf(await waiting)).toEqual({ type: "end", message: "late" });
  });

  test("a job of another version is left alone, and both sides are told", async () => {
    const one = await worker();
    const queue = new Queue("agent-scripted", { connection: server.redis, prefix: "rr" });
    await queue.add("run", { version: 9, run: "0123456789abcdef" }, { jobId: "0123456789abcdef-1", priority: 1 });
    await until(() => one.told.some((event) => event.type === "notice" && event.message.includes("of version 9")));
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
    const heard = await heardOf((await coordinator({ patienceMs: 700 })).run("scripted", asking(1, {}), runOptions()));
    expect(heard[0]).toMatchObject({ type: "notice", message: expect.stringContaining("old takes jobs of version 0") });
  });

  test("a job that is none is not taken, and its coordinator is told why", async () => {
    const one = await worker();
    const first = await coordinator();
    const run = heardOf(first.run("scripted", asking(1, { workMs: 500 }), runOptions()));
    const queue = new Queue("agent-scripted", { connection: server.redis, prefix: "rr" });
    await queue.add("run", { version: 1, run: "../x", brief: {}, files: "" }, { jobId: "hostile-1", priority: 1 });
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

  test("limits of a queue hold for all of its workers, and a provider's limit rests it", async () => {
    await worker({ atMost: 2 });
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
    const reset_at = new Date(Date.now() + 2_000).toISOString();
    const limited = await heardOf(
      one.run("scripted", asking(20, { fails: { kind: "rate-limit", message: "Used up.", reset_at } }), runOptions()),
    );
    expect(endOf(limited)).toMatchObject({ failure: { kind: "rate-limit", reset_at } });
    await until(async () => (await server.redis.pttl("rr:agent-scripted:limiter")) > 0);
    await heardOf(one.run("scripted", asking(21, {}), runOptions()));
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(reset_at));
  });

  test("a worker that is told to end finishes what it has; told again it ends at once and puts it back", async () => {
    const [first, one] = [await worker({ concurrency: 1 }), await coordinator()];
    const run = heardOf(one.run("scripted", asking(1, { workMs: 1_000, message: "in peace" }), runOptions()));
    await until(() => atWork.size === 1);
    await first.finish();
    expect(endOf(await run)).toEqual({ type: "end", message: "in peace" });

    const second = await worker();
    const spoken: string[] = [];
    const run2 = one.run("scripted", asking(2, { workMs: 1_500, message: "elsewhere" }), runOptions());
    const again = heardOf(run2, ({ type }) => spoken.push(type));
    await until(() => spoken.includes("begun"));
    void second.finish();
    await second.end();
    expect(atWork.size).toBe(0);
    await worker();
    const heard = await again;
    expect(endOf(heard)).toEqual({ type: "end", message: "elsewhere" });
    expect(heard.some((event) => event.type === "notice" && event.message.startsWith("Begun again"))).toBe(true);
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
    const { jobOf } = await import("../../../src/engine/fleet/job.js");
    const taken = takenJob(
      await jobOf("0123456789abcdef", asking(1, {}), {}, { paths: new Map(), redact: (text) => text }),
    );
    if (!("job" in taken)) throw new Error("it was not taken");
    const said: unknown[] = [];
    const agent = createAgent("scripted", settingsIn(fresh()));
    const send = async (items: unknown) => void said.push(items);
    const { signal } = new AbortController();
    expect(
      await attemptJob(taken, {
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
