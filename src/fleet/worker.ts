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
import { type AttemptEnd, runAttempt } from "./attempt.js";
import { connectToRedis, explainRefusal } from "./connect.js";
import { openQueue } from "./coordinator.js";
import type { FleetItem } from "../engine/generated/fleet-item.js";
import { readJob } from "./jobs/job.js";
import { jobVersion, limits, maxRestarts, prefix, queueName, entriesKey, times, wantedJobsKey } from "./keys.js";
import { removeDeadWorkers, openWorkerFolder } from "./leftovers.js";
import { startPublishing, maxKeys } from "./offers.js";
import { fieldsOf } from "./talk.js";

export interface WorkerOptions {
  readonly address: RedisAddress;
  /** The agent's name, which a run gives after `fleet:`. */
  readonly agent: string;
  /** Maximum number of agents at the same time. */
  readonly concurrency: number;
  /**
   * For all workers of the agent together: the number of jobs that may start in `ms` milliseconds; null removes an
   * earlier limit.
   */
  readonly limit?: { readonly jobs: number; readonly ms: number } | null;
  /**
   * For all workers of the agent together: the maximum number of agents at the same time; null removes an earlier
   * limit.
   */
  readonly maxAgents?: number | null;
  /** Public keys of coordinators. Only jobs that are signed with one of them are accepted. */
  readonly accepts: readonly string[];
  readonly settings: AgentSettings;
  readonly now: () => number;
  readonly tell: (event: WorkerEvent) => void;
}

/** An event that is shown to the user of a worker. */
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

type EndedEvent = Extract<WorkerEvent, { readonly type: "ended" }>;

/** A running worker. */
export interface FleetWorker {
  /** Accepts no more jobs, and waits for the running agents. Resolves when all their events are sent. */
  finish(): Promise<void>;
  /** Stops the running agents and the worker. Unfinished jobs go back to the queue. Resolves within five seconds. */
  end(): Promise<void>;
}

interface RunningAttempt {
  readonly run: string;
  readonly controller: AbortController;
}

/** The reason why an attempt is aborted. `lost`: its lock has expired. `ended`: the worker ends. */
type AbortReason = "not wanted" | "lost" | "ended";

/**
 * Opens a worker, which runs an agent for jobs from Redis. It needs no project, no repository, and no keys except the
 * agent's.
 * @throws ExpectedError for an unknown agent (exit code 2), and like `connectToRedis`.
 */
export async function openWorker(options: WorkerOptions): Promise<FleetWorker> {
  const { address, agent: agentName, concurrency, tell, now } = options;
  const id = `${hostname().slice(0, 60)}-${randomBytes(3).toString("hex")}`;
  const transcripts = new Map<number, string>();
  const { stateDir } = options.settings;
  const hasEndedAgents = await removeDeadWorkers(stateDir, now());
  const warn = (message: string): void => tell({ type: "notice", level: "warning", message });
  if (hasEndedAgents) warn("A worker was killed on this machine, but its agents were still running; they were ended.");
  const folder = await withExplainedErrors(workersFolder(stateDir), () => openWorkerFolder(stateDir, id));
  const settings: AgentSettings = { ...options.settings, transcript: (number) => transcripts.get(number) };
  const agent = createAgent(agentName, settings);
  const redact = redactFor(settings.env, ...settings.secrets);
  const name = queueName(agentName);
  const server = await connectToRedis(address).catch((error: unknown) => {
    folder.close();
    throw error;
  });
  const redis = server.open();
  const queue = openQueue(server, name, redis);
  const since = new Date(now()).toISOString();
  const runningAttempts = new Map<string, RunningAttempt>();
  const acceptedKeys = new Set(options.accepts);
  const unknownKeys = new Set<string>();
  const startedJobs = trackStartedJobs();
  let [attemptCount, isEnding, otherVersionCount, restsUntilMs] = [0, false, 0, 0];
  let checkTimer: NodeJS.Timeout | undefined;
  try {
    await checkRights();
    await setLimits();
  } catch (error) {
    await close();
    throw explainRefusal(error, { requester: `the queue ${name}`, keys: aclKeysFor(name, server.info) }, address);
  }

  const worker: Worker = new server.bullmq.Worker(name, (job: Job, token?: string) => work(job, token ?? ""), {
    connection: redis,
    prefix,
    concurrency,
    name: id,
    skipVersionCheck: true,
    lockDuration: times.lock,
    lockRenewTime: times.lock / 6,
    stalledInterval: times.stallCheckInterval,
    maxStalledCount: maxRestarts,
  });
  worker.on("error", warnOnce);
  worker.on("lockRenewalFailed", (jobs) => {
    for (const job of jobs) runningAttempts.get(job)?.controller.abort("lost" satisfies AbortReason);
  });
  checkTimer = setInterval(() => void abortUnwanted(), times.checkInterval);
  let isChecking = false;
  const announcement = startPublishing(redis, name, id, () => ({
    name: id,
    version: jobVersion,
    places: concurrency,
    busy: runningAttempts.size,
    confinement: settings.sandbox?.name ?? agent.confinement,
    since,
    accepts: options.accepts,
    ...(restsUntilMs > now() ? { rests_until: new Date(restsUntilMs).toISOString() } : {}),
  }));
  tell({
    type: "ready",
    worker: id,
    agent: agentName,
    places: concurrency,
    confinement: settings.sandbox?.name ?? agent.confinement,
    redis: address.publicText,
    accepts: options.accepts,
  });

  /** Tests the permissions that an attempt needs in addition to those for the queue. Changes nothing. */
  async function checkRights(): Promise<void> {
    const unknownRun = "0".repeat(16);
    await redis.sismember(wantedJobsKey(unknownRun), id);
    await redis.xlen(entriesKey(unknownRun));
    await redis.xadd(entriesKey(unknownRun), "NOMKSTREAM", "*", "j", id);
  }

  /** Stores the limits for all workers of the agent in Redis. */
  async function setLimits(): Promise<void> {
    const { limit, maxAgents } = options;
    if (maxAgents === null) await queue.removeGlobalConcurrency();
    else if (maxAgents !== undefined) await queue.setGlobalConcurrency(maxAgents);
    if (limit === null) await queue.removeGlobalRateLimit();
    else if (limit !== undefined) await queue.setGlobalRateLimit(limit.jobs, limit.ms);
  }

  /** Each connection reports an outage of Redis separately, so equal messages are reported once. */
  let lastError = "";
  function warnOnce(error: Error): void {
    const message = messageOf(error);
    if (message === lastError || /renew lock|Missing lock|Connection is closed/i.test(message)) return;
    lastError = message;
    warn(`Redis: ${message}`);
  }

  /** Aborts attempts of jobs that are no longer wanted. While Redis is not available, nothing is aborted. */
  async function abortUnwanted(): Promise<void> {
    if (isChecking || runningAttempts.size === 0) return;
    isChecking = true;
    try {
      const attempts = [...runningAttempts];
      const pipeline = redis.pipeline();
      for (const [job, { run }] of attempts) pipeline.sismember(wantedJobsKey(run), job);
      const answers = (await pipeline.exec()) ?? [];
      if (lastError !== "") tell({ type: "notice", level: "info", message: "Redis answers again." });
      lastError = "";
      for (const [index, [, { controller }]] of attempts.entries())
        if (answers[index]?.[0] === null && answers[index]?.[1] === 0)
          controller.abort("not wanted" satisfies AbortReason);
    } catch {
      // The next check asks again.
    } finally {
      isChecking = false;
    }
  }

  async function work(job: Job, token: string): Promise<void> {
    const { DelayedError, UnrecoverableError, WaitingError } = server.bullmq;
    const jobId = job.id ?? "";
    const readResult = readJob(job.data, { id: jobId, queue: name, accepts: acceptedKeys, now: now() });
    if ("version" in readResult || "unknownKey" in readResult) {
      if ("version" in readResult) warnOfVersion(jobId, readResult.version);
      else warnOfUnknownKey(jobId, readResult.unknownKey);
      await job.moveToDelayed(now() + times.announceInterval, token);
      throw new DelayedError();
    }
    const refuse = (reason: string): never => {
      warn(`The job ${jobId} was not taken: ${reason}.`);
      throw new UnrecoverableError(reason);
    };
    if ("reason" in readResult) return refuse(readResult.reason);
    const { run, expires } = readResult.job;
    if ((await redis.sismember(wantedJobsKey(run), jobId)) === 0) return;
    if (!startedJobs.begin(jobId, expires, now()))
      return refuse("this worker has done it before, and it is in the queue again");
    const attempt = job.attemptsStarted;
    const number = (attemptCount += 1);
    const controller = new AbortController();
    const startedAt = performance.now();
    const transcript = folder.transcript(`${run}-${number}-${id}`);
    transcripts.set(number, transcript);
    runningAttempts.set(jobId, { run, controller });
    tell({ type: "begun", job: jobId, attempt, transcript });
    let sequence = 0;
    const send = (items: readonly FleetItem[]) =>
      sendEntry({ job: jobId, attempt, sequence: sequence++, items }, run, controller.signal);
    let end: AttemptEnd;
    try {
      end = await runAttempt(readResult, {
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
      runningAttempts.delete(jobId);
      transcripts.delete(number);
    }
    const abortReason = controller.signal.reason as AbortReason | undefined;
    const reportEnd = (outcome: EndedEvent["outcome"], reason?: string): void => {
      const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
      tell({ type: "ended", job: jobId, seconds, outcome, ...withoutUndefined({ reason }) });
    };
    if (end === "full" || abortReason === "ended") {
      reportEnd("put back", end === "full" ? fullDiskText : undefined);
      if (end === "full") {
        warn(
          `${fullDiskText} This worker takes no work for ${times.fullDisk / 1000} seconds; free some space in ${stateDir}.`,
        );
        void restFor(times.fullDisk);
      }
      await job.moveToWait(token);
      throw new WaitingError();
    }
    if (abortReason !== undefined || end === "dropped")
      return reportEnd("not wanted", abortReason === "lost" ? "The lock was lost: another worker has it." : undefined);
    startedJobs.markReported(jobId);
    if (typeof end === "string") return reportEnd("said");
    reportEnd("failed", end.message);
    await restUntilReset(end);
  }

  /** Writes an entry to the stream of a run. Waits while the stream has too many unread entries. */
  async function sendEntry(entry: Parameters<typeof fieldsOf>[0], run: string, signal: AbortSignal): Promise<void> {
    const stream = entriesKey(run);
    while (!signal.aborted && (await redis.xlen(stream)) >= limits.maxUnreadEntries) await sleep(25);
    const fields = fieldsOf(entry);
    while (!signal.aborted) {
      try {
        // If nobody reads the stream, it expires.
        const replies = await redis
          .multi()
          .xadd(stream, "*", ...fields)
          .pexpire(stream, times.entryLifetime)
          .exec();
        const error = replies?.find(([error]) => error !== null)?.[0];
        if (error == null) return;
        warnOnce(error);
      } catch (error) {
        warnOnce(error as Error);
      }
      // For example, the memory of Redis is full. If the entry was written, the coordinator ignores the second copy.
      await sleep(times.checkInterval);
    }
  }

  /** Warns about a job of another version. Only the first of a hundred such jobs is reported. */
  function warnOfVersion(job: string, version: unknown): void {
    if (otherVersionCount++ % 100 !== 0) return;
    warn(
      `The job ${job} has version ${String(version).slice(0, 20)}, but this worker accepts only version ${jobVersion}; it stays in the queue for another worker. Install the same version of research-ralph on both sides.`,
    );
  }

  function warnOfUnknownKey(job: string, key: string): void {
    if (unknownKeys.has(key) || unknownKeys.size >= maxKeys) return;
    unknownKeys.add(key);
    warn(
      `The job ${job} is signed by ${key}, which this worker does not accept; it stays in the queue for another worker. If you know whose key it is, start this worker with --accept ${key}.`,
    );
  }

  /** Accepts no jobs for `ms` milliseconds. Running attempts continue. */
  async function restFor(ms: number): Promise<void> {
    restsUntilMs = Math.max(restsUntilMs, now() + ms);
    await worker.pause(true);
    void announcement.publish();
    setTimeout(() => {
      if (isEnding || restsUntilMs > now()) return;
      worker.resume();
      void announcement.publish();
    }, ms + 5).unref();
  }

  /** Rests until a limit of this worker's login or key ends. The time comes from an agent, so it has a maximum. */
  async function restUntilReset({ kind, reset_at }: Failure): Promise<void> {
    const ms = kind === "rate-limit" ? Date.parse(reset_at ?? "") - now() : Number.NaN;
    if (!(ms > 0)) return;
    await restFor(Math.min(ms, times.maxRest));
    warn(
      `${agentName} has reached a limit; this worker takes no work until ${new Date(restsUntilMs).toISOString()}. To try earlier, start the worker again.`,
    );
  }

  async function close(): Promise<void> {
    await queue.close().catch(() => undefined);
    disconnect();
  }

  function disconnect(): void {
    clearInterval(checkTimer);
    redis.disconnect();
    folder.close();
  }

  return {
    async finish() {
      await announcement.stop();
      await worker.close();
      if (!isEnding) await close();
    },
    async end() {
      isEnding = true;
      for (const { controller } of runningAttempts.values()) controller.abort("ended" satisfies AbortReason);
      const gracefulEnd = Promise.all([announcement.stop(), worker.close()]);
      // Redis may not be available. The locks of unfinished jobs expire by themselves.
      await Promise.race([gracefulEnd.catch(() => undefined), sleep(4_000)]);
      await Promise.race([worker.close(true).catch(() => undefined), sleep(500)]);
      disconnect();
    },
  };
}

const fullDiskText = "There is no space left on the disk.";

/**
 * Remembers the jobs that this worker has started, until they expire. A job may come again if its worker died or lost
 * it. After its end was reported, it must not come again: then somebody has copied it into the queue.
 */
function trackStartedJobs() {
  // If the network is unstable, a job may come many times.
  const maxStarts = 20;
  const jobs = new Map<string, { times: number; readonly expires: number }>();
  return {
    /** Whether the job may start. If it may, the start is counted. */
    begin(job: string, expires: number, now: number): boolean {
      for (const [name, entry] of jobs) if (entry.expires <= now) jobs.delete(name);
      const startedJob = jobs.get(job) ?? { times: 0, expires };
      if (startedJob.times >= maxStarts) return false;
      jobs.set(job, { times: startedJob.times + 1, expires });
      return true;
    },
    markReported: (job: string) => void jobs.set(job, { times: Infinity, expires: jobs.get(job)?.expires ?? 0 }),
  };
}

/** The permissions of a worker's user, in the syntax of an ACL. Redis 6.2 has no permission for reading alone. */
function aclKeysFor(queue: string, info: ReadonlyMap<string, string>): string {
  const readPermission = Number.parseInt(info.get("redis_version") ?? "", 10) >= 7 ? "%R~" : "~";
  return `~${prefix}:${queue}:* ~${entriesKey("*")} ${readPermission}${wantedJobsKey("*")}`;
}

/** @throws ExpectedError (exit code 2) if the text is not a limit such as `60/min`. */
export function readLimit(text: string): NonNullable<WorkerOptions["limit"]> | null {
  if (text === "none") return null;
  const [, jobs, unit] = /^([1-9]\d{0,8})\/(s|sec|second|min|minute|h|hour|day)$/.exec(text) ?? [];
  const ms = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }[unit?.[0] ?? ""];
  if (jobs === undefined || ms === undefined)
    throw new ExpectedError(`--limit is '${text}'; write jobs in a time, such as 60/min or 500/h, or none.`, 2);
  return { jobs: Number(jobs), ms };
}
