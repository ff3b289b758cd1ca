import { fieldsIn } from "../engine/lib/json-fields.js";
import type { Redis } from "ioredis";
import { projectKey, runKey, entriesKey, times, wantedJobsKey } from "./keys.js";

/** The right of a run to work on its project. The run must renew it regularly. */
export interface Lease {
  /**
   * Takes the project over and cancels the jobs of an earlier run. Later calls do nothing, unless the first one failed.
   * @throws errors of Redis and of `projectId`.
   */
  take(): Promise<void>;
  /** Renews the lease and writes the wanted jobs. Never rejects. */
  beat(): Promise<void>;
  /** Whether a later run of the same project has taken over. */
  isReplaced(): boolean;
  /** Gives the lease up. Never rejects. While Redis is not available, it waits; the lease expires meanwhile. */
  release(): Promise<unknown>;
}

interface LeaseOptions {
  readonly redis: Redis;
  readonly run: string;
  /** The project's name, for the list of runs. */
  readonly project: string;
  /** The random id of the project; absent if no other run can work on it. */
  readonly projectId?: () => Promise<string>;
  /** Returns the ids of the jobs that are not cancelled. */
  readonly wantedJobs: () => Iterable<string>;
  /** The queues of these jobs. */
  readonly queues: () => readonly string[];
  /** Removes a waiting job from its queue. Jobs that do not exist any more are ignored. */
  readonly remove: (queue: string, job: string) => Promise<unknown>;
  readonly onReplaced: () => void;
}

/**
 * Writes the set of wanted jobs if this run still has the project. It writes the whole set, because the set expires if
 * Redis is not available for longer than the lease. Returns 1, or 0 if a later run has taken over.
 */
const renewScript = `
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
redis.call('SET', KEYS[3], ARGV[4], 'PX', ARGV[2])
redis.call('DEL', KEYS[2])
for i = 5, #ARGV, 1000 do redis.call('SADD', KEYS[2], unpack(ARGV, i, math.min(i + 999, #ARGV))) end
if #ARGV > 4 then redis.call('PEXPIRE', KEYS[2], ARGV[2]) end
return 1`;

/** If no run works on a project for so many milliseconds, its entry is deleted. */
const projectTtlMs = 30 * 24 * 3_600_000;

/** Creates the lease of a run, which must then take its project over. */
export function makeLease({
  redis,
  run,
  project: projectName,
  projectId,
  wantedJobs,
  queues,
  remove,
  onReplaced,
}: LeaseOptions): Lease {
  let key = projectKey(run);
  let [isReleased, isReplaced] = [false, false];
  let takingOver: Promise<void> | undefined;
  /** The earlier run whose jobs are being cancelled. */
  let predecessor: string | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function takeOver(): Promise<void> {
    const id = (await projectId?.()) ?? run;
    if (isReleased) return;
    key = projectKey(id);
    const previousRun = await redis.set(key, run, "PX", projectTtlMs, "GET");
    if (isReleased) return;
    // Renewals start only now: before, the entry of the project still named the earlier run.
    if (timer === undefined) {
      timer = setInterval(() => void renew(), times.lease / 3);
      redis.on("ready", () => void renew());
    }
    if (previousRun !== null && previousRun !== run && /^[0-9a-f]{16}$/.test(previousRun)) predecessor = previousRun;
    if (predecessor === undefined) return;
    const [jobs, runText] = await Promise.all([
      redis.smembers(wantedJobsKey(predecessor)),
      redis.get(runKey(predecessor)),
    ]);
    await redis.del(wantedJobsKey(predecessor), entriesKey(predecessor), runKey(predecessor));
    predecessor = undefined;
    // Waiting jobs are removed, so that no worker needs to check them.
    for (const queue of queuesIn(runText)) for (const job of jobs) await remove(queue, job).catch(() => 0);
  }

  async function renew(): Promise<void> {
    if (isReleased || isReplaced) return;
    const runText = JSON.stringify({ project: projectName, queues: queues() });
    const keys = [key, wantedJobsKey(run), runKey(run)];
    const answer = await redis
      .eval(renewScript, keys.length, ...keys, run, times.lease, projectTtlMs, runText, ...wantedJobs())
      .catch(() => 1);
    if (answer !== 0) return;
    isReplaced = true;
    onReplaced();
  }

  return {
    beat: renew,
    isReplaced: () => isReplaced,
    take: () =>
      (takingOver ??= takeOver().catch((error: unknown) => {
        takingOver = undefined;
        throw error;
      })),
    async release() {
      isReleased = true;
      clearInterval(timer);
      const hadProject = !isReplaced;
      try {
        await redis.del(wantedJobsKey(run), entriesKey(run), runKey(run));
        if (hadProject && (await redis.get(key)) === run) await redis.del(key);
      } catch {
        // The keys expire by themselves.
      }
    },
  };
}

/** The queues in the stored text of a run. */
function queuesIn(runText: string | null): string[] {
  const { queues } = fieldsIn(runText ?? "") ?? {};
  return Array.isArray(queues)
    ? queues.filter((name) => typeof name === "string" && /^agent-[a-z0-9-]+$/.test(name))
    : [];
}
