import { fieldsIn } from "../engine/lib/json-fields.js";
import type { Redis } from "ioredis";
import { jobVersion, times, workerOf, workersOf } from "./keys.js";
import { isPublicKey } from "./jobs/signature.js";

/** What a worker says of itself. */
export interface Offer {
  readonly name: string;
  /** Version of the format of jobs that it takes. */
  readonly version: number;
  /** Agents that it runs at the same time. */
  readonly places: number;
  /** Those at work. */
  readonly busy: number;
  readonly confinement: string;
  /** ISO 8601 in UTC. */
  readonly since: string;
  /** The public keys of the coordinators whose jobs it takes. */
  readonly accepts: readonly string[];
  /** ISO 8601 in UTC: until then it takes nothing, because its agent has reached a limit. */
  readonly rests_until?: string;
}

/** Tells others what a worker offers. */
export interface Announcement {
  /** At once: something has changed. */
  say(): Promise<void>;
  stop(): Promise<void>;
}

/** Says every few seconds what this worker offers; what is not said again is forgotten. */
export function announce(redis: Redis, queue: string, id: string, offer: () => Offer): Announcement {
  let isStopped = false;
  let isAsking = false;
  const say = async (): Promise<void> => {
    if (isAsking || isStopped) return;
    isAsking = true;
    await redis
      .multi()
      .sadd(workersOf(queue), id)
      .set(workerOf(queue, id), JSON.stringify(offer()), "PX", 3 * times.announce)
      .exec()
      .catch(() => undefined);
    isAsking = false;
  };
  void say();
  const timer = setInterval(() => void say(), times.announce);
  return {
    say,
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await redis
        .multi()
        .srem(workersOf(queue), id)
        .del(workerOf(queue, id))
        .exec()
        .catch(() => undefined);
    },
  };
}

/** The workers of a queue that live; those that have gone without a word are forgotten. */
export async function offersIn(redis: Redis, queue: string): Promise<readonly Offer[]> {
  const ids = (await redis.smembers(workersOf(queue))).slice(0, 10_000);
  if (ids.length === 0) return [];
  const said = await redis.mget(ids.map((id) => workerOf(queue, id)));
  const gone = ids.filter((_, index) => said[index] === null);
  if (gone.length > 0) await redis.srem(workersOf(queue), ...gone);
  return said.flatMap((text) => offerIn(text ?? "") ?? []);
}

/** Any worker of the queue may have written it. */
function offerIn(text: string): Offer | undefined {
  const fields = fieldsIn(text);
  if (fields === undefined) return undefined;
  const { name, version, places, busy, confinement, since, accepts, rests_until: rest } = fields;
  const [fewest, most] = [0, 100_000];
  const count = (value: unknown): number => Math.min(Math.max(Math.trunc(Number(value)) || 0, fewest), most);
  const word = (value: unknown): string => String(value ?? "").slice(0, 100);
  const keys = Array.isArray(accepts) ? accepts.slice(0, mostKeys) : [];
  return {
    name: word(name),
    version: count(version),
    places: count(places),
    busy: count(busy),
    confinement: word(confinement),
    since: word(since),
    accepts: keys.filter((key) => typeof key === "string" && isPublicKey(key)),
    ...(typeof rest === "string" && !Number.isNaN(Date.parse(rest)) ? { rests_until: rest } : {}),
  };
}

/** Coordinators that one worker may know. */
export const mostKeys = 100;

/** The workers that take the jobs of a coordinator, by its public key. */
export const taking = (offers: readonly Offer[], key: string): readonly Offer[] =>
  offers.filter(({ version, accepts }) => version === jobVersion && accepts.includes(key));

/** Those that do not rest. */
export const awake = (offers: readonly Offer[], now: number): readonly Offer[] =>
  offers.filter(({ rests_until: until }) => until === undefined || Date.parse(until) <= now);

/** When the first of workers that all rest can be asked again. ISO 8601 in UTC. */
export const firstAwake = (offers: readonly Offer[]): string | undefined =>
  offers.flatMap(({ rests_until: until }) => until ?? []).toSorted((a, b) => Date.parse(a) - Date.parse(b))[0];

/** What a person has to do so that somebody does the jobs of an agent; undefined where a worker can. */
export function missing(offers: readonly Offer[], agent: string, key: string): string | undefined {
  if (taking(offers, key).length > 0) return undefined;
  if (offers.some(({ version }) => version === jobVersion))
    return `No worker of ${agent} accepts the jobs of this run; start one that does: research-ralph worker --agent ${agent} --accept ${key}.`;
  const [other] = offers;
  return other === undefined
    ? `No worker offers ${agent}; start one where there is room: research-ralph worker --agent ${agent} --accept ${key}.`
    : `No worker offers ${agent} for this version of research-ralph: ${other.name} takes jobs of version ${other.version}, this run makes version ${jobVersion}; install the same version on both sides.`;
}
