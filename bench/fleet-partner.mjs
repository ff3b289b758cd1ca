// The other side of bench/fleet.mjs: a worker whose agents only wait or print, or a coordinator that is measured.
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { memoryOf } from "./fleet.mjs";

const [modules, what, url, ...args] = process.argv.slice(2);

/** It does what its brief says: wait so many milliseconds, print so many lines. */
const scripted = {
  name: "scripted",
  confinement: "workspace",
  free: true,
  invoke: () => ({ command: "scripted", args: [] }),
  processAccess: () => ({ read: [], write: [], hosts: [], keys: [], env: {} }),
  reader() {
    let message;
    return {
      line(line) {
        if (line !== "done") return [{ type: "text", text: line }];
        message = line;
        return [];
      },
      isFinished: () => false,
      answer: () => (message === undefined ? {} : { message }),
    };
  },
};

async function* exec({ stdin, signal }) {
  const { ms = 0, lines = 0 } = JSON.parse(stdin.slice(0, stdin.indexOf("}") + 1));
  for (let line = 0; line < lines; line++) yield `${line} ${"x".repeat(95)}`;
  await sleep(ms, undefined, { signal }).catch(() => undefined);
  yield "done";
  return { cause: signal.aborted ? "aborted" : "exited", exitCode: 0, stderr: "" };
}

const workspaces = mkdtempSync(join(tmpdir(), "rr-bench-fleet-"));
let made = 0;

/** Real agents do not all take the same time, and so do not end together. Milliseconds. */
const anySpan = () => 500 + Math.random() * 1_000;

/** A brief of so many bytes. */
function asking(deed, bytes) {
  const workspace = join(workspaces, String((made += 1)));
  mkdirSync(workspace);
  const text = `${JSON.stringify(deed)}${"The words of a brief. ".repeat(bytes / 22)}`;
  return { iteration: made, text, tokens: 1, workspace, access: { web: false, read: false, everything: false } };
}

const [address, coordinator, worker] = await Promise.all(
  ["address", "coordinator", "worker"].map((name) => import(pathToFileURL(join(modules, `${name}.js`)).href)),
);
const open = () =>
  coordinator.openCoordinator(address.readAddress(url, false), {
    ...{
      project: "bench",
      replacedPaths: new Map(),
      redact: (text) => text,
      maxIterationMs: 600_000,
      maxWaitMs: 60_000,
    },
  });
async function one(from, deed, bytes, each = () => undefined) {
  for await (const event of from.run("scripted", asking(deed, bytes), { signal: new AbortController().signal })) {
    if (event.type === "end" && event.failure !== undefined) throw new Error(event.failure.message);
    await each(event);
  }
}

if (what === "worker") {
  const [places, stateDir] = args;
  await worker.openWorker({
    ...{ address: address.readAddress(url, false), agent: "scripted", concurrency: Number(places), now: Date.now },
    tell: ({ type }) => type === "ready" && console.log("ready"),
    settings: {
      ...{ iterationMs: 600_000, idleMs: 0, unconfined: false, classic: false, stateDir, exec, cwd: stateDir, env: {} },
      ...{ transcript: () => undefined, adapters: [scripted], agents: {} },
    },
  });
} else if (what === "many") {
  const [lanes, all] = args.map(Number);
  const from = await open();
  // What is loaded once is not a cost of an iteration.
  await one(from, { ms: 0 }, 80_000);
  const [cpu, began] = [process.cpuUsage(), performance.now()];
  let left = all;
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      while (left > 0) {
        left -= 1;
        await one(from, { ms: 1_000 }, 80_000);
      }
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  await from.close();
  console.log(
    JSON.stringify({ rate: all / seconds, cpuMs: (user + system) / 1000 / all, memory: memoryOf(process.pid).peak }),
  );
} else if (what === "much") {
  const [lines, redis] = args.map(Number);
  const from = await open();
  let [next, inOrder, redisPeak] = [0, true, 0];
  await one(from, { lines }, 100, async (event) => {
    if (event.type !== "text") return;
    inOrder &&= event.text.startsWith(`${next} `);
    next += 1;
    if (next % 100 === 0) await sleep(1);
    if (next % 1_000 === 0) redisPeak = Math.max(redisPeak, memoryOf(redis).now);
  });
  await from.close();
  console.log(JSON.stringify({ inOrder: inOrder && next === lines, memory: memoryOf(process.pid).peak, redisPeak }));
} else if (what === "beside") {
  const [few, many] = [await open(), await open()];
  const four = async () => {
    const began = performance.now();
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        for (let turn = 0; turn < 5; turn++) await one(few, { ms: anySpan() }, 80_000);
      }),
    );
    return (performance.now() - began) / 1000;
  };
  const alone = await four();
  let isOver = false;
  const forty = Array.from({ length: 40 }, async () => {
    while (!isOver) await one(many, { ms: anySpan() }, 80_000);
  });
  await sleep(3_000);
  const beside = await four();
  isOver = true;
  await Promise.all(forty);
  await Promise.all([few.close(), many.close()]);
  console.log(JSON.stringify({ alone, beside }));
}
