import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { withoutUndefined } from "../engine/lib/without-undefined.js";
import type { Job, Worker } from "bullmq";
import type { AgentSettings } from "../engine/agents/definition.js";
import { createAgent } from "../engine/agents/registry.js";
import { ExpectedError, messageOf } from "../engine/lib/errors.js";
import { workersFolder } from "../engine/lib/layout.js";
import { redactFor } from "../engine/lib/redact.js";
import type { Failure } from "../engine/loop/types.js";
import { withExplainedErrors } from "../engine/storage/explain-system-error.js";
import type { RedisAddress } from "./address.js";
import { type AttemptEnd, attemptJob } from "./attempt.js";
import { reach, refusal } from "./connect.js";
import { openQueue } from "./coordinator.js";
import type { FleetItem } from "../engine/generated/fleet-item.js";
import { takenJob } from "./jobs/job.js";
import { jobVersion, limits, maxBegunAgain, prefix, queueOf, talkOf, times, wantedOf } from "./keys.js";
import { clearUp, openWorkerFolder } from "./leftovers.js";
import { announce, mostKeys } from "./offers.js";
import { fieldsOf } from "./talk.js";

export interface WorkerOptions {
  readonly address: RedisAddress;
  /** Name of the agent, as a run would name it behind `fleet:`. */
  readonly agent: string;
  /** Agents at work at the same time. */
  readonly concurrency: number;
  /** Of all workers of the agent together: jobs begun in a time (milliseconds); null takes an earlier limit away. */
  readonly limit?: { readonly jobs: number; readonly ms: number } | null;
  /** Of all workers of the agent together: agents at the same time; null takes an earlier limit away. */
  readonly atMost?: number | null;
  /** Public keys of coordinators: the jobs that they have signed are taken, and no others. */
  readonly accepts: readonly string[];
  readonly settings: AgentSettings;
  readonly now: () => number;
  readonly tell: (event: WorkerEvent) => void;
}

/** What a person who watches a worker sees. */
export type WorkerEvent =
  | {
      readonly type: "ready";
      readonly worker: string;
      readonly agent: string;
      readonly places: number;
      readonly confinement: string;
      readonly redis: string;
      readonly accepts: readonly string[];
    }
  | { readonly type: "begun"; readonly job: string; readonly attempt: number; readonly transcript: string }
  | {
      readonly type: "ended";
      readonly job: string;
      readonly seconds: number;
      readonly outcome: "said" | "not wanted" | "put back" | "failed";
      readonly reason?: string;
    }
  | { readonly type: "notice"; readonly level: "info" | "warning"; readonly message: string };

type Ended = Extract<WorkerEvent, { readonly type: "ended" }>;

/** A worker at work. */
export interface FleetWorker {
  /** Takes nothing more, and resolves once its agents have ended and everything was said. */
  finish(): Promise<void>;
  /** Ends its agents and itself; what they were at goes back to the queue. Resolves within some seconds. */
  end(): Promise<void>;
}

interface AtWork {
  readonly run: string;
  readonly controller: AbortController;
}

/** Why an attempt is ended before its time. */
type Why = "not wanted" | "lost" | "ended";

/**
 * Offers places for one agent to anyone who asks over Redis. It needs no project, no repository and no keys but those
 * of the agent.
 * @throws ExpectedError for an agent that can't be had (exit code 2), and as `reach`.
 */
export async function openWorker(options: WorkerOptions): Promise<FleetWorker> {
  const { address, agent: spec, concurrency, tell, now } = options;
  const id = `${hostname().slice(0, 60)}-${randomBytes(3).toString("hex")}`;
  const transcripts = new Map<number, string>();
  const { stateDir } = options.settings;
  const hadAgents = await clearUp(stateDir, now());
  const warn = (message: string): void => tell({ type: "notice", level: "warning", message });
  if (hadAgents) warn("Agents of a worker that was killed here were still at work; they were ended.");
  const folder = await withExplainedErrors(workersFolder(stateDir), () => openWorkerFolder(stateDir, id));
  const settings: AgentSettings = { ...options.settings, transcript: (number) => transcripts.get(number) };
  const agent = createAgent(spec, settings);
  const redact = redactFor(settings.env, ...(settings.secrets ?? []));
  const name = queueOf(spec);
  const reached = await reach(address).catch((error: unknown) => {
    folder.close();
    throw error;
  });
  const redis = reached.open();
  const queue = openQueue(reached, name, redis);
  const since = new Date(now()).toISOString();
  const atWork = new Map<string, AtWork>();
  const accepts = new Set(options.accepts);
  const strangers = new Set<string>();
  const begun = begunJobs();
  let [numbers, isEnding, otherVersions, restsUntil] = [0, false, 0, 0];
  let looking: NodeJS.Timeout | undefined;
  try {
    await tryRights();
    await setLimits();
  } catch (error) {
    await close();
    throw refusal(error, { what: `the queue ${name}`, keys: keysFor(name, reached.info) }, address);
  }

  const worker: Worker = new reached.bullmq.Worker(name, (job: Job, token?: string) => work(job, token ?? ""), {
    connection: redis,
    prefix,
    concurrency,
    name: id,
    skipVersionCheck: true,
    lockDuration: times.lock,
    lockRenewTime: times.lock / 6,
    stalledInterval: times.stallCheck,
    maxStalledCount: maxBegunAgain,
  });
  worker.on("error", tellOfTrouble);
  worker.on("lockRenewalFailed", (jobs) => {
    for (const job of jobs) atWork.get(job)?.controller.abort("lost" satisfies Why);
  });
  looking = setInterval(() => void look(), times.look);
  let isLooking = false;
  const offered = announce(redis, name, id, () => ({
    name: id,
    version: jobVersion,
    places: concurrency,
    busy: atWork.size,
    confinement: settings.sandbox?.name ?? agent.confinement,
    since,
    accepts: options.accepts,
    ...(restsUntil > now() ? { rests_until: new Date(restsUntil).toISOString() } : {}),
  }));
  tell({
    type: "ready",
    worker: id,
    agent: spec,
    places: concurrency,
    confinement: settings.sandbox?.name ?? agent.confinement,
    redis: address.shown,
    accepts: options.accepts,
  });

  /** Asks for what an attempt will need besides its queue, and changes nothing. */
  async function tryRights(): Promise<void> {
    const nobody = "0".repeat(16);
    await redis.sismember(wantedOf(nobody), id);
    await redis.xlen(talkOf(nobody));
    await redis.xadd(talkOf(nobody), "NOMKSTREAM", "*", "j", id);
  }

  /** What holds for all workers of the agent stands in Redis. */
  async function setLimits(): Promise<void> {
    const { limit, atMost } = options;
    if (atMost === null) await queue.removeGlobalConcurrency();
    else if (atMost !== undefined) await queue.setGlobalConcurrency(atMost);
    if (limit === null) await queue.removeGlobalRateLimit();
    else if (limit !== undefined) await queue.setGlobalRateLimit(limit.jobs, limit.ms);
  }

  /** Redis may be away for minutes, which each connection notices by itself. */
  let trouble = "";
  function tellOfTrouble(error: Error): void {
    const message = messageOf(error);
    if (message === trouble || /renew lock|Missing lock|Connection is closed/i.test(message)) return;
    trouble = message;
    warn(`Redis: ${message}`);
  }

  /** Ends what is not wanted. Where Redis is away nothing is known, so nothing is ended. */
  async function look(): Promise<void> {
    if (isLooking || atWork.size === 0) return;
    isLooking = true;
    try {
      const all = [...atWork];
      const asked = redis.pipeline();
      for (const [job, { run }] of all) asked.sismember(wantedOf(run), job);
      const answers = (await asked.exec()) ?? [];
      if (trouble !== "") tell({ type: "notice", level: "info", message: "Redis answers again." });
      trouble = "";
      for (const [index, [, { controller }]] of all.entries())
        if (answers[index]?.[0] === null && answers[index]?.[1] === 0) controller.abort("not wanted" satisfies Why);
    } catch {
      // Asked again at the next look.
    } finally {
      isLooking = false;
    }
  }

  async function work(job: Job, token: string): Promise<void> {
    const { DelayedError, UnrecoverableError, WaitingError } = reached.bullmq;
    const jobId = job.id ?? "";
    const taken = takenJob(job.data, { id: jobId, queue: name, accepts, now: now() });
    if ("version" in taken || "stranger" in taken) {
      if ("version" in taken) tellOfVersion(jobId, taken.version);
      else tellOfStranger(jobId, taken.stranger);
      await job.moveToDelayed(now() + times.announce, token);
      throw new DelayedError();
    }
    const refuse = (reason: string): never => {
      warn(`The job ${jobId} was not taken: ${reason}.`);
      throw new UnrecoverableError(reason);
    };
    if ("reason" in taken) return refuse(taken.reason);
    const { run, expires } = taken.job;
    if ((await redis.sismember(wantedOf(run), jobId)) === 0) return;
    if (!begun.begin(jobId, expires, now())) return refuse("it was done here before, and stands in the queue again");
    const attempt = job.attemptsStarted;
    const number = (numbers += 1);
    const controller = new AbortController();
    const startedAt = performance.now();
    const transcript = folder.transcript(`${run}-${number}-${id}`);
    transcripts.set(number, transcript);
    atWork.set(jobId, { run, controller });
    tell({ type: "begun", job: jobId, attempt, transcript });
    let sequence = 0;
    const send = (items: readonly FleetItem[]) =>
      talk({ job: jobId, attempt, sequence: sequence++, items }, run, controller.signal);
    let end: AttemptEnd;
    try {
      end = await attemptJob(taken, {
        worker: id,
        agent,
        folder,
        redact,
        send,
        number,
        transcript,
        signal: controller.signal,
      });
    } finally {
      atWork.delete(jobId);
      transcripts.delete(number);
    }
    const why = controller.signal.reason as Why | undefined;
    const over = (outcome: Ended["outcome"], reason?: string): void => {
      const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
      tell({ type: "ended", job: jobId, seconds, outcome, ...withoutUndefined({ reason }) });
    };
    if (end === "full" || why === "ended") {
      over("put back", end === "full" ? fullDisk : undefined);
      if (end === "full") {
        warn(
          `${fullDisk} This worker takes no work for ${times.fullDisk / 1000} seconds; free some space in ${stateDir}.`,
        );
        void rest(times.fullDisk);
      }
      await job.moveToWait(token);
      throw new WaitingError();
    }
    if (why !== undefined || end === "dropped")
      return over("not wanted", why === "lost" ? "The lock was lost: another worker has it." : undefined);
    begun.said(jobId);
    if (typeof end === "string") return over("said");
    over("failed", end.message);
    await restUntilReset(end);
  }

  /** Writes to the stream of a run, once fewer entries are unread there than may be. */
  async function talk(entry: Parameters<typeof fieldsOf>[0], run: string, signal: AbortSignal): Promise<void> {
    const stream = talkOf(run);
    while (!signal.aborted && (await redis.xlen(stream)) >= limits.unread) await sleep(25);
    const fields = fieldsOf(entry);
    while (!signal.aborted) {
      try {
        // Should nobody come to read it, it goes by itself.
        const done = await redis
          .multi()
          .xadd(stream, "*", ...fields)
          .pexpire(stream, times.unheard)
          .exec();
        const refused = done?.find(([error]) => error !== null)?.[0];
        if (refused == null) return;
        tellOfTrouble(refused);
      } catch (error) {
        tellOfTrouble(error as Error);
      }
      // Its memory is full, say. What was said already is known by its number.
      await sleep(times.look);
    }
  }

  /** Both sides report a job that only another version can do. */
  function tellOfVersion(job: string, version: unknown): void {
    if (otherVersions++ % 100 !== 0) return;
    warn(
      `The job ${job} is of version ${String(version).slice(0, 20)}, and this worker takes version ${jobVersion}; it is left for another worker. Install the same version of research-ralph on both sides.`,
    );
  }

  function tellOfStranger(job: string, key: string): void {
    if (strangers.has(key) || strangers.size >= mostKeys) return;
    strangers.add(key);
    warn(
      `The job ${job} is signed by ${key}, which this worker does not accept; it is left for another worker. If you know whose key it is, start this worker with --accept ${key}.`,
    );
  }

  /** Takes no work for so long; what is under way goes on. */
  async function rest(ms: number): Promise<void> {
    restsUntil = Math.max(restsUntil, now() + ms);
    await worker.pause(true);
    void offered.say();
    setTimeout(() => {
      if (isEnding || restsUntil > now()) return;
      worker.resume();
      void offered.say();
    }, ms + 5).unref();
  }

  /** A limit is of this worker's login or key; what an agent says of it must not hold up the others. */
  async function restUntilReset({ kind, reset_at }: Failure): Promise<void> {
    const ms = kind === "rate-limit" ? Date.parse(reset_at ?? "") - now() : Number.NaN;
    if (!(ms > 0)) return;
    await rest(Math.min(ms, times.longestRest));
    warn(
      `The limit of ${spec} is used up; this worker takes no work until ${new Date(restsUntil).toISOString()}. Start it again to end that.`,
    );
  }

  async function close(): Promise<void> {
    await queue.close().catch(() => undefined);
    shut();
  }

  function shut(): void {
    clearInterval(looking);
    redis.disconnect();
    folder.close();
  }

  return {
    async finish() {
      await offered.stop();
      await worker.close();
      if (!isEnding) await close();
    },
    async end() {
      isEnding = true;
      for (const { controller } of atWork.values()) controller.abort("ended" satisfies Why);
      const patient = Promise.all([offered.stop(), worker.close()]);
      // Redis may be away; the lock of what was begun ends by itself.
      await Promise.race([patient.catch(() => undefined), sleep(4_000)]);
      await Promise.race([worker.close(true).catch(() => undefined), sleep(500)]);
      shut();
    },
  };
}

const fullDisk = "There is no space left on the disk.";

/**
 * What this worker has begun, until it expires. A job comes again where its worker died or lost it, but never after its
 * end was said: who puts it into the queue once more has copied it.
 */
function begunJobs() {
  // A network that breaks again and again lets a job come many times.
  const mostBegun = 20;
  const jobs = new Map<string, { times: number; readonly expires: number }>();
  return {
    /** Whether it may be begun; it is then counted. */
    begin(job: string, expires: number, now: number): boolean {
      for (const [name, each] of jobs) if (each.expires <= now) jobs.delete(name);
      const known = jobs.get(job) ?? { times: 0, expires };
      if (known.times >= mostBegun) return false;
      jobs.set(job, { times: known.times + 1, expires });
      return true;
    },
    said: (job: string) => void jobs.set(job, { times: Infinity, expires: jobs.get(job)?.expires ?? 0 }),
  };
}

/** What a worker's user has to be allowed, as an ACL writes it. Redis 6.2 has no right to read alone. */
function keysFor(queue: string, info: ReadonlyMap<string, string>): string {
  const reading = Number.parseInt(info.get("redis_version") ?? "", 10) >= 7 ? "%R~" : "~";
  return `~${prefix}:${queue}:* ~${talkOf("*")} ${reading}${wantedOf("*")}`;
}

/** @throws ExpectedError (exit code 2) for a text that is not a limit, such as `60/min` is. */
export function limitOf(text: string): NonNullable<WorkerOptions["limit"]> | null {
  if (text === "none") return null;
  const [, jobs, unit] = /^([1-9]\d{0,8})\/(s|sec|second|min|minute|h|hour|day)$/.exec(text) ?? [];
  const ms = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }[unit?.[0] ?? ""];
  if (jobs === undefined || ms === undefined)
    throw new ExpectedError(`--limit is '${text}'; write jobs in a time, such as 60/min or 500/h, or none.`, 2);
  return { jobs: Number(jobs), ms };
}
