import { withoutUndefined } from "../engine/lib/without-undefined.js";
import { ExpectedError } from "../engine/lib/errors.js";
import { type RedisAddress, isLoopback } from "./address.js";
import { type RedisServer, connectToRedis } from "./connect.js";

/** A finding of `doctor` about a Redis server. `needed`: if it is not ok, agents on other machines can't work. */
export interface RedisFinding {
  readonly name: string;
  readonly ok: boolean;
  readonly needed: boolean;
  readonly detail: string;
  readonly fix?: string;
}

/** Clients must be able to store texts of this size: an entry of a stream has at most 8 MB, a job about 22 MB. */
const maxTextBytes = 32 * 1024 * 1024;

/** Checks a Redis server: its connection, its encryption, its persistence and its limits. */
export async function checkRedis(address: RedisAddress): Promise<readonly RedisFinding[]> {
  const { publicText } = address;
  let server: RedisServer;
  try {
    server = await connectToRedis(address);
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return [{ name: "Redis", ok: false, needed: true, detail: error.message }];
  }
  const { info } = server;
  const redis = server.open();
  try {
    return [
      {
        name: "Redis",
        ok: true,
        needed: true,
        detail: `${info.get("redis_version") ?? "unknown"} at ${publicText}, ${evictionText(info)}`,
      },
      tlsFinding(address),
      diskFinding(info),
      await checkTextLimit(redis),
    ];
  } finally {
    redis.disconnect();
  }
}

/** The eviction policy as text. `connectToRedis` has already refused policies that delete keys. */
const evictionText = (info: ReadonlyMap<string, string>): string =>
  info.get("maxmemory_policy") === "noeviction"
    ? "keys are never evicted"
    : "the server does not say whether it evicts keys; maxmemory-policy should be noeviction";

/** A finding that is not needed for a fleet. `fix`: what to do if `ok` is false. */
const optionalFinding = (name: string, ok: boolean, detail: string, fix?: string): RedisFinding => ({
  name,
  ok,
  needed: false,
  detail,
  ...withoutUndefined({ fix }),
});

function tlsFinding({ tls, host }: RedisAddress): RedisFinding {
  const name = "Redis TLS";
  if (tls) return optionalFinding(name, true, "TLS, with a certificate that is trusted here");
  if (isLoopback(host)) return optionalFinding(name, true, "no TLS; the server is on this machine");
  return optionalFinding(
    name,
    false,
    "no TLS: anyone on the network between can read briefs and write results",
    "Set tls-port and a certificate in redis.conf, and use rediss://.",
  );
}

const diskFinding = (info: ReadonlyMap<string, string>): RedisFinding =>
  info.get("aof_enabled") === "1"
    ? optionalFinding("Redis disk", true, "appendonly is on: jobs survive a restart of Redis")
    : optionalFinding(
        "Redis disk",
        false,
        "appendonly is off: a restart of Redis loses the current jobs, and they start again",
        "Set appendonly yes in redis.conf.",
      );

async function checkTextLimit(redis: ReturnType<RedisServer["open"]>): Promise<RedisFinding> {
  const name = "Redis limits";
  const answer = await redis.config("GET", "proto-max-bulk-len").catch(() => undefined);
  const maxBytes = Number(Array.isArray(answer) ? answer[1] : undefined);
  if (!Number.isFinite(maxBytes))
    return optionalFinding(name, true, "proto-max-bulk-len can't be asked by this user; it should be 32mb");
  const detail = `a client may store texts of ${Math.round(maxBytes / 1024 / 1024)} MB`;
  if (maxBytes <= maxTextBytes) return optionalFinding(name, true, detail);
  const fix = "Set proto-max-bulk-len 32mb in redis.conf: a worker with a defect could fill the memory of others.";
  return optionalFinding(name, false, detail, fix);
}
