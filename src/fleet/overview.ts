import { fieldsIn } from "../engine/lib/json-fields.js";
import type { RedisAddress } from "./address.js";
import { type RedisServer, connectToRedis, explainRefusal } from "./connect.js";
import { openQueue } from "./coordinator.js";
import { prefix, runKey, wantedJobsKey, workersKey } from "./keys.js";
import { type Offer, readOffers } from "./offers.js";

/** The state of the fleet on a Redis server. */
export interface FleetState {
  readonly queues: readonly QueueState[];
  /** Running runs. Those with the most waiting jobs come first. */
  readonly runs: readonly RunState[];
}

interface QueueState {
  /** Name of the queue, which begins with agent-. */
  readonly queue: string;
  readonly workers: readonly Offer[];
  readonly places: number;
  /** Number of jobs that workers have. */
  readonly active: number;
  readonly waiting: number;
  /** Maximum number of agents at the same time on all workers; absent if there is no limit. */
  readonly atMost?: number;
  /** Maximum number of jobs that may start in so many seconds; absent if there is no limit. */
  readonly limit?: { readonly jobs: number; readonly seconds: number };
}

interface RunState {
  readonly project: string;
  readonly queues: readonly string[];
  readonly waiting: number;
  readonly active: number;
}

/**
 * Reads the state of the fleet. Changes nothing, and closes its connection.
 * @throws ExpectedError like `connectToRedis`, and for a user who may not read a queue (exit code 5).
 */
export async function readFleetState(address: RedisAddress): Promise<FleetState> {
  const server = await connectToRedis(address);
  const redis = server.open();
  let currentStep = "the list of queues";
  try {
    const names = [
      ...(await findKeys(redis, `${prefix}:agent-*:meta`)),
      ...(await findKeys(redis, workersKey("agent-*"))),
    ];
    const queueNames = [...new Set(names.map((key) => key.split(":")[1] ?? ""))].toSorted();
    const queues: QueueState[] = [];
    const active = new Set<string>();
    for (const name of queueNames) {
      currentStep = `the queue ${name}`;
      queues.push(await readQueueState(server, redis, name, active));
    }
    currentStep = "the list of runs";
    const runs = (await findKeys(redis, runKey("*"))).map((key) => key.split(":")[2] ?? "");
    const states = await Promise.all(runs.map((run) => readRunState(redis, run, active)));
    return { queues, runs: states.flatMap((state) => state ?? []).toSorted((a, b) => b.waiting - a.waiting) };
  } catch (error) {
    throw explainRefusal(error, { requester: currentStep, keys: `~${prefix}:*` }, address);
  } finally {
    redis.disconnect();
  }
}

type Redis = ReturnType<RedisServer["open"]>;

async function findKeys(redis: Redis, pattern: string): Promise<string[]> {
  const keys: string[] = [];
  let cursor = "0";
  do {
    const [nextCursor, foundKeys] = await redis.scan(cursor, "MATCH", pattern, "COUNT", 1_000);
    keys.push(...foundKeys);
    cursor = nextCursor;
  } while (cursor !== "0");
  return keys;
}

/** Reads the state of a queue. Adds the ids of the jobs that workers have to `active`. */
async function readQueueState(
  server: RedisServer,
  redis: Redis,
  name: string,
  active: Set<string>,
): Promise<QueueState> {
  const queue = openQueue(server, name, redis);
  try {
    const [workers, counts, activeJobs, maxAgents, limit] = await Promise.all([
      readOffers(redis, name),
      queue.getJobCounts("waiting", "prioritized", "delayed", "active"),
      redis.lrange(`${prefix}:${name}:active`, 0, -1),
      queue.getGlobalConcurrency(),
      queue.getGlobalRateLimit(),
    ]);
    for (const job of activeJobs) active.add(job);
    const { waiting = 0, prioritized = 0, delayed = 0 } = counts;
    return {
      queue: name,
      workers,
      places: workers.reduce((sum, { places }) => sum + places, 0),
      active: counts["active"] ?? 0,
      waiting: waiting + prioritized + delayed,
      ...(maxAgents === null ? {} : { atMost: maxAgents }),
      ...(limit === null ? {} : { limit: { jobs: limit.max, seconds: limit.duration / 1000 } }),
    };
  } finally {
    await queue.close().catch(() => undefined);
  }
}

async function readRunState(redis: Redis, run: string, active: ReadonlySet<string>): Promise<RunState | undefined> {
  const [runText, wantedJobs] = await Promise.all([redis.get(runKey(run)), redis.smembers(wantedJobsKey(run))]);
  if (runText === null) return undefined;
  const { project, queues } = readRunText(runText);
  const activeCount = wantedJobs.filter((job) => active.has(job)).length;
  return { project, queues, active: activeCount, waiting: wantedJobs.length - activeCount };
}

function readRunText(runText: string): Pick<RunState, "project" | "queues"> {
  const { project = "unknown", queues } = fieldsIn(runText) ?? {};
  return { project: String(project), queues: Array.isArray(queues) ? queues.map(String) : [] };
}
