import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Coordinator } from "../../../src/fleet/coordinator.js";
import { times } from "../../../src/fleet/keys.js";
import type { FleetWorker } from "../../../src/fleet/worker.js";
import type { AgentEvent } from "../../../src/engine/loop/types.js";
import { type BadNetwork, badNetwork } from "../../support/network/bad-network.js";
import { noRedis, redisNote, type RedisServer, startRedis } from "../../support/network/redis.js";
import { asking, atWork, coordinate, heardOf, runOptions, startWorker, until } from "./support/rig.js";

const usual = { ...times };
let server: RedisServer;
/** Between Redis and the coordinator, and between Redis and the workers. */
let [nearRun, nearWorkers]: BadNetwork[] = [];
const open: { coordinators: Coordinator[]; workers: FleetWorker[] } = { coordinators: [], workers: [] };

const through = (network: BadNetwork | undefined) => ({ url: `redis://127.0.0.1:${network?.port}` });
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function start(patienceMs = 60_000): Promise<Coordinator> {
  open.workers.push(await startWorker(through(nearWorkers)));
  const one = await coordinate(through(nearRun), { maxWaitMs: patienceMs });
  open.coordinators.push(one);
  return one;
}

/** Lines in order, each once, and one end without a failure. */
function expectWhole(heard: readonly AgentEvent[], lines: number, message: string): void {
  const texts = heard.flatMap((event) => (event.type === "text" ? [Number.parseInt(event.text, 10)] : []));
  expect(texts).toEqual(Array.from({ length: lines }, (_, line) => line));
  expect(heard.filter(({ type }) => type === "end")).toEqual([{ type: "end", message }]);
}

describe.skipIf(noRedis !== undefined)(`a network that fails between Redis, run and worker${redisNote}`, () => {
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(async () => {
    await server.stop();
  });
  beforeEach(async () => {
    Object.assign(times, usual, {
      // Of half a minute, so that only what a test loses is lost: here workers and run share one busy process.
      lock: 30_000,
      stallCheckInterval: 500,
      lease: 30_000,
      checkInterval: 200,
      announceInterval: 500,
      maxSilence: 800,
      noWorker: 2_000,
      answerTimeout: 1_500,
    });
    await server.redis.flushall();
    [nearRun, nearWorkers] = [await badNetwork(server.port), await badNetwork(server.port)];
  });
  afterEach(async () => {
    await Promise.all(open.coordinators.splice(0).map((each) => each.close()));
    await Promise.all(open.workers.splice(0).map((each) => each.end()));
    await Promise.all([nearRun?.close(), nearWorkers?.close()]);
    expect(atWork.size).toBe(0);
    Object.assign(times, usual);
  });

  test("one that stalls for a while costs nothing: no attempt more, every line once and in order", async () => {
    const one = await start();
    const runs = [1, 2].map((number) =>
      heardOf(one.run("scripted", asking(number, { lines: 2_000, workMs: 800, message: "done" }), runOptions())),
    );
    await until(() => atWork.size === 2);
    for (const network of [nearRun, nearWorkers]) {
      network?.stall();
      await pause(1_000);
      network?.flow();
      await pause(300);
    }
    for (const heard of await Promise.all(runs)) {
      expectWhole(heard, 2_000, "done");
      expect(heard.filter(({ type }) => type === "begun")).toHaveLength(1);
    }
  });

  test("connections that nobody answers any more are made anew, on both sides, within the time of the locks", async () => {
    const one = await start();
    const brief = asking(1, { workMs: 5_000, result: "{}", message: "done" });
    const run = heardOf(one.run("scripted", brief, runOptions()));
    await until(() => atWork.size === 1);
    nearWorkers?.forget();
    nearRun?.forget();
    const heard = await run;
    expectWhole(heard, 0, "done");
    expect(heard.filter(({ type }) => type === "begun")).toHaveLength(1);
    expect(readFileSync(join(brief.workspace, "result.json"), "utf8")).toBe("{}");
  });

  test("one that cuts connections at any byte, again and again, doubles no line and loses none", async () => {
    const one = await start();
    const runs = [1, 2, 3, 4].map((number) =>
      heardOf(
        one.run("scripted", asking(number, { lines: 3_000, workMs: 4_000, message: `done ${number}` }), runOptions()),
      ),
    );
    const cutting = setInterval(() => {
      const network = Math.random() < 0.5 ? nearRun : nearWorkers;
      network?.cut(Math.floor(Math.random() * 2_000));
    }, 150);
    const all = await Promise.all(runs).finally(() => clearInterval(cutting));
    for (const [index, heard] of all.entries()) {
      // Where an attempt was lost with the answer that gave it to the worker, the next one begins with its first line.
      const last = heard.findLastIndex(({ type }) => type === "begun");
      expectWhole(heard.slice(last), 3_000, `done ${index + 1}`);
    }
    expect((nearRun?.made() ?? 0) + (nearWorkers?.made() ?? 0)).toBeGreaterThan(8);
  });

  test("a worker that is cut off for longer than its lock does not end what another one has begun", async () => {
    times.lock = 6_000;
    const one = await start();
    const brief = asking(1, { workMs: 9_000, message: "done" });
    const run = heardOf(one.run("scripted", brief, runOptions()));
    await until(() => atWork.size === 1);
    nearWorkers?.stall();
    open.workers.push(await startWorker(server));
    const heard = await run;
    nearWorkers?.flow();
    expect(heard.filter(({ type }) => type === "begun")).toHaveLength(2);
    expect(heard.filter(({ type }) => type === "end")).toEqual([{ type: "end", message: "done" }]);
    await until(() => atWork.size === 0);
    expect(existsSync(join(brief.workspace, "result.json"))).toBe(false);
  });

  test("a run that is cut off for longer than its lease loses its agents as failures of the network", async () => {
    times.lease = 6_000;
    const one = await start();
    const run = heardOf(one.run("scripted", asking(1, { workMs: 60_000 }), runOptions()));
    await until(() => atWork.size === 1);
    nearRun?.stall();
    await until(() => atWork.size === 0);
    nearRun?.flow();
    expect((await run).at(-1)).toMatchObject({ type: "end", failure: { kind: "network" } });
  });
});
