// Agents on other machines, measured with all of them on this one: a Redis server and workers in processes of their
// own, the coordinator in this one or in one that is watched.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "../scripts/bundle.mjs";
import { Absent, root } from "./measure.mjs";

const partner = fileURLToPath(new URL("fleet-partner.mjs", import.meta.url));

const measured = {
  address: "src/fleet/address.ts",
  coordinator: "src/fleet/coordinator.ts",
  worker: "src/fleet/worker.ts",
};

/** What of src/ is measured, built once: a bundler in the process that is watched would count. */
let building;
function built() {
  mkdirSync(join(root, ".build"), { recursive: true });
  const outDir = mkdtempSync(join(root, ".build", "fleet-"));
  process.once("exit", () => rmSync(outDir, { recursive: true, force: true }));
  return (building ??= bundle({ input: measured, outDir }).then(() => outDir));
}

/** Runs `work` with a Redis server of its own and workers with so many places each; all of them end with it. */
export async function besideWorkers(cwd, places, work) {
  if (spawnSync("redis-server", ["--version"], { stdio: "ignore" }).status !== 0)
    throw new Absent("there is no redis-server");
  const port = await freePort();
  const folder = mkdtempSync(join(cwd, "fleet-"));
  const durable = ["--appendonly", "yes", "--save", "", "--dir", folder, "--bind", "127.0.0.1", "--port", String(port)];
  const redis = spawn("redis-server", durable, { stdio: "ignore" });
  const url = `redis://127.0.0.1:${port}`;
  const children = [redis];
  try {
    await untilListening(port);
    for (const [index, count] of places.entries()) {
      const stateDir = join(folder, `worker-${index}`);
      mkdirSync(stateDir);
      const child = spawn(process.execPath, [partner, await built(), "worker", url, String(count), stateDir], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      children.push(child);
      await once(child.stdout, "data");
    }
    return await work({ url, redis: redis.pid });
  } finally {
    for (const child of children.toReversed()) {
      if (child.exitCode === null) child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    }
  }
}

/** Runs the coordinator in a process of its own; answers with what it says at its end. */
export async function coordinating(what, ...args) {
  const child = spawn(process.execPath, [partner, await built(), what, ...args.map(String)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text) => (said += text));
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`the coordinator ended with ${code}`);
  return JSON.parse(said);
}

/** Resident memory of a process in MB: now, and the most there was. */
export function memoryOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const megabytes = (name) => Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1000);
  return { now: megabytes("VmRSS"), peak: megabytes("VmHWM") };
}

async function untilListening(port) {
  for (let tries = 0; tries < 200; tries++) {
    const socket = connect(port, "127.0.0.1");
    const isThere = await new Promise((resolve) =>
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false)),
    );
    socket.destroy();
    if (isThere) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("the Redis server did not start");
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}
