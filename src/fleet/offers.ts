import { fieldsIn } from "../engine/lib/json-fields.js";
import type { Redis } from "ioredis";
import { jobVersion, times, workerOf, workersOf } from "./keys.js";

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
}

/** Says every few seconds what this worker offers; what is not said again is forgotten. */
export function announce(redis: Redis, queue: string, id: string, offer: () => Offer): { stop(): Promise<void> } {
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
  const { name, version, places, busy, confinement, since } = fields;
  const [fewest, most] = [0, 100_000];
  const count = (value: unknown): number => Math.min(Math.max(Math.trunc(Number(value)) || 0, fewest), most);
  const word = (value: unknown): string => String(value ?? "").slice(0, 100);
  return {
    ...{ name: word(name), version: count(version), places: count(places), busy: count(busy) },
    ...{ confinement: word(confinement), since: word(since) },
  };
}

/** What a person has to do so that somebody does the jobs of an agent; undefined where a worker can. */
export function missing(offers: readonly Offer[], agent: string): string | undefined {
  if (offers.some(({ version }) => version === jobVersion)) return undefined;
  const [other] = offers;
  return other === undefined
    ? `No worker offers ${agent}; start one where there is room: research-ralph worker --agent ${agent}.`
    : `No worker offers ${agent} for this version of research-ralph: ${other.name} takes jobs of version ${other.version}, this run makes version ${jobVersion}; install the same version on both sides.`;
}
