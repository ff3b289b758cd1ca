import { fieldsIn } from "../engine/lib/json-fields.js";
import type { Redis } from "ioredis";
import { jobVersion, times, workerKey, workersKey } from "./keys.js";
import { isPublicKey } from "./jobs/signature.js";

/** What a worker publishes about itself. */
export interface Offer {
  readonly name: string;
  /** The version of jobs that it accepts. */
  readonly version: number;
  /** Maximum number of agents at the same time. */
  readonly places: number;
  /** Number of running agents. */
  readonly busy: number;
  readonly confinement: string;
  /** ISO 8601 in UTC. */
  readonly since: string;
  /** The public keys of the coordinators whose jobs are accepted. */
  readonly accepts: readonly string[];
  /** ISO 8601 in UTC. Until then the worker accepts no jobs, because its agent has reached a limit. */
  readonly rests_until?: string;
}

/** Publishes the offer of a worker. */
export interface Announcement {
  /** Publishes the offer at once, because it has changed. */
  publish(): Promise<void>;
  stop(): Promise<void>;
}

/** Publishes the worker's offer every few seconds. An offer that is not renewed expires. */
export function startPublishing(redis: Redis, queue: string, id: string, currentOffer: () => Offer): Announcement {
  let isStopped = false;
  let isWriting = false;
  const publish = async (): Promise<void> => {
    if (isWriting || isStopped) return;
    isWriting = true;
    await redis
      .multi()
      .sadd(workersKey(queue), id)
      .set(workerKey(queue, id), JSON.stringify(currentOffer()), "PX", 3 * times.announceInterval)
      .exec()
      .catch(() => undefined);
    isWriting = false;
  };
  void publish();
  const timer = setInterval(() => void publish(), times.announceInterval);
  return {
    publish,
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await redis
        .multi()
        .srem(workersKey(queue), id)
        .del(workerKey(queue, id))
        .exec()
        .catch(() => undefined);
    },
  };
}

/** The offers of the living workers of a queue. Ids of workers without an offer are removed. */
export async function readOffers(redis: Redis, queue: string): Promise<readonly Offer[]> {
  const ids = (await redis.smembers(workersKey(queue))).slice(0, 10_000);
  if (ids.length === 0) return [];
  const texts = await redis.mget(ids.map((id) => workerKey(queue, id)));
  const missingIds = ids.filter((_, index) => texts[index] === null);
  if (missingIds.length > 0) await redis.srem(workersKey(queue), ...missingIds);
  return texts.flatMap((text) => readOffer(text ?? "") ?? []);
}

/** Reads an offer. It is checked, because any worker of the queue may have written it. */
function readOffer(text: string): Offer | undefined {
  const fields = fieldsIn(text);
  if (fields === undefined) return undefined;
  const { name, version, places, busy, confinement, since, accepts, rests_until: restsUntil } = fields;
  const [min, max] = [0, 100_000];
  const count = (value: unknown): number => Math.min(Math.max(Math.trunc(Number(value)) || 0, min), max);
  const word = (value: unknown): string => String(value ?? "").slice(0, 100);
  const keys = Array.isArray(accepts) ? accepts.slice(0, maxKeys) : [];
  return {
    name: word(name),
    version: count(version),
    places: count(places),
    busy: count(busy),
    confinement: word(confinement),
    since: word(since),
    accepts: keys.filter((key) => typeof key === "string" && isPublicKey(key)),
    ...(typeof restsUntil === "string" && !Number.isNaN(Date.parse(restsUntil)) ? { rests_until: restsUntil } : {}),
  };
}

/** Maximum number of coordinators that one worker may accept. */
export const maxKeys = 100;

/** The workers that accept jobs of the coordinator with this public key. */
export const acceptingWorkers = (offers: readonly Offer[], key: string): readonly Offer[] =>
  offers.filter(({ version, accepts }) => version === jobVersion && accepts.includes(key));

/** The workers that are not resting. */
export const activeWorkers = (offers: readonly Offer[], now: number): readonly Offer[] =>
  offers.filter(({ rests_until: until }) => until === undefined || Date.parse(until) <= now);

/** If all workers are resting: when the first of them can be used again. ISO 8601 in UTC. */
export const firstReset = (offers: readonly Offer[]): string | undefined =>
  offers.flatMap(({ rests_until: until }) => until ?? []).toSorted((a, b) => Date.parse(a) - Date.parse(b))[0];

/** Why no worker can run the jobs of an agent, and what the user can do; undefined if one can. */
export function missingWorkerText(offers: readonly Offer[], agent: string, key: string): string | undefined {
  if (acceptingWorkers(offers, key).length > 0) return undefined;
  if (offers.some(({ version }) => version === jobVersion))
    return `No worker of ${agent} accepts the jobs of this run; start one that does: research-ralph worker --agent ${agent} --accept ${key}.`;
  const [firstOffer] = offers;
  return firstOffer === undefined
    ? `No worker offers ${agent}; start one on a machine that has room for it: research-ralph worker --agent ${agent} --accept ${key}.`
    : `No worker offers ${agent} for this version of research-ralph: ${firstOffer.name} accepts jobs of version ${firstOffer.version}, but this run creates version ${jobVersion}; install the same version on both sides.`;
}
