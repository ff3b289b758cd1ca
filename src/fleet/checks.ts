import { withoutUndefined } from "../engine/lib/without-undefined.js";
import { ExpectedError } from "../engine/lib/errors.js";
import { type RedisAddress, isLoopback } from "./address.js";
import { type Reached, reach } from "./connect.js";

/** What doctor says about a Redis server. `needed`: agents on other machines can't work without it. */
export interface RedisFinding {
  readonly name: string;
  readonly ok: boolean;
  readonly needed: boolean;
  readonly detail: string;
  readonly fix?: string;
}

/** The largest text that a client should be able to store: an entry of a stream has 8 MB at most, a job some 22. */
const mostBulk = 32 * 1024 * 1024;

/** Looks at a Redis server: can it be reached, how, does it keep what it is given, and how much does it take. */
export async function checkRedis(address: RedisAddress): Promise<readonly RedisFinding[]> {
  const { shown } = address;
  let reached: Reached;
  try {
    reached = await reach(address);
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return [{ name: "Redis", ok: false, needed: true, detail: error.message }];
  }
  const { info } = reached;
  const redis = reached.open();
  try {
    return [
      {
        name: "Redis",
        ok: true,
        needed: true,
        detail: `${info.get("redis_version") ?? "unknown"} at ${shown}, ${evicting(info)}`,
      },
      transport(address),
      persistence(info),
      await bulk(redis),
    ];
  } finally {
    redis.disconnect();
  }
}

/** A policy other than this one is not taken at all. */
const evicting = (info: ReadonlyMap<string, string>): string =>
  info.get("maxmemory_policy") === "noeviction"
    ? "keys are never evicted"
    : "the server does not say whether it evicts keys; maxmemory-policy should be noeviction";

/** What a fleet can go on without. `fix`: what to do where it is not as it should be. */
const finding = (name: string, ok: boolean, detail: string, fix?: string): RedisFinding => ({
  name,
  ok,
  needed: false,
  detail,
  ...withoutUndefined({ fix }),
});

function transport({ tls, host }: RedisAddress): RedisFinding {
  const name = "Redis TLS";
  if (tls) return finding(name, true, "TLS, with a certificate that is trusted here");
  if (isLoopback(host)) return finding(name, true, "no TLS; the server is on this machine");
  return finding(
    name,
    false,
    "no TLS: anyone on the network between can read briefs and write results",
    "Set tls-port and a certificate in redis.conf, and use rediss://.",
  );
}

const persistence = (info: ReadonlyMap<string, string>): RedisFinding =>
  info.get("aof_enabled") === "1"
    ? finding("Redis disk", true, "appendonly is on: jobs survive its restart")
    : finding(
        "Redis disk",
        false,
        "appendonly is off: a restart loses the jobs under way, and they start again",
        "Set appendonly yes in redis.conf.",
      );

async function bulk(redis: ReturnType<Reached["open"]>): Promise<RedisFinding> {
  const name = "Redis limits";
  const answer = await redis.config("GET", "proto-max-bulk-len").catch(() => undefined);
  const most = Number(Array.isArray(answer) ? answer[1] : undefined);
  if (!Number.isFinite(most))
    return finding(name, true, "proto-max-bulk-len can't be asked by this user; it should be 32mb");
  const detail = `a client may store texts of ${Math.round(most / 1024 / 1024)} MB`;
  if (most <= mostBulk) return finding(name, true, detail);
  const fix = "Set proto-max-bulk-len 32mb in redis.conf: a worker with a defect could fill the memory of others.";
  return finding(name, false, detail, fix);
}
