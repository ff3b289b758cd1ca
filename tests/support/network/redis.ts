import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { freePort } from "./free-port.js";

/** Why tests that need a Redis server are skipped here; undefined where they run. For the names of tests. */
export const noRedis: string | undefined =
  spawnSync("redis-server", ["--version"], { stdio: "ignore" }).status === 0 ? undefined : "there is no redis-server";

/** Behind the name of a group of tests that may be skipped. */
export const redisNote = noRedis === undefined ? "" : ` (skipped: ${noRedis})`;

/** A Redis server of a test's own on a port of 127.0.0.1. What it keeps outlives a kill. */
export interface RedisServer {
  readonly port: number;
  readonly folder: string;
  /** Without a user. */
  readonly url: string;
  /** The certificate, where it speaks TLS. */
  readonly certificate?: string;
  /** A connection for the test itself; closed with the server. */
  readonly redis: Redis;
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
  /** Starts it again, over what it has kept. */
  start(): Promise<void>;
  /** Ends it, and removes what it has kept. */
  stop(): Promise<void>;
}

interface RedisWishes {
  readonly tls?: boolean;
  /** Of the usual user; by default none. */
  readonly password?: string;
  readonly args?: readonly string[];
}

/** Starts one, durable as it is told to be in docs/fleet.md. */
export async function startRedis({ tls = false, password, args = [] }: RedisWishes = {}): Promise<RedisServer> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "rr-redis-")));
  const port = await freePort();
  const certificate = tls ? makeCertificate(folder) : undefined;
  const listening =
    certificate === undefined
      ? ["--port", String(port)]
      : [
          ...["--port", "0", "--tls-port", String(port), "--tls-auth-clients", "no"],
          ...[
            "--tls-cert-file",
            certificate,
            "--tls-key-file",
            join(folder, "key.pem"),
            "--tls-ca-cert-file",
            certificate,
          ],
        ];
  const all = [
    "--bind",
    "127.0.0.1",
    "--dir",
    folder,
    "--appendonly",
    "yes",
    "--save",
    "",
    ...listening,
    ...(password === undefined ? [] : ["--requirepass", password]),
    ...args,
  ];
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    child = spawn("redis-server", all, { stdio: "ignore" });
    await untilListening(port);
  };
  await start();
  const redis = new Redis({
    port,
    host: "127.0.0.1",
    maxRetriesPerRequest: null,
    retryStrategy: () => 100,
    ...(password === undefined ? {} : { password }),
    ...(tls ? { tls: { rejectUnauthorized: false } } : {}),
  });
  redis.on("error", () => undefined);
  const kill = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  return {
    port,
    folder,
    redis,
    start,
    kill,
    url: `${tls ? "rediss" : "redis"}://127.0.0.1:${port}`,
    ...(certificate === undefined ? {} : { certificate }),
    async stop() {
      redis.disconnect();
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A certificate for 127.0.0.1 that is its own authority. */
function makeCertificate(folder: string): string {
  const certificate = join(folder, "certificate.pem");
  execFileSync(
    "openssl",
    [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
      ...["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"],
      ...["-keyout", join(folder, "key.pem"), "-out", certificate],
    ],
    { stdio: "ignore" },
  );
  return certificate;
}

async function untilListening(port: number): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    const socket = connect(port, "127.0.0.1");
    const isThere = await Promise.race([
      once(socket, "connect").then(() => true),
      once(socket, "error").then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (isThere) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("the Redis server did not start");
}
