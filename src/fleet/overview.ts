import { fieldsIn } from "../engine/lib/json-fields.js";
import type { RedisAddress } from "./address.js";
import { type Reached, reach, refusal } from "./connect.js";
import { openQueue } from "./coordinator.js";
import { prefix, runOf, wantedOf, workersOf } from "./keys.js";
import { type Offer, offersIn } from "./offers.js";

/** What there is on a Redis server. */
export interface FleetState {
  readonly queues: readonly QueueState[];
  /** Runs that live, those with most waiting jobs first. */
  readonly runs: readonly RunState[];
}

interface QueueState {
  /** Name of the queue, which begins with agent-. */
  readonly queue: string;
  readonly workers: readonly Offer[];
  readonly places: number;
  /** Jobs that a worker has. */
  readonly active: number;
  readonly waiting: number;
  /** Agents at the same time on all workers; absent: no limit. */
  readonly atMost?: number;
  /** Jobs begun in a time; absent: no limit. */
  readonly limit?: { readonly jobs: number; readonly seconds: number };
}

interface RunState {
  readonly project: string;
  readonly queues: readonly string[];
  readonly waiting: number;
  readonly active: number;
}

/**
 * Looks, changes nothing, and closes its connection.
 * @throws ExpectedError as `reach`, and for a user who may not look at a queue (exit code 5).
 */
export async function fleetState(address: RedisAddress): Promise<FleetState> {
  const reached = await reach(address);
  const redis = reached.open();
  let looksAt = "the list of queues";
  try {
    const names = [
      ...(await keysLike(redis, `${prefix}:agent-*:meta`)),
      ...(await keysLike(redis, workersOf("agent-*"))),
    ];
    const found = [...new Set(names.map((key) => key.split(":")[1] ?? ""))].toSorted();
    const queues: QueueState[] = [];
    const active = new Set<string>();
    for (const name of found) {
      looksAt = `the queue ${name}`;
      queues.push(await queueState(reached, redis, name, active));
    }
    looksAt = "the list of runs";
    const runs = (await keysLike(redis, runOf("*"))).map((key) => key.split(":")[2] ?? "");
    const states = await Promise.all(runs.map((run) => runState(redis, run, active)));
    return { queues, runs: states.flatMap((state) => state ?? []).toSorted((a, b) => b.waiting - a.waiting) };
  } catch (error) {
    throw refusal(error, { what: looksAt, keys: `~${prefix}:*` }, address);
  } finally {
    redis.disconnect();
  }
}

type Redis = ReturnType<Reached["open"]>;

async function keysLike(redis: Redis, pattern: string): Promise<string[]> {
  const found: string[] = [];
  let cursor = "0";
  do {
    const [next, keys] = await redis.scan(cursor, "MATCH", pattern, "COUNT", 1_000);
    found.push(...keys);
    cursor = next;
  } while (cursor !== "0");
  return found;
}

/** `active` gathers the ids of jobs that a worker has. */
async function queueState(reached: Reached, redis: Redis, name: string, active: Set<string>): Promise<QueueState> {
  const queue = openQueue(reached, name, redis);
  try {
    const [workers, counts, atWork, atMost, limit] = await Promise.all([
      offersIn(redis, name),
      queue.getJobCounts("waiting", "prioritized", "delayed", "active"),
      redis.lrange(`${prefix}:${name}:active`, 0, -1),
      queue.getGlobalConcurrency(),
      queue.getGlobalRateLimit(),
    ]);
    for (const job of atWork) active.add(job);
    const { waiting = 0, prioritized = 0, delayed = 0 } = counts;
    return {
      queue: name,
      workers,
      places: workers.reduce((sum, { places }) => sum + places, 0),
      active: counts["active"] ?? 0,
      waiting: waiting + prioritized + delayed,
      ...(atMost === null ? {} : { atMost }),
      ...(limit === null ? {} : { limit: { jobs: limit.max, seconds: limit.duration / 1000 } }),
    };
  } finally {
    await queue.close().catch(() => undefined);
  }
}

async function runState(redis: Redis, run: string, active: ReadonlySet<string>): Promise<RunState | undefined> {
  const [about, wanted] = await Promise.all([redis.get(runOf(run)), redis.smembers(wantedOf(run))]);
  if (about === null) return undefined;
  const { project, queues } = said(about);
  const busy = wanted.filter((job) => active.has(job)).length;
  return { project, queues, active: busy, waiting: wanted.length - busy };
}

function said(about: string): Pick<RunState, "project" | "queues"> {
  const { project = "unknown", queues } = fieldsIn(about) ?? {};
  return { project: String(project), queues: Array.isArray(queues) ? queues.map(String) : [] };
}
