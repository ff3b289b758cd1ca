import { fieldsIn } from "../engine/lib/json-fields.js";
import type { Redis } from "ioredis";
import { projectOf, runOf, talkOf, times, wantedOf } from "./keys.js";

/** That a run is the one that works on its project, as long as it says so. */
export interface Lease {
  /**
   * Takes the project over, once: what an earlier run of it wanted is not wanted any more. Again where it did not
   * succeed.
   * @throws what Redis or the project's id fail with.
   */
  take(): Promise<void>;
  /** Says that the run lives and what it wants; never rejects. */
  beat(): Promise<void>;
  /** A later run of the same project has taken over. */
  isReplaced(): boolean;
  /** Gives it up. Pending while Redis is away, where it ends by itself; never rejects. */
  release(): Promise<unknown>;
}

interface LeaseOptions {
  readonly redis: Redis;
  readonly run: string;
  /** The project's name, for people. */
  readonly project: string;
  /** The project's random id; absent: nobody else can work on it. */
  readonly projectId?: () => Promise<string>;
  /** The jobs that are wanted now. */
  readonly wanted: () => Iterable<string>;
  /** The queues they are in. */
  readonly queues: () => readonly string[];
  /** Takes a job that waits out of its queue; of those that are not there any more nothing is said. */
  readonly remove: (queue: string, job: string) => Promise<unknown>;
  readonly replaced: () => void;
}

/**
 * Writes the whole set of wanted jobs, if this run is still the one that works on the project. It is written whole:
 * after an outage longer than the lease nothing of it is left. Answers 1, or 0 where a later run has taken over.
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

/** A project nobody works on is forgotten after so long. Milliseconds. */
const forgetProject = 30 * 24 * 3_600_000;

/** The lease of a run that has not taken its project over yet. */
export function leaseOf({
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
  let [isOver, isReplaced] = [false, false];
  let takingOver: Promise<void> | undefined;
  /** Whose work is taken over, until what it wanted is deleted. */
  let predecessor: string | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function takeOver(): Promise<void> {
    const id = (await projectId?.()) ?? run;
    if (isOver) return;
    project = projectOf(id);
    const before = await redis.set(project, run, "PX", forgetProject, "GET");
    if (isOver) return;
    // From now on, as a beat before would meet the earlier run's name there.
    if (timer === undefined) {
      timer = setInterval(() => void beat(), times.lease / 3);
      redis.on("ready", () => void beat());
    }
    if (before !== null && before !== run && /^[0-9a-f]{16}$/.test(before)) predecessor = before;
    if (predecessor === undefined) return;
    const [jobs, said] = await Promise.all([redis.smembers(wantedOf(predecessor)), redis.get(runOf(predecessor))]);
    await redis.del(wantedOf(predecessor), talkOf(predecessor), runOf(predecessor));
    predecessor = undefined;
    // Those that wait need not be looked at by a worker.
    for (const queue of queuesIn(said)) for (const job of jobs) await remove(queue, job).catch(() => 0);
  }

  async function beat(): Promise<void> {
    if (isOver || isReplaced) return;
    const about = JSON.stringify({ project: name, queues: queues() });
    const keys = [project, wantedOf(run), runOf(run)];
    const answer = await redis
      .eval(beatScript, keys.length, ...keys, run, times.lease, forgetProject, about, ...wanted())
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
      isOver = true;
      clearInterval(timer);
      const isOurs = !isReplaced;
      try {
        await redis.del(wantedOf(run), talkOf(run), runOf(run));
        if (isOurs && (await redis.get(project)) === run) await redis.del(project);
      } catch {
        // It ends by itself.
      }
    },
  };
}

/** The queues that a run has named. */
function queuesIn(said: string | null): string[] {
  const { queues } = fieldsIn(said ?? "") ?? {};
  return Array.isArray(queues)
    ? queues.filter((name) => typeof name === "string" && /^agent-[a-z0-9-]+$/.test(name))
    : [];
}
