import { fieldsIn } from "../engine/lib/json-fields.js";
import type { Redis } from "ioredis";
import { projectOf, runOf, talkOf, times, wantedOf } from "./keys.js";

/** The lease of a run on its project: the run works on the project as long as it renews the lease. */
export interface Lease {
  /**
   * Takes the project over and cancels the jobs of an earlier run. Does this once; after an error it can be called
   * again.
   * @throws errors of Redis and of `projectId`.
   */
  take(): Promise<void>;
  /** Renews the lease and writes which jobs are wanted; never rejects. */
  beat(): Promise<void>;
  /** Whether a later run of the same project has taken over. */
  isReplaced(): boolean;
  /** Gives the lease up; never rejects. Waits while Redis is not available; then the lease expires by itself. */
  release(): Promise<unknown>;
}

interface LeaseOptions {
  readonly redis: Redis;
  readonly run: string;
  /** The project's name, for people. */
  readonly project: string;
  /** The random id of the project; absent if nobody else can work on it. */
  readonly projectId?: () => Promise<string>;
  /** The jobs that are wanted now. */
  readonly wanted: () => Iterable<string>;
  /** The queues of these jobs. */
  readonly queues: () => readonly string[];
  /** Removes a waiting job from its queue. Jobs that do not exist any more are ignored. */
  readonly remove: (queue: string, job: string) => Promise<unknown>;
  readonly replaced: () => void;
}

/**
 * Writes the complete set of wanted jobs if this run still has the project. The set is always written as a whole,
 * because nothing of it is left after an outage that is longer than the lease. Answers 1, or 0 if a later run has taken
 * over.
 */
const beatScript = `
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
redis.call('SET', KEYS[3], ARGV[4], 'PX', ARGV[2])
redis.call('DEL', KEYS[2])
for i = 5, #ARGV, 1000 do redis.call('SADD', KEYS[2], unpack(ARGV, i, math.min(i + 999, #ARGV))) end
if #ARGV > 4 then redis.call('PEXPIRE', KEYS[2], ARGV[2]) end
return 1`;

/** After so many milliseconds without work, a project's entry is deleted. */
const projectTtlMs = 30 * 24 * 3_600_000;

/** The lease of a run that has not taken its project over yet. */
export function makeLease({
  redis,
  run,
  project: name,
  projectId,
  wanted,
  queues,
  remove,
  replaced,
}: LeaseOptions): Lease {
  let project = projectOf(run);
  let [isReleased, isReplaced] = [false, false];
  let takingOver: Promise<void> | undefined;
  /** The earlier run whose jobs are being cancelled. */
  let predecessor: string | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function takeOver(): Promise<void> {
    const id = (await projectId?.()) ?? run;
    if (isReleased) return;
    project = projectOf(id);
    const previousRun = await redis.set(project, run, "PX", projectTtlMs, "GET");
    if (isReleased) return;
    // Beats start only now: an earlier beat would find the name of the earlier run.
    if (timer === undefined) {
      timer = setInterval(() => void beat(), times.lease / 3);
      redis.on("ready", () => void beat());
    }
    if (previousRun !== null && previousRun !== run && /^[0-9a-f]{16}$/.test(previousRun)) predecessor = previousRun;
    if (predecessor === undefined) return;
    const [jobs, runText] = await Promise.all([redis.smembers(wantedOf(predecessor)), redis.get(runOf(predecessor))]);
    await redis.del(wantedOf(predecessor), talkOf(predecessor), runOf(predecessor));
    predecessor = undefined;
    // Waiting jobs are removed, so that no worker needs to check them.
    for (const queue of queuesIn(runText)) for (const job of jobs) await remove(queue, job).catch(() => 0);
  }

  async function beat(): Promise<void> {
    if (isReleased || isReplaced) return;
    const runText = JSON.stringify({ project: name, queues: queues() });
    const keys = [project, wantedOf(run), runOf(run)];
    const answer = await redis
      .eval(beatScript, keys.length, ...keys, run, times.lease, projectTtlMs, runText, ...wanted())
      .catch(() => 1);
    if (answer !== 0) return;
    isReplaced = true;
    replaced();
  }

  return {
    beat,
    isReplaced: () => isReplaced,
    take: () =>
      (takingOver ??= takeOver().catch((error: unknown) => {
        takingOver = undefined;
        throw error;
      })),
    async release() {
      isReleased = true;
      clearInterval(timer);
      const isOurs = !isReplaced;
      try {
        await redis.del(wantedOf(run), talkOf(run), runOf(run));
        if (isOurs && (await redis.get(project)) === run) await redis.del(project);
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
